"""Compiles functions' Hog: bytecode, templates, site code. Pure.

Handles untrusted text, so it runs in a sandbox worker (``worker_operations.py``).
"""

import re
from typing import Any

import msgspec

from hoglet.functions.filters.roots import global_paths
from hoglet.hog import bytecode
from hoglet.hog.compile import bind_expression, bind_program
from hoglet.kit.errors import Invalid, SourceError
from hoglet.kit.json import is_tuple
from hoglet.syntax import tree
from hoglet.syntax.parse import parse_program, parse_template

_LIQUID_REFERENCE = re.compile(r"\binputs\.([A-Za-z_$][\w$]*)|\binputs\[['\"]([^'\"]+)['\"]\]")


class CompiledTemplate(msgspec.Struct, frozen=True):
    """A compiled template.

    Attributes:
        bytecode: ``["_H", 1, ...]``.
        roots: the globals it reads, e.g. ``{"event", "inputs"}``.
        calls: the functions it calls.
        references: the other inputs it reads.
    """

    bytecode: list[Any]
    roots: set[str]
    calls: set[str]
    references: set[str]


def program_bytecode(source: str) -> list[Any]:
    """Compile the code of a Hog function.

    Raises:
        Invalid: attr ``hog``, with the compiler's message and position.
    """
    try:
        program = parse_program(source)
        _refuse_hyphens(program, source)
        return bytecode.program_bytecode(bind_program(program))
    except SourceError as error:
        raise Invalid(f"The Hog code has errors. {error.advice}", attr="hog") from None


def expression_bytecode(expression: "tree.Expression") -> list[Any]:
    """Compile a generated tree, such as a filter, to bytecode.

    Raises:
        SourceError: it does not compile.
    """
    return bytecode.expression_bytecode(bind_expression(expression))


def read_template(text: str, *, with_record: bool = False) -> CompiledTemplate:
    """Compile a template.

    Args:
        text: ``Hello {person.name}``.
        with_record: ``record.x`` means ``event.properties.x`` (warehouse sources).

    Raises:
        SourceError: it does not compile.
    """
    parsed = template_tree(text, with_record=with_record)
    bound = bind_expression(parsed)
    return CompiledTemplate(
        bytecode=bytecode.expression_bytecode(bound),
        roots=set(bound.global_reads),
        calls=set(bound.global_calls),
        references=_references(parsed),
    )


def template_tree(text: str, *, with_record: bool = False) -> "tree.Expression":
    """Parse a template.

    Raises:
        SourceError: it does not parse.
    """
    parsed = parse_template(text)
    return _record_as_properties(parsed) if with_record else parsed


def liquid_references(text: str) -> set[str]:
    """The other inputs that a Liquid template reads."""
    return {first or second for first, second in _LIQUID_REFERENCE.findall(text)}


def _references(parsed: "tree.Expression") -> set[str]:
    paths = global_paths(parsed)
    keys = {str(path[1]) for path in paths if path[0] == "inputs" and len(path) > 1}
    for node in _accesses(parsed):
        keys.add(node)
    return keys


def _accesses(value: Any) -> set[str]:
    """The keys of all ``inputs['key']`` in a tree."""
    keys: set[str] = set()
    if isinstance(value, tree.ArrayAccess) and isinstance(value.property, tree.Constant):
        base = value.array
        if isinstance(base, tree.Field) and base.chain == ("inputs",):
            keys.add(str(value.property.value))
    if isinstance(value, tree.Node):
        for name in value.__struct_fields__:
            keys |= _accesses(getattr(value, name))
    elif is_tuple(value):
        for item in value:
            keys |= _accesses(item)
    return keys


def _record_as_properties(value: Any) -> Any:
    if isinstance(value, tree.Field) and value.chain and value.chain[0] == "record":
        chain = ("event", "properties", *value.chain[1:])
        return msgspec.structs.replace(value, chain=chain)
    if isinstance(value, tree.Node):
        changed = {
            name: _record_as_properties(getattr(value, name)) for name in value.__struct_fields__
        }
        return msgspec.structs.replace(value, **changed)
    if is_tuple(value):
        return tuple(_record_as_properties(item) for item in value)
    return value


def _refuse_hyphens(value: Any, source: str) -> None:
    """Reject ``event.utm-source``: it is a subtraction, which is never intended."""
    if isinstance(value, tree.ArithmeticOperation) and value.op == "-":
        _refuse_hyphen(value, source)
    if isinstance(value, tree.Node):
        for name in value.__struct_fields__:
            _refuse_hyphens(getattr(value, name), source)
    elif is_tuple(value):
        for item in value:
            _refuse_hyphens(item, source)


def _refuse_hyphen(value: tree.ArithmeticOperation, source: str) -> None:
    left, right = value.left, value.right
    if not isinstance(left, tree.Field) or not isinstance(right, tree.Field):
        return
    if len(left.chain) < 2 or left.end is None or right.start is None:
        return
    if source[left.end.offset : right.start.offset] != "-":
        return
    base = ".".join(str(part) for part in left.chain[:-1])
    name = f"{left.chain[-1]}-{right.chain[0]}"
    raise Invalid(
        f"A hyphen means subtraction. To read the property {name} write {base}['{name}'].",
        attr="hog",
    )
