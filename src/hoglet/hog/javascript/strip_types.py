"""Converts TypeScript of site functions to JavaScript: erases types, turns exports into a return.

The grammar is tree-sitter's; no Node is needed. Erased text keeps its line breaks, so that lines of
the result are lines of the source. Other constructs are rewritten (enums, parameter properties) or
rejected (imports, namespaces, decorators).

Source: docs/spec/hog-functions.md#32-compilation, docs/spec/hog-language.md#14-javascript.
"""

from collections.abc import Callable, Iterator
from functools import cache

import tree_sitter_typescript
from tree_sitter import Language, Node, Parser

from hoglet.kit.errors import SourceError, SourceSpan
from hoglet.syntax.limits import check_text
from hoglet.syntax.source_span import source_span

_ERASED = frozenset(
    ["type_annotation", "type_parameters", "type_arguments", "type_predicate_annotation",
     "asserts_annotation", "implements_clause", "accessibility_modifier", "override_modifier",
     "interface_declaration", "type_alias_declaration", "ambient_declaration", "function_signature",
     "abstract_method_signature", "method_signature", "index_signature"]
)  # fmt: skip
_REFUSED = {
    "internal_module": "Namespaces are not supported",
    "module": "Modules are not supported",
    "import_alias": "Imports are not supported",
    "decorator": "Decorators are not supported",
}
_OPTIONAL_PARENTS = frozenset(
    ["optional_parameter", "public_field_definition", "method_definition", "property_signature"]
)
_DEFINITE_PARENTS = frozenset(
    ["variable_declarator", "public_field_definition", "non_null_expression"]
)
_MODIFIER_PARENTS = frozenset(
    ["public_field_definition", "abstract_class_declaration", "required_parameter",
     "optional_parameter", "abstract_class", "method_definition"]
)  # fmt: skip


def transpile_site_source(source: str) -> str:
    """JavaScript of a site function's TypeScript, as the body of a function.

    ``export function onLoad() {}`` becomes ``function onLoad() {}`` with
    ``return { "onLoad": onLoad };`` at the end.

    Raises:
        SourceError: it is not TypeScript, needs what is not supported, or is too long.
    """
    check_text(source)
    root = _parser().parse(source.encode()).root_node
    if root.has_error:
        raise _syntax_error(source, root)
    return _TypeStripper(source).run(root)


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_typescript.language_typescript()))


