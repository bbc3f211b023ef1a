"""Two kernels for suites of which the verdicts do not matter: one compiles everywhere, the other not for AMD."""

KERNELS = """
    import triton
    import triton.language as tl
    from triton.language.extra import libdevice

    @triton.jit
    def copy(x, y):
        tl.store(y, tl.load(x))

    @triton.jit
    def tgamma(x):
        tl.store(x, libdevice.tgamma(tl.load(x)))
"""
