"""portcheck: compile Triton kernels for every GPU target and Triton release, with no GPU."""

__version__ = "0.1.0"
