"""Every mistake that a manifest can have is told in one line that says where it is and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from portcheck.errors import UsageError
from portcheck.manifest.loader import load

KERNEL = 'name = "k"\ntarget = "mod:k"\nsignature = { x = "*fp32" }\n'


def kernel(*lines: str) -> str:
    """A manifest of one good kernel with `lines` added to its table."""
    return "[[kernel]]\n" + KERNEL + "\n".join(lines)


def typed(type_: str) -> str:
    """A manifest of one kernel whose only argument has the type string `type_`."""
    return f"[[kernel]]\nname = 'k'\ntarget = 'mod:k'\nsignature = {{ x = '{type_}' }}"


def constant(value: str) -> str:
    """A manifest of one kernel with one constant, written `value`."""
    return kernel(f"constants = {{ C = {value} }}")


AT = 'portcheck.toml: kernel "k": '

MISTAKES = [
    # the file
    ("[defaults", "not valid TOML: Expected ']' at the end of a table declaration (at end of document)"),
    ("a = 1\nb = = 2", "portcheck.toml: not valid TOML: Invalid value (at line 2, column 5)"),
    ("x = " + "[" * 5000, "portcheck.toml: arrays or tables nest too deeply"),
    # unknown keys, at every level
    ("[default]", 'portcheck.toml: unknown key "default" (did you mean defaults?)'),
    ("[zzz]", 'unknown key "zzz": the keys here are defaults, cache, kernel'),
    ("[defaults]\ntimeot = 3", 'portcheck.toml: [defaults]: unknown key "timeot" (did you mean timeout?)'),
    ("[cache]\nsalz = ''", 'portcheck.toml: [cache]: unknown key "salz" (did you mean salt?)'),
    (kernel("signatur = {}"), AT + 'unknown key "signatur" (did you mean signature?)'),
    (kernel("options_cudda = {}"), AT + 'unknown key "options_cudda" (did you mean options_cuda?)'),
    (kernel("[[kernel.variant]]\nname = 'v'\ntimeot = 1"), 'kernel "k" variant "v": unknown key "timeot"'),
    (kernel("[[kernel.variant]]\nname = 'v'\ntarget = 'a:b'"), 'variant "v": unknown key "target"'),
    (kernel('xfail = [{ target = "*", tritn = "<3" }]'), AT + 'xfail[0]: unknown key "tritn" (did you mean triton?)'),
    # the wrong type
    ("defaults = 3", "portcheck.toml: defaults: expected a table, got an integer (3)"),
    ("[kernel]\nname = 'k'", "kernel: expected an array of tables (double brackets), got a table"),
    ("kernel = ['k']", 'kernel[0]: expected a table, got a string ("k")'),
    ("[defaults]\ntargets = 'cuda:80'", '[defaults]: targets: expected an array of targets, got a string ("cuda:80")'),
    ("[defaults]\ntargets = [80]", "[defaults]: targets[0]: expected a string, got an integer (80)"),
    ("[defaults]\nxfail_strict = 'yes'", 'xfail_strict: expected true or false, got a string ("yes")'),
    ("[defaults]\nenv = { A = 0 }", "[defaults]: env.A: expected a string, got an integer (0)"),
    ("[cache]\nread = 'main'", '[cache]: read: expected an array of zones, got a string ("main")'),
    ("[cache]\ndir = 2024-01-01", "[cache]: dir: expected a string, got a date or time (2024-01-01)"),
    (kernel("options = [1]"), AT + "options: expected a table, got an array"),
    (kernel("skip = 'hip:*'"), AT + 'skip: expected an array of targets, got a string ("hip:*")'),
    (kernel("xfail = [3]"), AT + "xfail[0]: expected a target or a table such as"),
    # values
    ("[defaults]\ntimeout = 0", "timeout: expected a number of seconds above 0, got an integer (0)"),
    ("[defaults]\ntimeout = nan", "timeout: expected a number of seconds above 0, got a number (nan)"),
    ("[defaults]\ntimeout = true", "timeout: expected a number of seconds above 0, got a boolean (true)"),
    ("[defaults]\nmax_rss = 8", 'max_rss: expected a size such as "8GiB", got an integer (8)'),
    ("[defaults]\nmax_rss = '8 parsecs'", 'max_rss: malformed size "8 parsecs"'),
    ("[defaults]\nmax_rss = '0GiB'", 'max_rss: expected a size above 0, got "0GiB"'),
    ("[cache]\nmax_size = '5GB5'", '[cache]: max_size: malformed size "5GB5"'),
    ("[defaults]\nlaunch_limits = 'wran'", 'expected fail or warn or off, got a string ("wran") (did you mean warn?)'),
    ('[defaults]\nenv = { "A=B" = "1" }', 'env: "A=B" cannot be a variable'),
    ('[defaults]\nenv = { "" = "1" }', 'env: "" cannot be a variable'),
    ('[defaults]\nenv = { A = "\\u0000" }', 'env: "A" cannot be a variable'),
    ("[defaults]\nautotune = 1", "autotune: expected any or all, got an integer (1)"),
    ("[defaults]\nconfigs = 'sample:0'", 'configs: expected first, extremes, all or sample:N, got "sample:0"'),
    ("[defaults]\nconfigs = 'extreme'", "(did you mean extremes?)"),
    ("[defaults]\nsetup = 'pkg'", 'setup: malformed reference "pkg": write module:function'),
    ("[cache]\nwrite = '../x'", '[cache]: write: malformed zone "../x"'),
    ("[cache]\nremote = ''", "[cache]: remote: must not be empty"),
    # releases
    ("[defaults]\ntriton = []", 'triton: must not be empty: write for example ["current"]'),
    ("[defaults]\ntriton = ['curent']", 'triton[0]: unknown release "curent" (did you mean current?)'),
    ("[defaults]\ntriton = ['3.8']", 'triton[0]: unknown release "3.8": write current, a release such as 3.8.0'),
    ("[defaults]\ntriton = ['3.8.0', '3.8.0']", "triton: 3.8.0 is given twice"),
    (kernel('xfail = [{ target = "*", triton = "3.9" }]'), AT + 'xfail[0].triton: malformed specifier "3.9"'),
    (kernel('xfail = [{ target = "*", triton = "<x" }]'), AT + 'xfail[0].triton: "x" is not a release'),
    # targets
    ("[defaults]\ntargets = ['cdua:80']", 'targets[0]: unknown target "cdua:80" (did you mean cuda?)'),
    ("[defaults]\ntargets = ['cuda:sm_80']", 'targets[0]: unknown target "cuda:sm_80": write cuda:80'),
    ("[defaults]\ntargets = ['hip:*']", 'targets[0]: malformed target "hip:*"'),
    ("[defaults]\ntargets = ['cuda:80', 'cuda:80']", "targets: cuda:80 is given twice: once is enough"),
    (kernel("skip = ['nv:*']"), AT + 'skip[0]: target pattern "nv:*" matches no backend'),
    (kernel("xfail = ['rocm:gfx942']"), AT + 'xfail[0]: unknown target "rocm:gfx942"'),
    (kernel('xfail = [{ reason = "known" }]'), AT + "xfail[0]: missing target"),
    (kernel("skip = ['cuda:8']"), AT + 'skip[0]: malformed target "cuda:8": write it like cuda:90'),
    (
        kernel("targets = ['cuda:80', 'hip:gfx942']", "skip = ['hip:gfx950']"),
        AT + 'skip: "hip:gfx950" matches none of the targets (did you mean hip:gfx942?)',
    ),
    # what has to be there
    ("[[kernel]]\ntarget = 'mod:k'\nsignature = {}", "portcheck.toml: kernel #1: missing name"),
    (
        "[[kernel]]\nname = 'k'\nsignature = {}",
        AT + "missing target: write module:function or path/to/file.py:function",
    ),
    ("[[kernel]]\nname = 'k'\ntarget = 'mod:k'", AT + "missing signature: give every argument its type"),
    (kernel("[[kernel.variant]]\ntimeout = 3"), 'kernel "k" variant #1: missing name'),
    (
        "[[kernel]]\nname='k'\ntarget='mod:k'\n[[kernel.variant]]\nname='a'\nsignature={}\n[[kernel.variant]]\nname='b'",
        'portcheck.toml: kernel "k" variant "b": missing signature',
    ),
    ("[[kernel]]\nname = ' '\ntarget = 'mod:k'\nsignature = {}", "name: must not be empty"),
    # rows
    (kernel() + kernel(), AT + 'there is a row "k" already: give each row a name of its own'),
    (
        kernel("[[kernel.variant]]\nname = 'v'\n[[kernel.variant]]\nname = 'v'"),
        'kernel "k" variant "v": there is a row "k[v]" already',
    ),
    (
        kernel("[[kernel.variant]]\nname = 'v'\n") + "[[kernel]]\nname='k[v]'\ntarget='mod:k'\nsignature={}",
        'portcheck.toml: kernel "k[v]": there is a row "k[v]" already',
    ),
    # references
    (
        "[[kernel]]\nname='k'\ntarget='mod'\nsignature={}",
        AT + 'target: malformed reference "mod": write module:function',
    ),
    ("[[kernel]]\nname='k'\ntarget='a/b:k'\nsignature={}", AT + 'target: malformed reference "a/b:k"'),
    ("[[kernel]]\nname='k'\ntarget='no.py:k'\nsignature={}", AT + 'target: missing file "no.py"'),
    # types and marks
    (typed("float16"), AT + 'signature.x: unknown type "float16" (did you mean fp16?)'),
    (typed("*int32"), AT + 'signature.x: unknown type "int32" (did you mean i32?)'),
    (typed("fp8"), 'unknown type "fp8"'),
    (typed(""), 'unknown type ""'),
    (typed("*"), 'unknown type ""'),
    (typed("tensordesc<fp16>"), 'malformed descriptor "tensordesc<fp16>": write it like tensordesc<fp16[64, 128]>'),
    (typed("tensordesc<fp16[64, ]>"), "malformed shape"),
    (typed("tensordesc<half[64]>"), 'unknown type "half" (did you mean fp16?)'),
    (typed("*fp16:8"), AT + 'signature.x: unknown mark ":8" in "*fp16:8": the marks are :16'),
    (typed("i32:1"), AT + 'signature.x: mark ":1" in "i32:1": a value that is 1 is a constant'),
    (typed("*fp16:16:16"), AT + 'signature.x: "*fp16:16:16" has a mark twice'),
    (typed("i32:large"), 'signature.x: ":large" in "i32:large": only a pointer'),
    (typed("fp32:16"), 'signature.x: ":16" in "fp32:16": only pointers and integers'),
    (typed("tensordesc<fp16[64, 64]>:16"), "only pointers and integers are divisible by 16"),
    (
        "[[kernel]]\nname='k'\ntarget='mod:k'\nsignature={ x = ['*fp16', ['half']] }",
        AT + 'signature.x[1][0]: unknown type "half" (did you mean fp16?)',
    ),
    (
        "[[kernel]]\nname='k'\ntarget='mod:k'\nsignature={ x = 1 }",
        "a fixed value belongs in constants), got an integer (1)",
    ),
    ("[[kernel]]\nname='k'\ntarget='mod:k'\nsignature={ x = ['constexpr'] }", "constexpr inside a tuple"),
    (kernel('constants = { "a b" = 1 }'), AT + 'constants: "a b" cannot be the name of a parameter'),
    (kernel("constants = { x = 1 }"), AT + "x is in both signature and constants"),
    # tagged tables
    (constant("{ dtyp = 'fp16' }"), AT + 'constants.C: unknown tag "dtyp" (did you mean dtype?)'),
    (constant("{ dtype = 'fp16', none = true }"), "with exactly one of the tags"),
    (constant("{}"), "exactly one of the tags dtype, jit, constexpr, float, tuple, none, got none"),
    (constant("{ dtype = 'fp17' }"), AT + 'constants.C.dtype: unknown dtype "fp17" (did you mean fp16?)'),
    (constant("{ dtype = 16 }"), AT + "constants.C.dtype: expected a string, got an integer (16)"),
    (constant("{ jit = 'silu' }"), AT + 'constants.C.jit: malformed reference "silu"'),
    (constant("{ float = 'infinite' }"), 'constants.C.float: expected inf, -inf or nan, got "infinite"'),
    (constant("{ none = false }"), "constants.C.none: expected true, got a boolean (false)"),
    (constant("{ tuple = 3 }"), "constants.C.tuple: expected an array, got an integer (3)"),
    (constant("[1, [{ dtype = 'x' }]]"), "constants.C[1][0].dtype: unknown dtype"),
    (constant("[" * 300 + "]" * 300), "nest too deeply"),
    (constant("1979-05-27"), AT + "constants.C: expected a constant, got a date or time"),
    (constant("123456789012345678901234567890"), "does not fit in 64 bits"),
    (kernel("options_hip = { a = { b = 1 } }"), AT + 'options_hip.a: unknown tag "b"'),
]


@pytest.mark.parametrize(("manifest", "message"), MISTAKES)
def test_a_mistake_is_told_in_one_line(tmp_path: Path, manifest: str, message: str) -> None:
    (tmp_path / "portcheck.toml").write_text(manifest)
    with pytest.raises(UsageError) as caught:
        load(tmp_path / "portcheck.toml")
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_all_mistakes_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "portcheck.toml").write_text(
        "[defaults]\ntimeout = -1\ntargets = ['cuda:x', 'hip:y']\n[cache]\nsize = 1\n"
        "[[kernel]]\nname = 'a'\nsignature = { x = 'i31', y = '*fp16:3' }\n"
        "[[kernel.variant]]\nname = 'v'\ntimeout = 0\n"
    )
    with pytest.raises(UsageError) as caught:
        load(tmp_path / "portcheck.toml")
    assert [line.split(": ", 3)[1:3] for line in str(caught.value).splitlines()] == [
        ["[defaults]", "timeout"],
        ["[defaults]", "targets[0]"],
        ["[defaults]", "targets[1]"],
        ["[cache]", 'unknown key "size" (did you mean max_size?)'],
        ['kernel "a"', "signature.x"],
        ['kernel "a"', "signature.y"],
        ['kernel "a"', "missing target"],
        ['kernel "a" variant "v"', "timeout"],
    ]


def test_what_a_user_quotes_cannot_break_the_line(tmp_path: Path) -> None:
    broken = '[[kernel]]\nname = "a\\nb"\ntarget = "mod:k"\nsignature = {}\n'
    (tmp_path / "portcheck.toml").write_text(broken + broken)
    with pytest.raises(UsageError) as caught:
        load(tmp_path / "portcheck.toml")
    assert str(caught.value).startswith('portcheck.toml: kernel "a b": there is a row "a b" already')
