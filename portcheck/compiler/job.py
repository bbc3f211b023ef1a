"""What the compile service is asked for: units of user code to import, and jobs to compile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from portcheck.target import Target


@dataclass(frozen=True, slots=True)
class Unit:
    """User code that is imported together: the module or file that holds kernels, and how."""

    name: str  # a module, or a file relative to the manifest's folder
    is_file: bool
    functions: tuple[str, ...]  # the kernels wanted from it
    references: tuple[str, ...] = ()  # module:function or file:function, named by `jit` constants
    env: tuple[tuple[str, str], ...] = ()  # set before anything is imported
    setup: str | None = None  # module:function, called before the import
    timeout: float = 300.0  # seconds that importing may take

    @property
    def parent(self) -> Unit | None:
        """The package above a module, imported in a process that its modules' processes are forked from."""
        above = "" if self.is_file else self.name.rpartition(".")[0]
        return replace(self, name=above, functions=(), references=()) if above else None

    def request(self) -> dict[str, Any]:
        """The import request for the child."""
        return {
            "units": [{"file" if self.is_file else "module": self.name}],
            "functions": list(self.functions),
            "references": list(self.references),
            "setup": self.setup,
        }


@dataclass(frozen=True, slots=True)
class Job:
    """One cell to compile, or one row whose configurations are asked for."""

    unit: Unit
    function: str
    spec: Mapping[str, Any]  # canonical signature, constants and options for this backend
    target: Target
    timeout: float  # seconds
    max_rss: int  # bytes, above what the process is born with
    kind: str = "cell"  # or configurations
    keep: bool = False  # write down what every step is given, for a reproducer
