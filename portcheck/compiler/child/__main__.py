"""Entry point: `python child SOCKET_FD SITE…` becomes the package `portcheck_child` and serves as a root process.

`python child tables REQUEST ANSWER` says in the file ANSWER what this Triton supports.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys

NAME = "portcheck_child"


def _become_package() -> None:
    """Import this folder under a private name, and take it off sys.path, so that no user module is shadowed."""
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [p for p in sys.path if os.path.abspath(p or os.curdir) != folder]
    spec = importlib.util.spec_from_file_location(
        NAME, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None and spec.loader is not None  # a .py file always has a loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = module
    spec.loader.exec_module(module)


if __name__ == "__main__":
    _become_package()
    if sys.argv[1] == "tables":
        importlib.import_module(NAME + ".tables").main(*sys.argv[2:])
    else:
        importlib.import_module(NAME + ".root").main(int(sys.argv[1]), sys.argv[2:])
