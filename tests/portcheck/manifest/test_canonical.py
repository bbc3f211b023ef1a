"""What the compiling child is sent."""

from __future__ import annotations

import json
from pathlib import Path

from portcheck.manifest.canonical import row_specialisation
from portcheck.manifest.loader import load


def test_a_specialisation_is_plain_data_for_one_backend(tmp_path: Path) -> None:
    (tmp_path / "portcheck.toml").write_text(
        """
        [[kernel]]
        name = "k"
        target = "mod:k"
        signature = { x = "*fp16:16:large", pair = ["i32", [1]] }
        constants = { ACC = { dtype = "float32" }, SHAPE = [1, 2] }
        options = { num_warps = 4 }
        options_hip = { num_warps = 8 }
        """
    )
    (row,) = load(tmp_path / "portcheck.toml").rows
    plain = row_specialisation(row, "hip")
    assert plain == {
        "signature": {
            "x": {"type": "*fp16", "divisible": True, "large": True},
            "pair": [{"type": "i32", "divisible": False, "large": False}, [{"constant": 1}]],
        },
        "constants": {"ACC": {"dtype": "fp32"}, "SHAPE": {"tuple": [1, 2]}},
        "options": {"num_warps": 8},
    }
    assert json.loads(json.dumps(plain)) == plain
    assert row_specialisation(row, "cuda")["options"] == {"num_warps": 4}
