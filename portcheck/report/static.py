"""What was predicted before anything was compiled, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator

from portcheck.report.model import PREDICTED, Report
from portcheck.report.passed import at_most


def static_lines(report: Report) -> Iterator[str]:
    """The line about predictions, if there are any or nothing else was done; and predictions that were wrong."""
    predicted = len(report.predicted)
    tried = [reported for reported in report.predicted if reported.status and reported.result.origin != PREDICTED]
    if report.untold:
        without = f"{len(report.untold)} cells have" if len(report.untold) > 1 else "1 cell has"
        rest = f"nothing was compiled, so {without} no verdict and may fail all the same"
        yield f"static: predicted {_failing(predicted)}; {rest}"
    elif predicted and not tried:
        yield f"static: predicted {_failing(predicted)}, which {'was' if predicted == 1 else 'were'} not compiled"
    elif predicted:
        untried = predicted - len(tried)
        rest = f"; {untried} not compiled" if untried else ""
        yield (
            f"static: predicted {_failing(predicted)} before compiling; {len(report.came_true)} of them did fail{rest}"
        )
    if wrong := [reported.cell.name for reported in tried if reported.failure is None]:
        title = "Predicted to fail, but compiled: a mistake of portcheck, please report it"
        yield "\n".join([title, *(f"   {name}" for name in at_most(wrong))])


def _failing(number: int) -> str:
    return f"{number} failing cell{'' if number == 1 else 's'}"
