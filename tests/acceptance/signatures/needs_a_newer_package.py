"""A kernel in a module that wants something its package does not have."""

import triton
from triton.language import a_function_of_tomorrow  # noqa: F401


@triton.jit
def copy(x, y):
    pass
