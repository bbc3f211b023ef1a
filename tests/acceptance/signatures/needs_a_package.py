"""A kernel in a module that cannot be imported where a package is missing."""

import a_package_that_is_not_installed  # noqa: F401
import triton


@triton.jit
def copy(x, y):
    pass