def _walk(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(reversed(current.children))


def _syntax_error(source: str, root: Node) -> SourceError:
    node = next((each for each in _walk(root) if each.is_error or each.is_missing), root)
    text = (node.text or b"").decode().split("\n")[0][:40]
    message = f"`{node.type}` expected" if node.is_missing else f"Unexpected `{text}`"
    return SourceError(message, _span_of(source, node))


def _span_of(source: str, node: Node) -> SourceSpan:
    encoded = source.encode()
    start = len(encoded[: node.start_byte].decode())
    end = len(encoded[: node.end_byte].decode())
    return source_span(source, start, end)


def _imports_types_only(node: Node) -> bool:
    """``import type { A } from 'b'`` and ``import { type A } from 'b'``."""
    if any(child.type == "type" for child in node.children):
        return True
    clause = next((child for child in node.children if child.type == "import_clause"), None)
    if clause is None or [child.type for child in clause.named_children] != ["named_imports"]:
        return False
    specifiers = clause.named_children[0].named_children
    return bool(specifiers) and all(
        specifier.children[0].type == "type" for specifier in specifiers
    )


class _TypeStripper:
    def __init__(self, source: str) -> None:
        self._source = source
        self._bytes = source.encode()
        self._edits: list[tuple[int, int, str]] = []
        self._exports: list[tuple[str, str]] = []

    def run(self, root: Node) -> str:
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if not self._visit(node):
                waiting.extend(reversed(node.children))
        return self._apply()

    def _visit(self, node: Node) -> bool:
        """Record the edits for ``node``; returns whether to skip its children."""
        if node.type in _REFUSED:
            self._refuse(node, _REFUSED[node.type])
        if node.type in _ERASED:
            self._erase(node.start_byte, node.end_byte)
            return True
        if self._is_loose_type_token(node):
            self._erase(node.start_byte, node.end_byte)
            return True
        rule = _RULES.get(node.type)
        return rule(self, node) if rule else False

    def _is_loose_type_token(self, node: Node) -> bool:
        parent = node.parent.type if node.parent else ""
        return (
            (node.type == "?" and parent in _OPTIONAL_PARENTS)
            or (node.type == "!" and parent in _DEFINITE_PARENTS)
            or (node.type in {"abstract", "readonly", "declare"} and parent in _MODIFIER_PARENTS)
        )

    def _cast(self, node: Node) -> bool:
        """``value as Type``, ``value satisfies Type``: keep the value."""
        value = node.children[0]
        self._erase(value.end_byte, node.end_byte)
        if not self._visit(value):
            self._visit_children(value)
        return True

    def _field(self, node: Node) -> bool:
        kinds = {child.type for child in node.children}
        if kinds & {"declare", "abstract"}:
            self._erase(node.start_byte, node.end_byte)
            return True
        return False

    def _parameter(self, node: Node) -> bool:
        """Erase a ``this`` parameter with its comma."""
        if node.children[0].type != "this":
            return False
        after = node.next_sibling
        end = after.end_byte if after and after.type == "," else node.end_byte
        self._erase(node.start_byte, end)
        return True

    def _method(self, node: Node) -> bool:
        """A constructor assigns its parameter properties: ``constructor(private a: T)``."""
        parameters = node.child_by_field_name("parameters")
        body = node.child_by_field_name("body")
        if parameters is None or body is None:
            return False
        names = [
            self._text(parameter.child_by_field_name("pattern"))
            for parameter in parameters.named_children
            if any(
                child.type in {"accessibility_modifier", "readonly"} for child in parameter.children
            )
        ]
        if names:
            calls = [node for node in body.named_children if self._text(node).startswith("super(")]
            at = calls[0].end_byte if calls else body.start_byte + 1
            text = "".join(f" this.{name} = {name};" for name in names)
            self._edits.append((at, at, f";{text}" if calls else text))
        return False

    def _enum(self, node: Node) -> bool:
        name = self._text(node.child_by_field_name("name"))
        lines = "\n" * self._text(node).count("\n")
        members: list[str] = []
        previous = "-1"
        body = node.child_by_field_name("body")
        for member in body.named_children if body else ():
            previous = self._enum_member(name, member, previous, members)
        text = f"(function ({name}) {{ {' '.join(members)} return {name}; }})({{}})"
        self._replace(node, f"var {name} = {text};{lines}")
        return True

    def _enum_member(self, name: str, member: Node, previous: str, members: list[str]) -> str:
        key_node = member.child_by_field_name("name") or member
        key = self._text(key_node).strip("'\"")
        value_node = member.child_by_field_name("value")
        value = self._enum_value(name, value_node, members) if value_node else f"{previous} + 1"
        quoted = f'"{key}"'
        if value_node is not None and value_node.type in {"string", "template_string"}:
            members.append(f"{name}[{quoted}] = {value};")
        else:
            members.append(f"{name}[{name}[{quoted}] = {value}] = {quoted};")
        return f"{name}[{quoted}]"

    def _enum_value(self, name: str, node: Node, members: list[str]) -> str:
        """The text of a value, in which names of earlier members are read from the enum."""
        pieces, position = list[bytes](), node.start_byte
        for each in _walk(node):
            word = self._text(each)
            if each.type == "identifier" and any(f'{name}["{word}"] =' in m for m in members):
                pieces += [self._bytes[position : each.start_byte], f'{name}["{word}"]'.encode()]
                position = each.end_byte
        return b"".join([*pieces, self._bytes[position : node.end_byte]]).decode()

    def _import(self, node: Node) -> bool:
        if not _imports_types_only(node):
            self._refuse(node, "Imports are not supported")
        self._erase(node.start_byte, node.end_byte)
        return True

    def _export(self, node: Node) -> bool:
        kinds = [child.type for child in node.children]
        if "type" in kinds:
            self._erase(node.start_byte, node.end_byte)
            return True
        if "from" in kinds or "*" in kinds or "=" in kinds or node.child_by_field_name("source"):
            self._refuse(node, "This form of export is not supported")
        if "default" in kinds:
            return self._export_default(node)
        clause = next((child for child in node.children if child.type == "export_clause"), None)
        if clause is not None:
            self._export_clause(clause)
            self._erase(node.start_byte, node.end_byte)
            return True
        declaration = node.child_by_field_name("declaration")
        if declaration is not None:
            self._erase(node.start_byte, declaration.start_byte)
            self._exports.extend((name, name) for name in self._declared(declaration))
        return False

    def _export_default(self, node: Node) -> bool:
        default = next(child for child in node.children if child.type == "default")
        self._edits.append((node.start_byte, default.end_byte, "const __default ="))
        self._exports.append(("default", "__default"))
        return False

    def _export_clause(self, clause: Node) -> None:
        for specifier in clause.named_children:
            if specifier.type != "export_specifier" or specifier.children[0].type == "type":
                continue
            name = self._text(specifier.child_by_field_name("name"))
            alias = specifier.child_by_field_name("alias")
            self._exports.append((self._text(alias) if alias else name, name))

    def _declared(self, declaration: Node) -> list[str]:
        if declaration.type in {"lexical_declaration", "variable_declaration"}:
            names = [child.child_by_field_name("name") for child in declaration.named_children]
            return [word for name in names if name for word in self._bound(name)]
        if declaration.type in _ERASED:
            return []
        return [self._text(declaration.child_by_field_name("name"))]

    def _bound(self, pattern: Node) -> list[str]:
        """The names that a pattern binds: ``a``, ``{ a, b: c = 1 }``, ``[a, ...b]``."""
        if pattern.type in {"identifier", "shorthand_property_identifier_pattern"}:
            return [self._text(pattern)]
        if pattern.type == "pair_pattern":
            value = pattern.child_by_field_name("value")
            return self._bound(value) if value else []
        if pattern.type in {"assignment_pattern", "object_assignment_pattern"}:
            left = pattern.child_by_field_name("left")
            return self._bound(left) if left else []
        return [word for child in pattern.named_children for word in self._bound(child)]

    def _visit_children(self, node: Node) -> None:
        waiting = list(reversed(node.children))
        while waiting:
            child = waiting.pop()
            if not self._visit(child):
                waiting.extend(reversed(child.children))

    def _text(self, node: Node | None) -> str:
        return "" if node is None else self._bytes[node.start_byte : node.end_byte].decode()

    def _erase(self, start: int, end: int) -> None:
        self._edits.append((start, end, "\n" * self._bytes[start:end].count(b"\n")))

    def _replace(self, node: Node, text: str) -> None:
        self._edits.append((node.start_byte, node.end_byte, text))

    def _refuse(self, node: Node, message: str) -> None:
        raise SourceError(message, _span_of(self._source, node))

    def _apply(self) -> str:
        pieces: list[bytes] = []
        position = 0
        for start, end, text in sorted(self._edits):
            if start < position:  # inside an erased range
                continue
            pieces.extend([self._bytes[position:start], text.encode()])
            position = end
        pieces.append(self._bytes[position:])
        code = b"".join(pieces).decode()
        if not self._exports:
            return code
        pairs = ", ".join(f'"{name}": {value}' for name, value in self._exports)
        return f"{code.rstrip()}\nreturn {{ {pairs} }};\n"


_RULES: dict[str, Callable[[_TypeStripper, Node], bool]] = {
    "as_expression": _TypeStripper._cast,  # noqa: SLF001 (the table of this class's rules)
    "satisfies_expression": _TypeStripper._cast,  # noqa: SLF001
    "public_field_definition": _TypeStripper._field,  # noqa: SLF001
    "required_parameter": _TypeStripper._parameter,  # noqa: SLF001
    "method_definition": _TypeStripper._method,  # noqa: SLF001
    "enum_declaration": _TypeStripper._enum,  # noqa: SLF001
    "import_statement": _TypeStripper._import,  # noqa: SLF001
    "export_statement": _TypeStripper._export,  # noqa: SLF001
}
