"""`--dry-run`: which cells would be compiled, why, and about how long that takes."""

from __future__ import annotations

from portcheck.rules.request import ONLY
from portcheck.rules.run import Run


def dry_run(run: Run) -> str:
    """The text that `portcheck check --dry-run` prints. Nothing is imported or compiled.

    Raises:
        UsageError: a row does not fit its kernel.
        EnvironmentProblem: Triton is not there.
    """
    run.prepare()
    expected, lines, total, unknown = run.expected_seconds, [], 0.0, 0
    todo = {cell.name: cell for cell in run.settle() if not run.is_spared(cell)}
    for name, cell in todo.items():
        cost = run.workshop.judge(cell).cost(cell)
        seconds = cost.seconds if cost else expected.get(name)
        total += seconds or 0.0
        unknown += seconds is None
        about = f"about {seconds:.1f} s" if seconds is not None else "not timed yet"
        configurations = f"; {cost.unknown} of {cost.total} configurations" if cost else ""
        lines.append(f"{name}: {run.why(cell)}{configurations}; {about}")
    if run.request.static == ONLY:
        return "--static only: nothing would be compiled"
    if run.request.force:
        lines.insert(0, "--force: every cell is compiled")
    estimate = f"about {total:.1f} s of compiling" + (f", and {unknown} cells never timed" if unknown else "")
    lines.append(f"{len(todo)} of {len(run.cells)} cells would be compiled: {estimate}")
    return "\n".join(lines)
