"""Names of cells as names of tasks."""

from __future__ import annotations

import pytest

from portcheck.rules.names import doit_name, own_name


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("attn[bf16]@cuda:90@3.9.0", "attn[bf16]@cuda:90@3.9.0"),
        ("attn[B=64]@cuda:90@3.9.0", "attn[B%3D64]@cuda:90@3.9.0"),
        ("100%@cuda:90@3.9.0", "100%@cuda:90@3.9.0"),
        ("a=100%3D@cuda:90@3.9.0", "a%3D100%253D@cuda:90@3.9.0"),
    ],
)
def test_there_is_no_equals_sign_and_a_way_back(name: str, task: str) -> None:
    assert doit_name(name) == task
    assert own_name(task) == name
