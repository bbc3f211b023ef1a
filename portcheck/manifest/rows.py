"""Rows: the kernels of a manifest with their variants laid over them.

A variant shares the kernel and overrides parts. What is a table (`signature`, `constants`, the options, `env`) merges
entry by entry; what is a scalar or a list (`targets`, `skip`, `xfail`, `timeout`, …) replaces. A parameter that the
variant moves from `signature` to `constants`, or back, leaves the other.

A kernel that gives a `signature` is a row of its own beside its variants. One that leaves the signature to its variants
is not: only they are rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from portcheck.manifest.model import Row, Settings
from portcheck.manifest.parts import BACKEND_OPTIONS, Part, read_kernel, read_variant
from portcheck.manifest.settings import merge_settings
from portcheck.patterns import suggestion

MERGED = ("signature", "constants", "options", *BACKEND_OPTIONS, "env")


def read_rows(
    kernels: Sequence[Mapping[str, Any]], manifest: str, folder: Path, defaults: Settings
) -> tuple[tuple[Row, ...], list[str]]:
    """The rows of `kernels` in order, and one line for every mistake; a kernel with a mistake gives no rows.

    `manifest` is the manifest's name for messages; the files that kernels name are relative to `folder`.
    """
    rows: list[Row] = []
    mistakes: list[str] = []
    names: set[str] = set()
    for number, kernel in enumerate(kernels, 1):
        base = read_kernel(kernel, manifest, number, folder)
        tables = enumerate(base.given.get("variant", ()), 1)
        variants = [read_variant(variant, base.where, index, folder) for index, variant in tables]
        found = [mistake for part in (base, *variants) for mistake in part.mistakes]
        found += [
            *_repeated(base, variants, names),
            *_without_signature(base, variants, kernel),
            *_idle_skips(base, variants, defaults),
        ]
        if not found:
            rows += _rows(base, variants, defaults)
        mistakes += found
    return tuple(rows), mistakes


def overlay(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """What a kernel gives with what its variant gives laid over it, by the rules at the top of this module."""
    merged = {**base, **over}
    for key in MERGED:
        if key in base and key in over:
            merged[key] = {**base[key], **over[key]}
    typed = {name for name, tree in over.get("signature", {}).items() if tree is not None}
    for key, moved in (("signature", over.get("constants", {})), ("constants", typed)):
        if key in merged:
            merged[key] = {name: value for name, value in merged[key].items() if name not in moved}
    return merged


def _rows(base: Part, variants: Iterable[Part], defaults: Settings) -> Iterator[Row]:
    if "signature" in base.given:
        yield _row(base.given, base.name, None, base.where, defaults)
    for variant in variants:
        yield _row(overlay(base.given, variant.given), base.name, variant.name, variant.where, defaults)


def _row(given: Mapping[str, Any], kernel: str, variant: str | None, where: str, defaults: Settings) -> Row:
    return Row(
        kernel=kernel,
        variant=variant,
        ref=given["target"],
        # The type `constexpr` adds nothing to being in `constants` or having a default.
        signature={name: tree for name, tree in given["signature"].items() if tree is not None},
        constants=given.get("constants", {}),
        options=given.get("options", {}),
        backend_options={backend: given[key] for key, backend in BACKEND_OPTIONS.items() if key in given},
        settings=merge_settings(defaults, given),
        xfail=given.get("xfail", ()),
        where=where,
        skip=given.get("skip", ()),
    )


def _repeated(base: Part, variants: Iterable[Part], names: set[str]) -> Iterator[str]:
    """Names that are taken; adds the new ones to `names`. A kernel's name counts even where it is no row."""
    named = [(base, base.name), *((variant, f"{base.name}[{variant.name}]") for variant in variants if variant.name)]
    for part, name in named:
        if name and name in names:
            yield f'{part.where}: there is a row "{name}" already: give each row a name of its own'
        names.add(name)


def _without_signature(base: Part, variants: Sequence[Part], raw: Mapping[str, Any]) -> Iterator[str]:
    if "signature" in raw:
        return
    for part in variants or (base,):
        if "signature" not in part.given and not part.mistakes:
            yield f"{part.where}: missing signature: give every argument its type, or {{}} where there is none"


def _idle_skips(base: Part, variants: Sequence[Part], defaults: Settings) -> Iterator[str]:
    """Skip patterns that match no target which the kernel, a variant of it or the defaults name."""
    parts = (base, *variants)
    known = [*defaults.targets, *(target for part in parts for target in part.given.get("targets", ()))]
    for part in parts:
        for pattern in part.given.get("skip", ()):
            if known and not any(target.matches(pattern) for target in known):
                near = suggestion(pattern, map(str, known))
                yield f'{part.where}: skip: "{pattern}" matches none of the targets{near}: correct it or take it out'
