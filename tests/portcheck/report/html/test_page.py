"""The page as a file: one, with nothing from elsewhere, and nothing of the data that is markup."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest

from portcheck.report.html import data, page
from portcheck.report.model import Report

NASTY = "</script><script>alert(1)</script> <!-- <![CDATA[ &lt; \u2028\u2029 \x1b[31m \udcff 😀 \"'`${x}"


class Parsed(HTMLParser):
    """The elements of a page, and the text inside those that hold no markup."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.raw: list[tuple[str, str]] = []  # style or script, and its text
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag in ("script", "style"):
            self.raw.append((tag, ""))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem:
            tag, text = self.raw[-1]
            self.raw[-1] = (tag, text + data)


def written(report: Report) -> str:
    return "".join(page.lines(report))


def test_the_policy_names_this_script_and_this_style_and_nothing_else(mixed: Report) -> None:
    text = written(mixed)
    style, _, script = (text for _, text in Parsed(text).raw)
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)

    def digest(part: str) -> str:
        return f"'sha256-{b64encode(sha256(part.encode()).digest()).decode()}'"

    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src {digest(style)}",
        f"script-src {digest(script)}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    assert text.index("Content-Security-Policy") < text.index("<style>")


def test_nothing_is_loaded_from_anywhere(mixed: Report) -> None:
    parsed = Parsed(written(mixed))

    loaded = [value for _, name, value in parsed.attributes if name in ("src", "href", "srcset", "action", "data")]
    assert loaded == ["data:,", "#matrix"]
    assert not {"iframe", "object", "embed", "base", "img"} & set(parsed.tags)
    assert not [name for _, name, _ in parsed.attributes if name.startswith("on") or name == "style"]


@pytest.mark.parametrize("name", ["mixed", "hostile", "empty"])
def test_the_data_are_read_back_as_they_were(name: str, request: pytest.FixtureRequest) -> None:
    report = request.getfixturevalue(name)
    found = Parsed(written(report)).raw

    assert [tag for tag, _ in found] == ["style", "script", "script"]
    assert json.loads(found[1][1]) == json.loads(json.dumps(data.as_dict(report)))


def test_data_hold_no_markup_whatever_is_in_them() -> None:
    embedded = page.embedded({NASTY: NASTY})

    assert not set("<>&\u2028\u2029") & set(embedded)
    assert embedded.isascii()
    assert json.loads(embedded) == {NASTY: NASTY}


def test_a_headline_is_text(mixed: Report) -> None:
    text = page.written({**data.as_dict(mixed), "headline": f"${{script}} {NASTY}"})

    assert Parsed(text).tags == Parsed(written(mixed)).tags
    assert "<title>portcheck: ${script} &lt;/script&gt;&lt;script&gt;alert(1)" in text


def test_every_asset_is_in_the_page() -> None:
    there = {path.name for path in page._ASSETS.iterdir()}

    styles, scripts = {f"{name}.css" for name in page.STYLES}, {f"{name}.js" for name in page.SCRIPTS}
    assert there == {"page.html", *styles, *scripts}


def test_the_script_never_has_texts_parsed() -> None:
    script = page._script()

    assert not re.findall(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|DOMParser", script
    )
    assert "</script" not in script.lower() and "<!--" not in script
