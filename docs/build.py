"""Write what docs/ says by machine, and find what it says wrongly: `python docs/build.py`, or `doit docs`."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

from portcheck.cli.main import COMMANDS
from portcheck.diagnose.signatures import PLACEHOLDER, RECORDED, Signature, signatures
from portcheck.manifest.parts import _shared_schema
from portcheck.manifest.settings import CACHE, SETTINGS
from portcheck.verdicts import SHORT

ROOT = Path(__file__).resolve().parent.parent
COMMANDS_PAGE = ROOT / "docs/commands.md"
SIGNATURES_PAGE = ROOT / "docs/signatures.md"
BEGIN, END = "<!-- written by docs/build.py -->\n", "<!-- up to here -->\n"

_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)


def main() -> int:
    """Write what is generated, print every problem; returns the exit status."""
    for page, written in ((COMMANDS_PAGE, command_reference), (SIGNATURES_PAGE, signature_reference)):
        page.write_text(with_part(page.read_text(encoding="utf-8"), written()), encoding="utf-8")
    found = problems()
    for problem in found:
        print(problem, file=sys.stderr)
    print(f"{len(pages())} pages, {len(found)} problems")
    return 1 if found else 0


def pages() -> list[Path]:
    """Every page that people read."""
    return [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


def problems() -> list[str]:
    """One line for every broken link, page that nothing leads to, and word of the interface that no page explains."""
    return [*broken_links(pages()), *unreached(pages()), *_unexplained()]


def with_commands(page: str) -> str:
    """`page` with the reference between its two marks written anew from the parsers behind `--help`."""
    return with_part(page, command_reference())


def with_part(page: str, written: str) -> str:
    """`page` with `written` between its two marks."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{written}\n{END}{after}"


def signature_reference() -> str:
    """Every known failure, in the order in which they are looked up."""
    return "\n".join(map(_signature, signatures()))


def _signature(entry: Signature) -> str:
    title, why, do = (
        PLACEHOLDER.sub(lambda name: name[1].upper(), text) for text in (entry.title, entry.why, entry.do)
    )
    kinds = ", ".join(f"`{verdict}`" for verdict in sorted(entry.verdicts))
    seen = entry.first if entry.first == entry.last else f"{entry.first} to {entry.last}"
    case = RECORDED if entry.case == RECORDED else f"`{entry.case}`"
    lines = [
        f"### {entry.id}",
        f"**{title}** ({kinds}; seen with {seen}; case: {case})",
        f"*Why.* {why}",
        f"*Do.* {do}",
    ]
    return "\n\n".join([*lines, *([f"*See* <{entry.see}>."] if entry.see else [])]) + "\n"


def command_reference() -> str:
    """What `--help` says of every command. Not its text: argparse lays that out differently in every Python."""
    commands = argparse.ArgumentParser().add_subparsers()
    for name in COMMANDS:
        import_module(f"portcheck.cli.{name}").add_parser(commands)
    return "\n\n".join(_sections("portcheck", commands))


def _sections(prefix: str, commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> Iterator[str]:
    for name, parser in commands.choices.items():
        described = f"## {prefix} {name}\n\n{parser.description}"
        verbs = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
        options = [action for action in parser._actions if action.dest not in ("help", "verb")]
        if options:
            rows = [f"| `{_written(action)}` | {_explained(action)} |" for action in options]
            described += "\n\n" + "\n".join(["| argument | meaning |", "|---|---|", *rows])
        if parser.epilog:
            heading, _, examples = parser.epilog.strip().partition("\n")
            lines = "\n".join(line.removeprefix("  ") for line in examples.splitlines())
            described += f"\n\n{heading.capitalize()}\n\n```text\n{lines}\n```"
        yield described
        for action in verbs:
            yield from _sections(f"{prefix} {name}", action)


def _written(action: argparse.Action) -> str:
    value = action.metavar or ("|".join(action.choices) if action.choices else "")
    value = " ".join(value) if isinstance(value, tuple) else value
    # In a table a bar ends the cell, even between backticks.
    return " ".join(filter(None, [", ".join(action.option_strings), str(value).replace("|", r"\|")]))


def _explained(action: argparse.Action) -> str:
    if action.default == (os.cpu_count() or 1) and action.dest == "jobs":
        return str(action.help).replace("%(default)s", "one a core")  # not this machine's number
    return str(action.help) % {"default": action.default}


def broken_links(files: Iterable[Path]) -> list[str]:
    """Links between pages, and to files of the project, that lead nowhere."""
    found = []
    for page in files:
        for target in _links(page):
            path, _, anchor = target.partition("#")
            place = (page.parent / path).resolve() if path else page
            if not place.exists():
                found.append(f"{_name(page)}: link to {target}: there is no such file")
            elif anchor and anchor not in _anchors(place):
                found.append(f"{_name(page)}: link to {target}: there is no such heading")
    return found


def unreached(files: Iterable[Path]) -> list[str]:
    """Pages that neither the README nor another page leads to."""
    reached = {(page.parent / target.partition("#")[0]).resolve() for page in files for target in _links(page)}
    return [f"{_name(page)}: no page links to it" for page in files if page.name != "README.md" and page not in reached]


def _unexplained() -> Iterator[str]:
    """Keys of the manifest and kinds of verdict that their page has no row for."""
    kernel = {"name", "target", "variant", *_shared_schema(ROOT)} - set(SETTINGS)
    words = {
        ("manifest.md", "[defaults]"): SETTINGS,
        ("manifest.md", "[cache]"): CACHE,
        ("manifest.md", "[[kernel]]"): kernel,
        ("verdicts.md", "What the words mean"): SHORT,
    }
    for (page, heading), wanted in words.items():
        section = _section((ROOT / "docs" / page).read_text(encoding="utf-8"), heading)
        for word in sorted(wanted):
            if f"| `{word}`" not in section:
                yield f"docs/{page}: {heading}: no row for `{word}`"


def _section(text: str, heading: str) -> str:
    _, _, rest = text.partition(f"\n## {heading}\n")
    return rest.partition("\n## ")[0]


def _links(page: Path) -> list[str]:
    text = _FENCED.sub("", page.read_text(encoding="utf-8"))
    return [target for target in _LINK.findall(text) if "://" not in target]


def _anchors(page: Path) -> set[str]:
    """The names that GitHub gives to a page's headings."""
    headings = _HEADING.findall(_FENCED.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT)) if page.is_relative_to(ROOT) else page.name


if __name__ == "__main__":
    sys.exit(main())
