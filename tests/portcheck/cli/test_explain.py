"""What `portcheck explain` says of a cell."""

from __future__ import annotations

from typing import Any

import pytest

from portcheck.cli.explain import _lines
from portcheck.judge import Standing
from portcheck.verdicts import Failure, Outcome, Result


class Named:
    """As much of a cell as is told."""

    name = "copy@cuda:90@3.9.0"


CELL: Any = Named()
OK = Result(Outcome(), "cached")


@pytest.mark.parametrize(
    ("standing", "said"),
    [
        (Standing(None, (), ()), ["recorded: nothing; it would be compiled", "it was never compiled here"]),
        (Standing(OK, (), ()), ["recorded: ok (cached)", "it was never compiled here"]),
        (Standing(OK, (), (), compiled_here=True), ["nothing changed since it was last compiled here"]),
        (
            Standing(None, (), ("constant N changed",), compiled_here=True),
            ["since it was last compiled here", "constant N changed"],
        ),
        (Standing(None, ("reads a file",), (), compiled_here=True), ["the kernel is open", "reads a file"]),
    ],
)
def test_where_a_verdict_stands(standing: Standing, said: list[str]) -> None:
    text = "\n".join(_lines(CELL, standing))

    assert all(part in text for part in said)
    assert ("never" in text) == (not standing.compiled_here)


def test_a_failed_import_is_not_kept_and_says_nothing_of_the_kernel() -> None:
    failure = Failure("import-error", "import", "ImportError: no", detail="Traceback")

    lines = list(_lines(CELL, Standing(Result(Outcome(failure), "compiled"), (), ())))

    assert lines[:4] == [
        "copy@cuda:90@3.9.0",
        "  recorded: nothing; its module cannot be imported, and such failures are not kept",
        "  import-error in import: ImportError: no",
        "    Traceback",
    ]
    assert lines[4] == "  what: the kernel's module cannot be imported"
