"""What source and bytecode say of a function, without comments, layout and lines: its text, and what it mentions."""

from __future__ import annotations

import ast
import dis
import textwrap
import types
from collections.abc import Iterator
from dataclasses import dataclass, field

# Attributes that lead from a value to what no encoding of the value holds.
_INNARDS = frozenset(
    "__dict__ __globals__ __closure__ __code__ __class__ __getattribute__ __builtins__ __self__ __func__ "
    "__subclasses__ __mro__ __base__ __bases__ __wrapped__ __loader__ __spec__ __annotations__ "
    "f_globals f_locals f_builtins f_back tb_frame gi_frame cell_contents".split()
)
_LOADS = frozenset(
    "LOAD_GLOBAL LOAD_NAME LOAD_DEREF LOAD_CLASSDEREF LOAD_FROM_DICT_OR_GLOBALS LOAD_FROM_DICT_OR_DEREF".split()
)
_ATTRIBUTES = frozenset({"LOAD_ATTR", "LOAD_METHOD"})

Chain = tuple[str, ...]  # a name and the attributes that are taken of it, one after the other


@dataclass
class Mentions:
    """What a function mentions."""

    names: set[str]  # that may be globals or variables of an enclosing function
    chains: set[Chain]
    innards: set[str] = field(default_factory=set)
    imports: bool = False


def normal(source: str) -> str:
    """Source without comments and layout."""
    return ast.unparse(ast.parse(textwrap.dedent(source)))


def in_source(source: str) -> Mentions:
    """What source mentions."""
    nodes = list(ast.walk(ast.parse(source)))
    inner = {id(n.value) for n in nodes if isinstance(n, ast.Attribute)}
    return Mentions(
        names={n.id for n in nodes if isinstance(n, ast.Name)},
        chains={chain for n in nodes if id(n) not in inner for chain in [_chain(n)] if chain},
        innards={n.attr for n in nodes if isinstance(n, ast.Attribute)} & _INNARDS,
    )


def in_bytecode(code: types.CodeType) -> Mentions:
    """What bytecode mentions; names of attributes count as names as well, since bytecode mixes them."""
    codes = list(_codes(code))
    names = {n for c in codes for n in (*c.co_names, *c.co_freevars)}
    instructions = [list(dis.get_instructions(c)) for c in codes]
    return Mentions(
        names=names,
        chains={chain for listed in instructions for chain in _chains(listed)},
        innards=names & _INNARDS,
        imports=any(op.opname == "IMPORT_NAME" for listed in instructions for op in listed),
    )


def text_of(code: types.CodeType) -> str:
    """Bytecode as a text that is the same in every process."""
    constants = [text_of(k) if isinstance(k, types.CodeType) else _constant(k) for k in code.co_consts]
    shape = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    return repr((shape, code.co_code, code.co_names, code.co_varnames, code.co_freevars, constants))


def _chain(node: ast.AST) -> Chain | None:
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    return (node.id, *reversed(attributes)) if isinstance(node, ast.Name) else None


def _chains(instructions: list[dis.Instruction]) -> Iterator[Chain]:
    for at, op in enumerate(instructions):
        if op.opname in _LOADS:
            chain = [op.argval]
            for following in instructions[at + 1 :]:
                if following.opname not in _ATTRIBUTES:
                    break
                chain.append(following.argval)
            yield tuple(chain)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _constant(value: object) -> str:
    """A literal; a set of literals has no order that would hold from one process to the next."""
    return "set %s" % sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)
