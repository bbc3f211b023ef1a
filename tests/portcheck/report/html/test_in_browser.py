"""The page in a real browser: what it shows, how it is used, and what it asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from portcheck.diagnose.signatures import Advice
from portcheck.report.html import data
from portcheck.report.model import Report, build
from portcheck.report.text import visible
from portcheck.toolchain.model import Toolchain
from portcheck.verdicts import Failure
from tests.browser import Browser
from tests.portcheck.report.conftest import HOSTILE
from tests.portcheck.report.html.conftest import TTGIR, Show

CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")
VIEWS = ("matrix", "failures", "changes", "trends")
PANEL = "#cell=axpy%40hip%3Agfx942%403.9.0"
COMPILED = "#cell=axpy%40cuda%3A90%403.9.0"
NASTY = [
    "</script><script>window.pwned = 1</script>",
    "<!-- <script>",
    '<img src=x onerror="window.pwned = 1">',
    "\"' onfocus='window.pwned = 1' autofocus x='",
    "a\u2028b\u2029c",
    "\x1b[31mred\x1b[0m",
    "{{constructor}} ${x} &lt;b&gt; &amp; %3Cb%3E",
    "😀 \u202egnp.exe",
    "__proto__",
    "#view=failures&words=x",
]

Make = Callable[..., Report]


def cells(browser: Browser) -> list[str]:
    """What is written in the cells that are shown and not pale."""
    return browser.texts("td[data-cell]:not(.pale)")


def focused(browser: Browser) -> str:
    return str(
        browser.run("const a = document.activeElement; return a.id || a.getAttribute('aria-label') || a.textContent")
    )


@pytest.fixture
def large(judge: Any, toolchain: Callable[[str], Toolchain], tgamma: Failure) -> Report:
    """5,000 cells: 250 rows on ten targets with two releases; a tenth of them fails."""
    targets = [
        "cuda:75",
        "cuda:80",
        "cuda:86",
        "cuda:89",
        "cuda:90",
        "cuda:100",
        "cuda:120",
        "hip:gfx942",
        "hip:gfx950",
        "hip:gfx1100",
    ]
    judged = [
        judge(f"kernel_{row:03}@{target}@{release}", tgamma if (row + at) % 10 == 0 else None)
        for row in range(250)
        for at, target in enumerate(targets)
        for release in ("3.8.0", "3.9.0")
    ]
    return build(judged, [toolchain("3.8.0"), toolchain("3.9.0")], 9.0, lambda cell: None)


def test_the_matrix_says_what_the_terminal_says(show: Show, mixed: Report) -> None:
    browser = show(mixed)

    assert browser.texts("thead th") == ["Triton 3.9.0", "cuda:90", "hip:gfx942"]
    assert browser.texts("tbody tr:first-child *") == ["gamma", "ok", "front:A"]
    assert sorted(set(browser.texts("td"))) == ["-", "asm:B", "front:A", "missing", "ok", "xfail", "xpass"]
    assert browser.text("#headline").startswith("10 cells: 2 ok, 6 failed (4 new, 1 known, 1 expected)")
    assert browser.text("#note").startswith("Compile-only check:")
    assert browser.text("#count") == "10 of 10 cells"


def test_nothing_is_asked_for_and_the_policy_forbids_it(show: Show, releases: Report) -> None:
    show(releases).requests()  # a new window asks for pages of its own
    browser = show(releases, COMPILED)
    for view in VIEWS:
        browser.click(f"#tab-{view}")
    browser.click("[aria-label='Show ttgir']")
    asked = browser.requests()

    assert [address.partition("#")[0].rpartition("/")[2] for address in asked if not address.startswith("data:")] == [
        "report.html"
    ]
    assert browser.complaints() == []

    tried = """
        const image = new Image(); image.src = "http://127.0.0.1:9/image";
        document.body.insertAdjacentHTML("beforeend", '<img src="x" onerror="window.pwned = 1">');
        document.body.insertAdjacentHTML("beforeend", '<iframe src="http://127.0.0.1:9/frame"></iframe>');
        const script = document.createElement("script");
        script.textContent = "window.pwned = 1";
        document.body.append(script);
        return fetch("http://127.0.0.1:9/fetched").then(() => "answered", () => "refused");
    """
    assert browser.run(tried) == "refused"
    assert browser.run("return window.pwned ?? null") is None
    assert len([line for line in browser.complaints() if "Content Security Policy" in line]) >= 4
    assert not [address for address in browser.requests() if address.startswith("http")]


def test_whatever_a_name_holds_it_shows_as_text(show: Show, judge: Any, toolchain: Any) -> None:
    judged = [
        judge("x@cuda:90@3.9.0", Failure("mlir-error", "ttgir", f"{name} {n}", detail=name))
        for n, name in enumerate(NASTY)
    ]
    judged = [
        (replace(cell, row=replace(cell.row, kernel=name)), result)
        for (cell, result), name in zip(judged, NASTY, strict=True)
    ]
    report = build(judged, [toolchain("3.9.0")], 1.0, lambda cell: None)
    browser = show(report)

    heads = browser.run("return [...document.querySelectorAll('tbody th')].map(head => head.textContent)")
    assert heads == [visible(name) for name in NASTY]
    for number, name in enumerate(NASTY):
        browser.run("document.querySelectorAll('td[data-cell]')[arguments[0]].click()", number)
        assert browser.text("#panel-title") == visible(name)
        assert browser.text("#panel pre.message") == visible(f"{name} {number}")
        fragment = browser.run("return location.hash")
        assert show(report, fragment).text("#panel-title") == visible(name)
    assert browser.run("return window.pwned ?? null") is None
    assert browser.run("return document.querySelectorAll('script, img, iframe, object').length") == 2
    assert browser.complaints() == []


@pytest.mark.parametrize("view", ["matrix", "failures"])
def test_hostile_texts_are_texts_everywhere(show: Show, hostile: Report, view: str) -> None:
    browser = show(hostile, f"#view={view}")

    assert (
        browser.run("return document.querySelectorAll('#page script, img, a[href^=javascript], i, u, s').length") == 0
    )
    assert browser.complaints() == []
    if view == "failures":
        assert browser.text("#failures pre.message") == visible(HOSTILE)


@pytest.mark.parametrize(
    ("fields", "count", "shown"),
    [
        ({"words": "axpy"}, 4, {"ok", "front:A"}),
        ({"words": "AXPY gfx942"}, 2, {"ok", "front:A"}),
        ({"words": "tgamma"}, 4, {"front:A"}),
        ({"words": "nothing like it"}, 0, set()),
        ({"target": "hip:*"}, 6, {"ok", "front:A"}),
        ({"release": "3.9.0"}, 6, {"ok", "front:A"}),
        ({"verdict": "failing"}, 4, {"front:A"}),
        ({"verdict": "group:A", "release": "3.8.0"}, 2, {"front:A"}),
        ({"verdict": "status:ok", "words": "gamma"}, 1, {"ok"}),
        ({"verdict": "kind:frontend-error", "target": "cuda:90"}, 1, {"front:A"}),
    ],
)
def test_the_filter_leaves_what_it_says(
    show: Show, releases: Report, fields: dict[str, str], count: int, shown: set[str]
) -> None:
    browser = show(releases)
    for name, value in fields.items():
        browser.fill(f"#{name}", value)
    fragment = browser.run("return location.hash")

    for page in (browser, show(releases, fragment)):  # the address leads to the same
        assert page.text("#count") == f"{count} of 12 cells"
        assert set(cells(page)) == shown
        assert len(cells(page)) == count
        assert page.texts("#matrix .nothing") == ([] if count else ["No cell matches the filter."])
    browser.click("#clear")
    assert browser.text("#count") == "12 of 12 cells"


def test_columns_and_releases_in_which_nothing_is_left_disappear(show: Show, releases: Report) -> None:
    browser = show(releases, "#target=cuda%3A90&release=3.9.0")

    assert browser.texts("thead th") == ["Triton 3.9.0", "cuda:90"]
    assert len(browser.texts("[role=grid]")) == 1


def test_the_keyboard_is_enough(show: Show, releases: Report) -> None:
    browser = show(releases)
    browser.run("document.querySelector('td[tabindex=\"0\"]').focus()")

    browser.press("Right")
    assert focused(browser) == "axpy on hip:gfx942 with 3.8.0: ok"
    browser.press("End", "Home", "Left", "Down", "Down")
    assert focused(browser) == "steady on cuda:90 with 3.8.0: ok"
    browser.press("Down", "Right")  # on into the next release
    assert (
        focused(browser) == "axpy on hip:gfx942 with 3.9.0: front:A, frontend-error in frontend, group A, new failure"
    )
    browser.press("Enter")
    assert focused(browser) == "panel-title"
    assert browser.text("#panel-title") == "axpy"
    browser.press("Escape")
    assert focused(browser).startswith("axpy on hip:gfx942 with 3.9.0")
    assert browser.run("return document.getElementById('panel').hidden")
    browser.press("/")
    assert focused(browser) == "words"
    browser.press("gamma[")
    assert browser.text("#count") == "4 of 12 cells"
    browser.press("Escape")
    assert browser.text("#count") == "12 of 12 cells"
    browser.run("document.getElementById('tab-matrix').focus()")
    browser.press("Right")
    assert browser.texts("[role=tabpanel] h2")[0] == "Failures"


def test_the_way_around_the_filter_leaves_it_as_it_is(show: Show, releases: Report) -> None:
    browser = show(releases, "#view=changes&words=steady")
    browser.run("document.getElementById('skip').click()")

    assert focused(browser) == "steady on cuda:90 with 3.8.0: ok"
    assert browser.text("#count") == "4 of 12 cells"


def test_a_screen_reader_is_told_what_is_written_and_what_it_means(show: Show, mixed: Report) -> None:
    browser = show(mixed)
    labels = browser.run(
        "return [...document.querySelectorAll('td[data-cell]')].map(td => td.getAttribute('aria-label'))"
    )

    assert {label.partition(": ")[2] for label in labels} == {
        "ok",
        "front:A, frontend-error in frontend, group A, new failure",
        "asm:B, assembler-error in cubin, group B, new failure",
        "front:A, frontend-error in frontend, group A, known to the baseline",
        "xfail, frontend-error in frontend, group A, expected to fail",
        "xpass, passed unexpectedly",
        "-, without a verdict",
        "missing, without a verdict",
    }


def test_only_one_cell_is_on_the_way_of_the_tab_key(show: Show, releases: Report) -> None:
    browser = show(releases, "#words=steady")

    assert browser.run(
        "return [...document.querySelectorAll('td[tabindex=\"0\"]')].map(td => td.getAttribute('aria-label'))"
    ) == ["steady on cuda:90 with 3.8.0: ok"]


def test_the_panel_of_a_failure_explains_it(show: Show, releases: Report) -> None:
    advice = Advice("entry", "the title", "because of `it`", "do that", "https://x.example/1", "3.0", "3.9")
    report = replace(releases, groups=tuple(replace(group, advice=advice) for group in releases.groups))
    browser = show(report, PANEL)

    told = browser.text("#panel")
    for text in (
        "axpy",
        "hip:gfx942 · Triton 3.9.0",
        "the title",
        "because of it",
        "do that",
        "kernels.py:24:26",
        "first\nsecond",
    ):
        assert text in told
    assert browser.text("#panel pre.message").startswith("module 'triton.language.extra.hip.libdevice' has no")
    assert browser.label("#panel a[target]") == ("link", "https://x.example/1")
    assert report.groups[0].fingerprint in told
    assert "portcheck explain 'axpy@hip:gfx942@3.9.0'" in told
    browser.run(
        "[...document.querySelectorAll('#panel button')].find(b => b.textContent.includes('Show the 4')).click()"
    )
    assert browser.text("#count") == "4 of 12 cells"


def test_the_panel_of_a_cell_that_compiled_has_its_figures(show: Show, releases: Report) -> None:
    browser = show(releases, COMPILED)

    assert browser.texts("#panel .resource") == [
        "shared memory\n195.3 KiB of 227.0 KiB",
        "threads\n128 of 1,024",
        "registers\n40 of 255",
    ]
    assert browser.label("#panel [role=meter]") == ("meter", "shared memory")
    assert browser.texts("#panel .legend li") == ["frontend 20 ms", "ttir 10 ms", "ttgir 50 ms", "other 0.12 s"]
    share = "const [bar, parts] = [document.querySelector('.times'), [...document.querySelectorAll('.times span')]]"
    assert browser.run(f"{share}; return Math.round(100 * parts[2].offsetWidth / bar.offsetWidth)") == pytest.approx(
        25, abs=2
    )
    assert browser.texts("#panel figure figcaption") == [
        "compile time",
        "registers",
        "spills",
        "shared memory",
        "size of the binary",
    ]
    assert "20" in browser.text("#panel .plain tbody tr") and "0.10 s" in browser.text("#panel .plain tbody tr")


def test_more_than_a_device_grants_is_marked(show: Show, judge: Any, toolchain: Any) -> None:
    outcome = {"resources": {"shared": 300_000, "threads": 128}}
    report = build([judge("axpy@cuda:90@3.9.0", outcome=outcome)], [toolchain("3.9.0")], 1.0, lambda cell: None)
    browser = show(report, COMPILED)

    assert browser.run("return document.querySelectorAll('.meter .over').length") == 1


def test_configurations_are_counted_where_there_are_any(show: Show, mixed: Report) -> None:
    shown = data.as_dict(mixed)
    failed = {"config": "BLOCK=64", "verdict": "mlir-error", "stage": "ttgir", "message": "<b>no</b>"}
    for configs, told in (
        ({"ok": 7, "of": 12}, ["7 of 12 compile"]),
        (
            {"ok": 1, "of": 2, "total": 9, "shown": "BLOCK=32", "failed": [failed]},
            ["1 of 2 compile; a launch chooses from 9", "BLOCK=32", "BLOCK=64mlir-error in ttgir: <b>no</b>"],
        ),
    ):
        shown["cells"][0][data.FIELDS.index("configs")] = configs
        text = show(shown, "#cell=gamma%40cuda%3A90%403.9.0").text("#panel")
        assert [line for line in told if line not in text] == []


def test_predictions_are_told_where_there_are_any(show: Show, mixed: Report) -> None:
    shown = data.as_dict(mixed)
    assert show(shown).text("#static") == ""

    shown["static"] = "static: predicted 6 failing cells before compiling; 5 of them did fail"
    assert show(shown).text("#static") == shown["static"]


def test_an_output_is_shown_and_highlighted(show: Show, releases: Report) -> None:
    browser = show(releases, COMPILED)

    assert browser.texts("#panel section:nth-of-type(4) td:last-child") == ["Show", "no longer in the cache", "binary"]
    browser.click("[aria-label='Show ttgir']")
    browser.run("return new Promise(done => setTimeout(done, 200))")
    assert browser.text("#viewer .text").rstrip("\n") == TTGIR
    assert browser.label("#viewer") == ("dialog", "axpy on cuda:90 with 3.9.0")
    assert browser.texts("#viewer .t-op")[1] == "arith.constant"
    assert browser.run("return document.querySelectorAll('#viewer code')[3].children.length") == 0  # not in sight yet
    browser.press("Escape")
    assert browser.run("return [document.getElementById('viewer').open, document.getElementById('panel').hidden]") == [
        False,
        False,
    ]


def test_changes_and_trends_over_releases(show: Show, releases: Report) -> None:
    browser = show(releases, "#view=changes")
    assert browser.texts("#changes h3") == ["Regressed: 1", "Begin to spill registers: 1", "Fixed: 1"]
    assert browser.texts("#changes tbody tr")[0].split("\t")[:2] == ["axpy", "hip:gfx942"]

    browser.click("#tab-trends")
    assert browser.texts("#trends figcaption") == ["compile time", "registers", "spills", "size of the binary"]
    assert browser.label("#trends svg") == ("image", "compile time, median: 3.8.0 0.10 s, 3.9.0 0.10 s")
    assert "axpy on cuda:90" in browser.texts("#trends figure:nth-child(2) tbody tr")[0]
    browser.run("document.querySelector('#trends tbody a').click()")
    assert browser.text("#panel-title") == "axpy"


def test_one_release_has_neither_changes_nor_trends(show: Show, mixed: Report) -> None:
    browser = show(mixed, "#view=trends")

    assert browser.texts("[role=tab]") == ["Matrix", "Failures (2)"]
    assert browser.texts("[role=tab][aria-selected=true]") == ["Matrix"]


def test_a_report_without_cells_does_not_look_green(show: Show, empty: Report) -> None:
    browser = show(empty)

    assert browser.text("#headline") == "no cell was checked"
    assert browser.complaints() == []


def test_everything_that_can_be_used_has_a_name(show: Show, releases: Report) -> None:
    usable = {
        "button",
        "combobox",
        "searchbox",
        "link",
        "gridcell",
        "tab",
        "meter",
        "image",
        "dialog",
        "grid",
        "tabpanel",
    }
    for view in VIEWS:
        browser = show(releases, f"{COMPILED}&view={view}")
        nodes = browser.devtools("Accessibility.getFullAXTree")["nodes"]
        found = [
            (node["role"]["value"], node.get("name", {}).get("value"))
            for node in nodes
            if not node["ignored"] and "role" in node
        ]
        assert [role for role, name in found if role in usable and not name and role != "gridcell"] == []
        assert {"button", "combobox", "searchbox", "tab", "meter", "dialog", "heading", "status"} <= {
            role for role, _ in found
        }


def test_roles_and_names_are_those_of_a_grid(show: Show, releases: Report) -> None:
    browser = show(releases)

    assert browser.label("[role=grid]") == ("grid", "Verdicts with Triton 3.8.0")
    assert browser.label("td[data-cell]") == ("gridcell", "axpy on cuda:90 with 3.8.0: ok")
    assert browser.label("tbody th") == ("rowheader", "axpy")
    assert browser.label("thead th:nth-child(2)") == ("columnheader", "cuda:90")
    assert browser.label("#words")[1].startswith("Filter")
    assert browser.label("#count")[0] == "status"
    assert browser.label("#tab-matrix") == ("tab", "Matrix")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_contrast(show: Show, mixed: Report, releases: Report, scheme: str) -> None:
    pages = [(mixed, ""), (mixed, "#verdict=failing"), (releases, f"{COMPILED}&show=registers"), (releases, PANEL)]
    pages += [(releases, f"#view={view}") for view in VIEWS]
    for report, fragment in pages:
        browser = show(report, fragment)
        browser.emulate(scheme=scheme)
        found = browser.run(CONTRAST)
        assert (found["low"], found["texts"] > 20) == ([], True)
    browser = show(releases, COMPILED)
    browser.emulate(scheme=scheme)
    browser.click("[aria-label='Show ttgir']")
    browser.run("return new Promise(done => setTimeout(done, 200))")
    assert browser.run(CONTRAST)["low"] == []


def test_light_and_dark_follow_the_reader(show: Show, mixed: Report) -> None:
    browser = show(mixed)
    color = "return getComputedStyle(document.documentElement).backgroundColor"
    light = browser.run(color)
    browser.emulate(scheme="dark")

    assert light == "rgb(245, 246, 248)"
    assert browser.run(color) == "rgb(14, 18, 23)"


def test_verdicts_are_told_apart_without_colour(show: Show, mixed: Report) -> None:
    browser = show(mixed)
    shape = "[td.className, td.textContent, getComputedStyle(td).outlineStyle, getComputedStyle(td).fontWeight]"
    found = browser.run(f"return [...document.querySelectorAll('td[data-cell]')].map(td => {shape})")

    tones = {tuple(how): tone for tone, *how in found}
    assert len(tones) == len({tuple(one) for one in found})


def test_print_has_everything_and_no_controls(show: Show, releases: Report) -> None:
    browser = show(releases)
    browser.run("dispatchEvent(new Event('beforeprint'))")
    browser.emulate(media="print", scheme="dark")

    assert browser.texts("#bar, [role=tab], button") == []
    assert len(browser.texts("[role=tabpanel]")) == 4
    assert browser.texts("#changes h3") != []
    assert browser.run("return getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.run(CONTRAST)["low"] == []


@pytest.mark.parametrize("width", [1400, 800, 360])
def test_heading_and_controls_stay_within_a_window_of_any_width(show: Show, large: Report, width: int) -> None:
    browser = show(large)
    browser.resize(width, 800)

    reach = "return [...document.querySelectorAll('header *, #bar *, #tabs')].map(e => e.getBoundingClientRect().right)"
    assert max(browser.run(reach)) <= width + 1
    browser.run("scrollTo(300, 0)")  # a matrix that is wider than the window does not take them along
    assert max(browser.run(reach)) <= width + 1
    assert browser.run("return document.getElementById('words').getBoundingClientRect().left") > 0


def test_five_thousand_cells_are_few_elements(show: Show, large: Report) -> None:
    browser = show(large)

    assert browser.text("#count") == "5,000 of 5,000 cells"
    assert browser.run("return document.querySelectorAll('*').length") < 5_000 * 1.5
    browser.fill("#words", "kernel_24 cuda:90")
    assert browser.text("#count") == "20 of 5,000 cells"
    browser.click("#clear")
    browser.run("document.querySelector('td[data-cell]').focus()")
    browser.press("PageDown", "PageDown", "Right")
    assert focused(browser) == "kernel_030 on cuda:80 with 3.8.0: ok"
    browser.run("scrollTo(0, 1e9)")
    last = "[...document.querySelectorAll('tbody tr')].at(-1).getBoundingClientRect()"
    assert browser.run(f"return {last}.bottom <= innerHeight")


def test_a_window_as_narrow_as_a_phones_shows_the_panel_over_everything(show: Show, releases: Report) -> None:
    browser = show(releases, PANEL)
    browser.resize(360, 700)
    browser.run("return new Promise(done => setTimeout(done, 200))")

    assert browser.run(
        "const box = document.getElementById('panel').getBoundingClientRect(); return [box.left, box.width]"
    ) == [0, 360]
