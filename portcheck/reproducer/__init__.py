"""Reproducers: a failure as a folder that shows it with nothing but Triton installed."""
