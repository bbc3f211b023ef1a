"""The bundled demo: nine rows over nine targets, with a failure of every common kind."""

from __future__ import annotations

from pathlib import Path

MANIFEST = Path(__file__).parent / "portcheck.toml"
