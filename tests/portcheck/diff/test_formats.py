"""A diff as JSON and as Markdown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from portcheck.diff import data, markdown
from portcheck.diff.model import compare
from portcheck.diff.snapshot import Seen, Snapshot
from portcheck.errors import UsageError
from tests.schemas import conforms

MakeSeen = Callable[..., Seen]


def test_the_json_says_all_of_every_pair(recorded: tuple[Snapshot, Snapshot], tmp_path: Path) -> None:
    path = tmp_path / "diff.json"
    data.write(compare(*recorded), path)
    written = json.loads(path.read_text())

    conforms(written, "portcheck-diff-1")
    assert written["schema"] == "portcheck-diff/1"
    assert written["summary"]["regressed"] == 3
    assert len(written["cells"]) == 27
    gamma = next(c for c in written["cells"] if (c["kernel"], c["target"]) == ("gamma_ratio", "cuda:80"))
    assert (gamma["variant"], gamma["triton"], gamma["change"]) == (None, None, "unchanged")
    assert gamma["old"]["verdict"] == gamma["new"]["verdict"] == "ok"
    assert gamma["artifacts"]["cubin"] == [32368, 47352]
    assert gamma["resources"]["registers"] == [21, 22]
    assert all(seconds > 0 for seconds in gamma["seconds"])
    regressed = next(c for c in written["cells"] if c["change"] == "regressed")
    assert regressed["new"]["message"].startswith("Block pointers")
    assert regressed["artifacts"]["cubin"][1] is None


def test_the_side_that_is_not_there_is_null(seen: MakeSeen) -> None:
    new = seen("k@cuda:90@3.9.0", sizes={"ptx": 7})

    told = data.as_dict(compare(Snapshot("a", ()), Snapshot("b", (new,))))
    (cell,) = told["cells"]
    conforms(told, "portcheck-diff-1")

    assert (cell["change"], cell["old"], cell["seconds"]) == ("added", None, [None, 1.0])
    assert cell["artifacts"] == {"ptx": [None, 7]}


def test_the_markdown_has_the_sections_and_a_table(recorded: tuple[Snapshot, Snapshot], tmp_path: Path) -> None:
    path = tmp_path / "diff.md"
    markdown.write(compare(*recorded), path)
    text = path.read_text()

    assert "### Regressed (3)\n\n- **rowsum\\_blockptr on cuda:80, cuda:90, hip:gfx942**\n" in text
    assert "### Fixed (3)" in text
    assert "### Fail differently" not in text
    assert "| gamma\\_ratio on cuda:80 | registers 21 -\\> 22 (+5 %) · " in text


def test_what_a_compiler_says_cannot_write_markdown(seen: MakeSeen) -> None:
    old = seen("k@cuda:90@3.9.0")
    new = seen("k@cuda:90@3.9.0", "crash", message="<img src=x> @everyone | [a](b) `c`\n# head")

    text = markdown.render(compare(Snapshot("a", (old,)), Snapshot("b", (new,))))

    assert r"\<img src=x\> \@everyone \| \[a\](b) \`c\` \# head" in text


def test_a_file_that_cannot_be_written_is_an_error(recorded: tuple[Snapshot, Snapshot], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for write in (data.write, markdown.write):
        with pytest.raises(UsageError, match="cannot write"):
            write(compare(*recorded), tmp_path / "file" / "diff")
