"""The HTML report: a page, its style, its script and its data in one file, which asks for nothing from anywhere.

The data lie in the page as JSON that can contain no markup, and the script makes text nodes of them. The policy in the
page's head lets this script and this style run, by their digests, and forbids every request.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from portcheck.report.html import data
from portcheck.report.model import Report
from portcheck.report.note import NOTE
from portcheck.report.text import one_line

# The parts of the style, what overrides last; and of the script, what runs last.
STYLES = ("theme", "base", "matrix", "panel", "views", "viewer", "media")
SCRIPTS = (
    *("dom", "model", "measures", "state", "matrix", "grid", "plots", "outputs"),
    *("parts", "failure", "figures", "releases", "artifacts", "panel"),
    *("failures", "changes", "trends", "bar", "main"),
)

_ASSETS = Path(__file__).with_name("assets")
_MARKUP = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def lines(report: Report) -> Iterator[str]:
    """The pieces of the file."""
    yield written(data.as_dict(report))


def written(shown: dict[str, Any]) -> str:
    """The page that shows these data."""
    style, script = _style(), _script()
    return Template(_asset("page.html")).substitute(
        policy=_policy(style, script),
        headline=escape(one_line(shown["headline"])),
        note=escape(NOTE),
        style=style,
        data=embedded(shown),
        script=script,
    )


def embedded(value: Any) -> str:
    """`value` as JSON that no HTML parser sees anything in: only ASCII, and no `<`, `>` or `&`."""
    return json.dumps(value, separators=(",", ":")).translate(_MARKUP)


def _style() -> str:
    return "\n".join(_asset(f"{name}.css") for name in STYLES)


def _script() -> str:
    parts = "\n".join(_asset(f"{name}.js") for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def _policy(style: str, script: str) -> str:
    """What the page may do: show itself. `data:` is for an icon, which browsers would ask a server for otherwise."""
    allowed = {
        "default-src": "'none'",
        "style-src": _digest(style),
        "script-src": _digest(script),
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{what} {source}" for what, source in allowed.items())


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")
