"""The table of what Triton's releases do differently."""

from __future__ import annotations

from dataclasses import fields
from types import SimpleNamespace

import pytest

from portcheck.compiler.child import releases
from portcheck.compiler.child.releases import Release, release


@pytest.mark.parametrize(
    ("version", "numbers"),
    [
        ("3.0.0", (3, 0)),
        ("3.9.0", (3, 9)),
        ("3.10.0+git9f2c", (3, 10)),
        ("3.8", (3, 8)),
        ("4", (4, 0)),
        ("dev", (0, 0)),
    ],
)
def test_a_version_is_its_first_two_numbers(version: str, numbers: tuple[int, int]) -> None:
    assert releases.parse(version) == numbers


@pytest.mark.parametrize(
    ("field", "of_releases"),
    [
        ("constants", {"3.0.0": "constants", "3.2.0": "constants", "3.3.1": "constexprs", "3.9.0": "constexprs"}),
        ("source", {"3.0.0": "src", "3.4.0": "src", "3.5.1": "_src", "3.9.0": "_src"}),
        ("runs_lld", {"3.0.0": True, "3.4.0": True, "3.5.1": False, "3.9.0": False}),
        ("tells_place", {"3.1.0": "_get_fn_file_line", "3.2.0": "get_jit_fn_file_line", "3.8.0": None}),
        ("has_descriptors", {"3.3.1": False, "3.4.0": True}),
        ("takes_tuples", {"3.2.0": False, "3.3.1": True}),
    ],
)
def test_each_release_does_it_as_the_last_change_before_it(field: str, of_releases: dict[str, object]) -> None:
    assert {version: getattr(release(version), field) for version in of_releases} == of_releases


def test_a_release_that_is_not_out_yet_is_taken_for_the_newest() -> None:
    assert release("3.11.0.dev20270101") == release("3.9.0")


def test_a_patch_of_a_release_does_nothing_else() -> None:
    assert release("3.3.0") == release("3.3.1")


def test_changes_name_what_a_release_has() -> None:
    known = {field.name for field in fields(Release)}
    assert all(known >= changes.keys() for changes in releases._CHANGES.values())


def test_backends_that_are_in_no_list_of_modules_are_named_as_triton_s(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to 3.3 they are loaded from their files under names such as `amd`."""
    values: dict[str, object] = {"__name__": "amd"}
    exec("class Backend:\n  def parse(self): pass\n  @staticmethod\n  def stage(): pass\ndef helper(): pass\n", values)
    kind = values["Backend"]

    monkeypatch.setattr(releases.sys, "modules", dict(releases.sys.modules))
    releases.release("3.2.0").name_backends({"amd": SimpleNamespace(compiler=kind, driver=kind)})

    assert kind.__module__.startswith("triton.backends.amd.")  # type: ignore[attr-defined]
    assert kind.parse.__module__ == kind.stage.__module__ == kind.__module__  # type: ignore[attr-defined]
    listed = releases.sys.modules[f"{kind.__module__}, as used"]
    assert vars(listed) is values


def test_a_stand_in_for_torch_is_gone_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(releases.sys.modules, "torch", raising=False)
    seen = []

    class Backend:
        @staticmethod
        def is_within_2gb(arg: object) -> bool:
            import torch

            seen.append(torch.Tensor)
            return isinstance(arg, torch.Tensor)

    releases.release("3.6.0").without_torch(Backend)

    assert Backend.is_within_2gb("a stand-in") is False
    assert seen == [()]
    assert "torch" not in releases.sys.modules
