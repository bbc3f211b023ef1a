"""Making a reproducer: the best way that fails alone as recorded, written to a folder."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from portcheck.errors import UsageError
from portcheck.reproducer.alone import run_alone
from portcheck.reproducer.kernelfile import SOURCE
from portcheck.reproducer.plans import Plan, plans
from portcheck.reproducer.readme import readme
from portcheck.reproducer.recorded import Recorded
from portcheck.reproducer.script import MARK, NAME, script

_OURS = re.compile(r"reproduce\.py|kernel\.py|README\.md|input\.\w+|source|__pycache__")  # that may be replaced
_LIMITS = frozenset({"timeout", "memory-limit"})  # to see these again takes as long as it took


@dataclass(frozen=True, slots=True)
class Reproducer:
    """What was made: its files, whether it fails alone as recorded (None: it was not tried), and a word on that."""

    files: Mapping[str, bytes]
    reproduced: bool | None
    told: str


def check_folder(folder: Path) -> None:
    """See that a reproducer can be written there.

    Raises:
        UsageError: there is something else.
    """
    try:
        if not folder.exists() or not any(folder.iterdir()) or _is_ours(folder):
            return
    except OSError as error:
        raise UsageError(f"--reproducer: {folder}: {error.strerror}") from None
    raise UsageError(f"--reproducer: {folder} is not empty: name a folder that is new, empty, or an older reproducer")


def make(recorded: Recorded, manifest_folder: Path, say: Callable[[str], None]) -> Reproducer:
    """Try one way after the other, until one fails alone as recorded; the first if none does.

    Args:
        recorded: the failed compile.
        manifest_folder: a path of this machine, which the files must not mention.
        say: gets a line on what takes time.

    Raises:
        UsageError: nothing can be made of this failure.
    """
    portable = _Portable(recorded, manifest_folder)
    tried: list[Reproducer] = []
    for plan in plans(recorded):
        made = _try(recorded, plan, portable, say)
        if made.reproduced is not False:
            return made
        tried.append(made)
    if not tried:
        at = f"{recorded.cell.name}: stage {recorded.failure.stage}"
        raise UsageError(f"--reproducer: {at} was given nothing that can be written down")
    return tried[0]


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write a reproducer in the place of an older one.

    Raises:
        UsageError: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.iterdir():
            if _OURS.fullmatch(old.name):
                shutil.rmtree(old) if old.is_dir() and not old.is_symlink() else old.unlink()
        for name, data in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    except OSError as error:
        raise UsageError(f"--reproducer: cannot write {folder}: {error.strerror}") from None


def _try(recorded: Recorded, plan: Plan, portable: _Portable, say: Callable[[str], None]) -> Reproducer:
    variables, remarks = portable.variables()
    files = {
        **{one.path: one.data for one in plan.beside},
        NAME: portable.text(script(recorded, plan, variables)).encode(),
    }
    reproduced, told = _told(recorded, plan, files, say)
    remarks = [*remarks, *_remarks(recorded, plan), told]
    files["README.md"] = portable.text(readme(recorded, plan, remarks)).encode()
    return Reproducer(files, reproduced, told)


def _told(
    recorded: Recorded, plan: Plan, files: Mapping[str, bytes], say: Callable[[str], None]
) -> tuple[bool | None, str]:
    """Run it alone where that makes sense; whether it failed as recorded, and a sentence on that."""
    if plan.needs:
        return None, f"Not run alone: it needs {', '.join(plan.needs)} besides Triton."
    if recorded.failure.verdict in _LIMITS:
        return None, f"Not run alone, since that takes as long as it took: {recorded.ends}."
    say(f"running the reproducer that {plan.what.replace('`', '')}, with nothing but Triton …")
    with tempfile.TemporaryDirectory(prefix="portcheck-reproducer-") as scratch:
        write(Path(scratch), files)
        try:
            status, said = run_alone(Path(scratch), recorded.toolchain)
        except OSError as error:
            return None, f"Not run alone: {error}."
    if status == 0:
        return True, f"Run alone with Triton {recorded.toolchain.release}, it failed as recorded."
    last = next((line for line in reversed(said.splitlines()) if line.strip()), f"status {status}")
    return False, f"Run alone with Triton {recorded.toolchain.release}, it did NOT fail as recorded: {last}"


def _remarks(recorded: Recorded, plan: Plan) -> list[str]:
    """What the way that was taken leaves out."""
    source = recorded.fact("source") or {}
    found = []
    if any(one.path.startswith(f"{SOURCE}/") for one in plan.beside) and source.get("incomplete"):
        found.append(f"The kernel could not be taken out of its module: {source['incomplete']}.")
    if plan.needs:
        found.append("Its modules import packages that were not copied, and files that they read are not here.")
    if recorded.cell.target.backend == "hip" and recorded.failure.stage in ("hsaco", "launch"):
        found.append("Triton up to 3.4 needs an `ld.lld` for this: on PATH, or named by TRITON_HIP_LLD_PATH.")
    return found


class _Portable:
    """Takes paths of this machine out of texts."""

    def __init__(self, recorded: Recorded, manifest_folder: Path) -> None:
        self._set = dict(recorded.fact("variables", {}))
        package = recorded.toolchain.package
        places = {
            **({str(package): "$TRITON"} if package else {}),
            str(manifest_folder): "$PROJECT",
            str(Path(recorded.toolchain.executable).parent): "$BIN",
            sys.prefix: "$PREFIX",
            tempfile.gettempdir(): "$TMP",
            str(Path.home()): "~",
        }
        self._places = sorted(places.items(), key=lambda place: -len(place[0]))

    def text(self, text: str) -> str:
        """`text` with words for the places that it mentions."""
        for place, word in self._places:
            if len(place) > 1:
                text = re.sub(re.escape(place) + r"(?=[/\s'\":,;)\]]|$)", word, text)
        return text

    def variables(self) -> tuple[dict[str, str], list[str]]:
        """Those that name nothing of this machine, and a remark on each other one."""
        bound = sorted(name for name, value in self._set.items() if "/" in value and self._names_place(value))
        remarks = [
            f"{name} was set to something on the machine where this was made, and is not set here." for name in bound
        ]
        return {name: value for name, value in self._set.items() if name not in bound}, remarks

    @staticmethod
    def _names_place(value: str) -> bool:
        return any(part.startswith(("/", "~")) for part in value.split(":"))


def _is_ours(folder: Path) -> bool:
    try:
        return MARK in (folder / NAME).read_text(encoding="utf-8", errors="replace")[:4000]
    except OSError:
        return False
