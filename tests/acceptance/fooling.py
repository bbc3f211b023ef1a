"""Edits that tried to fool the keys. Each case is a folder of its own; CASE in a file stands for the folder's name.

A case is the files before and what is written over them afterwards (None: deleted). `kernel` makes a kernel whose
result shows the value of an expression. Each has a NUMBER of its own, so that no case answers for another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

Files = Mapping[str, str | None]


@dataclass(frozen=True)
class Edit:
    """The files of a project before and after."""

    before: Files
    after: Files


def kernel(expression: str, preamble: str = "", after: str = "") -> str:
    """A kernel that multiplies what it loads by `expression`, if there is no x in that."""
    stored = expression if "x" in expression else f"x * {expression}"
    return f"""import os
import triton
import triton.language as tl
HERE = os.path.dirname(os.path.abspath(__file__))
{preamble}
@triton.jit
def k(x_ptr, n, BLOCK: tl.constexpr, NUMBER: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n) + NUMBER
    tl.store(x_ptr + at, {stored}, mask=at < n)
{after}"""


def python(expression: str, preamble: str = "") -> str:
    """A kernel that shows what a constexpr function returns."""
    return kernel("f()", f"{preamble}\n@triton.constexpr_function\ndef f():\n    return {expression}\n")


def edit(text: str, old: str, new: str, **others: str) -> Edit:
    """One replacement in kernel.py; `others` are modules beside it."""
    assert old in text
    return Edit({"kernel.py": text, **{f"{n}.py": t for n, t in others.items()}}, {"kernel.py": text.replace(old, new)})


def beside(text: str, before: str, after: str, name: str = "cfg.py") -> Edit:
    """A file beside kernel.py changes."""
    return Edit({"kernel.py": text, name: before}, {name: after})


def constant(value: object) -> str:
    """A module that holds G."""
    return f"import triton.language as tl\nG = tl.constexpr({value})\n"


CLOSURES = """
def make(N):
    @triton.constexpr_function
    def f(): return N
    return f
