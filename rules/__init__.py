"""The build rules: a manifest in, doit tasks out."""

from portcheck.rules.suite import DOIT_CONFIG, portcheck_suite

__all__ = ["DOIT_CONFIG", "portcheck_suite"]
