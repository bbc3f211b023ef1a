"""From what on a compile counts as slower. By itself, so that the command line can be read without reading reports."""

from __future__ import annotations

DEFAULT_SLOWER = 50.0  # percent
FLOOR = 0.5  # seconds; what takes a twentieth of that may double for no reason