two, three = make(2), make(3)
a, b, c = two, two, three
"""
IMPORT_CFG = "from CASE import cfg\n"

# What the front end gives, or what becomes of it, changes: the old verdict must not answer.
CHANGES = {
    # which thing a name stands for, while all values are the same
    "swapped_module_aliases": edit(
        kernel("x * p.G - q.G", "from CASE import one as p, two as q\n"),
        "one as p, two as q",
        "two as p, one as q",
        one="G = 2\n",
        two="G = 3\n",
    ),
    "another_triton_module": edit(
        kernel("m.exp(x)", "from triton.language.extra import libdevice as m\n"),
        "triton.language.extra import libdevice",
        "triton.language import math",
    ),
    "another_triton_module_behind_a_module": beside(
        kernel("cfg.m.exp(x)", IMPORT_CFG),
        "from triton.language.extra import libdevice as m\n",
        "from triton.language import math as m\n",
    ),
    "another_python_module": edit(
        python("2 + hasattr(m, 'floor')", "import math as m\n"), "import math", "import cmath"
    ),
    "two_modules_of_one_name": Edit(
        {
            "kernel.py": kernel(
                "x * a.G - b.G",
                "import importlib.util as u\ndef load(name):\n"
                "    s = u.spec_from_file_location('cfg', os.path.join(HERE, name))\n"
                "    m = u.module_from_spec(s)\n    s.loader.exec_module(m)\n    return m\n"
                "a, b = load('a.py'), load('b.py')\n",
            ),
            "a.py": "G = 2\n",
            "b.py": "G = 3\n",
        },
        {"a.py": "G = 5\n"},
    ),
    "closures_of_one_def": edit(
        kernel("x * a() + b() * 10 + c()", CLOSURES), "a, b, c = two, two, three", "a, b, c = two, three, three"
    ),
    "which_of_two_kernels": beside(
        kernel("x * 2", "from CASE.cfg import N\n", "first = k\n")
        + "@triton.jit\ndef k(x_ptr, n, BLOCK: tl.constexpr, NUMBER: tl.constexpr):\n"
        + "    tl.store(x_ptr, NUMBER)\nk = (first, k)[N]\n",
        "N = 0\n",
        "N = 1\n",
    ),
    # what a walk over names does not see
    "attribute_by_string": beside(
        python("operator.attrgetter('G')(cfg)", IMPORT_CFG + "import operator\n"), "G = 2\n", "G = 3\n"
    ),
    "attribute_in_a_format": beside(python("int('{0.G}'.format(cfg))", IMPORT_CFG), "G = 2\n", "G = 3\n"),
    "globals_by_string": beside(python("cfg.__dict__['G']", IMPORT_CFG), "G = 2\n", "G = 3\n"),
    "order_of_a_dict": edit(python("list(D)[0]", "D = {2: 0, 3: 0}\n"), "{2: 0, 3: 0}", "{3: 0, 2: 0}"),
    "patched_math": edit(python("int(math.pi)", "import math\nmath.pi = 3.0\n"), "3.0", "5.0"),
    "patched_builtin": edit(python("GAIN", "import builtins\nbuiltins.GAIN = 2\n"), "= 2", "= 3"),
    "attribute_of_a_jit_function": edit(
        kernel("h.LIMIT", "@triton.jit\ndef h(x):\n    return x\nh.LIMIT = tl.constexpr(2)\n"),
        "constexpr(2)",
        "constexpr(3)",
    ),
    "method_of_an_enumeration": edit(
        python(
            "int(M[0] * 1)",
            "import enum\nclass Mode(enum.IntEnum):\n    A = 1\n"
            "    def __mul__(self, other):\n        return 2\nM = (Mode.A,)\n",
        ),
        "return 2",
        "return 3",
    ),
    "attribute_of_a_named_tuple": edit(
        python("P.LIMIT", "import typing\nclass Shape(typing.NamedTuple):\n    a: int\n    LIMIT = 2\nP = Shape(1)\n"),
        "LIMIT = 2",
        "LIMIT = 3",
    ),
    "class_without_a_module": edit(
        python("C.A", "made = {}\nexec('class C: A = 2', made)\nC = made['C']\n"), "A = 2", "A = 3"
    ),
    "address_space": edit(
        kernel("x + x_ptr.to(T).to(tl.int64)", "T = tl.pointer_type(tl.float32)\n"), "float32)", "float32, 3)"
    ),
    "minus_zero": beside(kernel("G", "from CASE.cfg import G\n"), constant(0.0), constant(-0.0)),
    "true_for_one": beside(
        kernel(
            "f(G)",
            "from CASE.cfg import G\n@triton.constexpr_function\ndef f(v):\n    return 2 + (type(v) is bool)\n",
        ),
        constant(1),
        constant(True),
    ),
    "nonlocal_variable": edit(
        kernel(
            "f()",
            "def make():\n    c = 1\n    @triton.constexpr_function\n    def f():\n        return c\n"
            "    def bump():\n        nonlocal c\n        c = 2\n    return f, bump\nf, bump = make()\nbump()\n",
        ),
        "c = 2",
        "c = 3",
    ),
    # the kernel's object itself
    "decorator_that_rewrites": beside(
        kernel("x * 2", "from CASE.cfg import swap\n", "k = swap(k)\n"),
        "def swap(f):\n    return f\n",
        "def swap(f):\n    f._unsafe_update_src(f.src.replace('x * 2', 'x * 3'))\n    return f\n",
    ),
    "jit_class_of_ones_own": edit(
        kernel(
            "x * 2",
            "import ast\nfrom triton.runtime.jit import JITFunction\nclass Mine(JITFunction):\n"
            "    def parse(self):\n        return ast.parse(self._src.replace('2', '5'))\n",
            "k = Mine(k.fn)\n",
        ),
        "'5'",
        "'6'",
    ),
    "method_of_the_kernel_object": edit(
        kernel("x * 2", "import ast\n", "k.parse = lambda: ast.parse(k._src.replace('2', '5'))\n"), "'5'", "'6'"
    ),
    "name_of_the_kernel_object": edit(kernel("x * 2", after="k._fn_name = 'one'\n"), "'one'", "'two'"),
    "kernel_from_generated_source": beside(
        "import linecache\nimport triton\nimport triton.language as tl\nfrom CASE.cfg import N\n"
        "src = '@triton.jit\\ndef k(x_ptr, n, BLOCK: tl.constexpr, NUMBER: tl.constexpr):\\n'\n"
        "src += '    tl.store(x_ptr, tl.load(x_ptr) * %d + NUMBER)\\n' % N\n"
        "linecache.cache['<made>'] = (len(src), None, src.splitlines(True), '<made>')\n"
        "exec(compile(src, '<made>', 'exec'), globals())\n",
        "N = 2\n",
        "N = 3\n",
    ),
    # Triton itself
    "value_put_into_tl": edit(kernel("tl.MINE", "tl.MINE = tl.constexpr(2)\n"), "constexpr(2)", "constexpr(3)"),
    "cell_of_a_builtin": edit(
        kernel(
            "tl.exp(x)",
            "def inner(f):\n    return next(c for c in f.__closure__ if callable(c.cell_contents))\n"
            "other = tl.exp\ninner(tl.exp).cell_contents = inner(other).cell_contents\n",
        ),
        "other = tl.exp\n",
        "other = tl.exp2\n",
    ),
    "table_of_the_code_generator": edit(
        kernel(
            "max(x, 2.0)",
            "from triton.compiler.code_generator import CodeGenerator as C\n"
            "C.builtin_namespace['max'] = C.builtin_namespace['max']\n",
        ),
        "= C.builtin_namespace['max']",
        "= C.builtin_namespace['min']",
    ),
    "binding_of_the_ir": edit(
        kernel("x * 2.0", "from triton._C.libtriton import ir\nir.builder.create_fmul = ir.builder.create_fmul\n"),
        "= ir.builder.create_fmul",
        "= ir.builder.create_fadd",
    ),
    "pass_left_out": edit(
        kernel("x * 2.0 + tl.sum(x, 0)", "from triton._C.libtriton import passes\nleave_out = False\n")
        + "if leave_out:\n    passes.ttgpuir.add_coalesce = lambda pm: None\n",
        "leave_out = False",
        "leave_out = True",
    ),
    "mutated_type": edit(
        kernel("x.to(tl.float16).to(tl.float32)", "tl.float16.name = 'fp16'\n"), "name = 'fp16'", "name = 'bf16'"
    ),
    "module_of_triton_patched_after_a_late_import": edit(
        kernel("m.exp(x)", "import triton.language.extra.cuda.libdevice as m\nm.exp = m.exp\n"),
        "m.exp = m.exp",
        "m.exp = m.log",
    ),
    "hook_in_a_knob": edit(
        kernel(
            "x * 2",
            "def hook(*stages):\n    if not stages:\n        return 'key', 'hash'\n    run = stages[1]['ptx']\n"
            "    stages[1]['ptx'] = lambda m, metadata: run(m, metadata) + '// one'\n"
            "triton.knobs.runtime.add_stages_inspection_hook = hook\n",
        ),
        "// one",
        "// two",
    ),
    "method_of_the_backend": edit(
        kernel(
            "x * 2",
            "from triton.backends.nvidia.compiler import CUDABackend as C\nmake = C.make_ptx\n"
            "C.make_ptx = lambda *a, **k: make(*a, **k) + '// one'\n",
        ),
        "// one",
        "// two",
    ),
    # where modules come from
    "folder_earlier_on_the_path": Edit(
        {
            "kernel.py": kernel(
                "G", "import sys\nsys.path[:0] = [HERE + '/first', HERE + '/second']\nfrom shadowed import G\n"
            ),
            "first/other.py": "",
            "second/shadowed.py": constant(2),
        },
        {"first/shadowed.py": constant(3)},
    ),
    "package_in_front_of_a_module": Edit(
        {"kernel.py": kernel("G", "from CASE.sub import G\n"), "sub.py": constant(2)},
        {"sub/__init__.py": constant(3)},
    ),
    "submodule_that_appears": Edit(
        {
            "kernel.py": kernel(
                "G", "try:\n    from CASE.fast import G\nexcept ImportError:\n    from CASE.slow import G\n"
            ),
            "slow.py": constant(2),
        },
        {"fast.py": constant(3)},
    ),
    "module_that_leaves_no_trace": beside(
        kernel("G", "import sys\nfrom CASE.cfg import G\ndel sys.modules['CASE.cfg']\n"), constant(2), constant(3)
    ),
    "module_that_another_one_changes": Edit(
        {
            "kernel.py": kernel("G", "from CASE import cfg, third\nG = cfg.G\n"),
            "cfg.py": constant(1),
            "third.py": IMPORT_CFG + constant(2) + "cfg.G = G\n",
        },
        {"third.py": IMPORT_CFG + constant(3) + "cfg.G = G\n"},
    ),
    "names_of_a_star_import": Edit(
        {
            "kernel.py": kernel("G", "from CASE.cfg import *\nfrom CASE.more import *\n"),
            "cfg.py": constant(2),
            "more.py": constant(3) + "__all__ = []\n",
        },
        {"more.py": constant(3) + "__all__ = ['G']\n"},
    ),
    # what is read, and how
    "file_opened_for_both": beside(
        kernel("G", "G = tl.constexpr(int(open(HERE + '/d.txt', 'r+').read()))\n"), "2", "3", "d.txt"
    ),
    "size_of_a_file": beside(kernel("G", "G = tl.constexpr(os.path.getsize(HERE + '/d'))\n"), "12", "123", "d"),
    "folder_for_a_file": Edit(
        {
            "kernel.py": kernel("G", "G = tl.constexpr(2 + sum(e.is_dir() for e in os.scandir(HERE + '/d')))\n"),
            "d/e": "",
        },
        {"d/e": None, "d/e/f": ""},
    ),
    "library_named_by_a_knob": beside(
        kernel(
            "m.exp(x)",
            "from triton.language.extra import libdevice as m\ntriton.knobs.nvidia.libdevice_path = HERE + '/l.bc'\n",
        ),
        "not bitcode",
        "",
        "l.bc",
    ),
}

# Nothing of the result changes: nothing compiles, and where the walk is exact not even the front end runs.
KEEPS = {
    "comment_and_lines": (edit(kernel("x * 2"), "@triton.jit", "# moved\n\n\n@triton.jit"), "cached"),
    "layout": (edit(kernel("x * 2"), "x * 2, mask=at < n", "\n        x*2,\n        mask=(at < n)"), "cached"),
    "renamed_local": (
        Edit({"kernel.py": kernel("x * 2")}, {"kernel.py": re.sub(r"\bat\b", "here", kernel("x * 2"))}),
        "cutoff",
    ),
    "docstring": (edit(kernel("x * 2"), "    at = ", "    'Doubles.'\n    at = "), "cutoff"),
    "unread_global": (edit(kernel("x * 2", "UNREAD = 2\n"), "UNREAD = 2", "UNREAD = 3"), "cached"),
    "unread_attribute": (beside(kernel("cfg.G", IMPORT_CFG), "G = 2\nH = 3\n", "G = 2\nH = 4\n"), "cached"),
    "helper_of_another_kernel": (
        edit(
            kernel("x * 2", "@triton.jit\ndef h(x):\n    return x * 5\n")
            + "@triton.jit\ndef other(x_ptr):\n    tl.store(x_ptr, h(1.0))\n",
            "x * 5",
            "x * 6",
        ),
        "cached",
    ),
    "heuristics": (
        edit(kernel("x * 2"), "@triton.jit", "@triton.heuristics({'BLOCK': lambda _: 256})\n@triton.jit"),
        "cached",
    ),
    "split_of_a_module": (
        Edit(
            {"kernel.py": kernel("G", "from CASE.cfg import G\n"), "cfg.py": constant(2)},
            {"cfg.py": "from CASE.moved import G\n", "moved.py": constant(2)},
        ),
        "cached",
    ),
}
