"""Reads and writes YAML of project files: dates stay strings, duplicate keys are errors."""

import math
import re
from pathlib import Path
from typing import Any, override

import yaml

from hoglet.kit.errors import HogletError

_TIMESTAMP = "tag:yaml.org,2002:timestamp"
_OTHER_BREAKS = frozenset("\x85\u2028\u2029")
_IN_QUERY = re.compile(r"query: (\d+):\d+: ")


class BadFile(HogletError):
    """A project file is invalid, or the server refused its content."""

    code = "bad_project_file"
    blame = "author"


def load(path: Path) -> Any:
    """Parse a file.

    Raises:
        BadFile: it cannot be read or is not YAML; with line and column.
    """
    try:
        return load_text(path.read_text(encoding="utf-8"))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise BadFile(f"{path}{where}: {error.problem or error}.") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadFile(f"{path}: {error}") from None


def load_text(text: str) -> Any:
    """Parse a text; raises PyYAML's errors."""
    try:
        return yaml.load(text, Loader)  # noqa: S506 (derived from SafeLoader)
    except RecursionError:
        raise yaml.YAMLError("it is nested too deeply.") from None


def place_of(path: Path, key: str | None, detail: str = "") -> str:
    """The line of a file that an error refers to, ``endpoints/a.yaml:7``; else the path alone.

    Args:
        path: a valid file.
        key: the key, or the path of a nested field (``query__series``).
        detail: the message of the error; its line numbers are relative to the query.
    """
    root = yaml.compose(path.read_text(encoding="utf-8"), Loader)
    steps = (key or "").split("__")
    node = _value(root, steps[0])
    if node is None:
        return str(path)
    inner, named = _value(node, "query") or node, _IN_QUERY.search(detail)
    if named is None or not isinstance(inner, yaml.ScalarNode):
        return f"{path}:{_deepest(node, steps[1:]).start_mark.line + 1}"
    is_block = inner.style in ("|", ">")  # a block's text starts on the line after its mark
    return f"{path}:{inner.start_mark.line + is_block + int(named[1])}"


def place_of_item(path: Path, number: int) -> str:
    """The line of the item with this index of a list: ``cohorts.yaml:7``."""
    root = yaml.compose(path.read_text(encoding="utf-8"), Loader)
    return f"{path}:{root.value[number].start_mark.line + 1}"


def _deepest(node: yaml.Node, steps: list[str]) -> yaml.Node:
    """The innermost node that the steps lead to, keys of mappings and indexes of lists."""
    for step in steps:
        inner = _value(node, step)
        if isinstance(node, yaml.SequenceNode) and step.isdecimal() and int(step) < len(node.value):
            inner = node.value[int(step)]
        if inner is None:
            break
        node = inner
    return node


def _value(node: yaml.Node | None, key: str) -> yaml.Node | None:
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return next((value for name, value in pairs if name.value == key), None)


class Loader(yaml.SafeLoader):
    """Reads dates as strings; rejects duplicate keys and values that JSON lacks."""

    @override
    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """Construct a value completely before it is returned."""
        if node in self.recursive_objects:
            raise _unreadable(node, "it contains itself")
        try:
            value = super().construct_object(node, deep=True)
        except (ValueError, LookupError, AttributeError):  # PyYAML's own, of ``!!int x``
            raise _unreadable(node, f"it cannot be read as {_kind(node)}") from None
        if isinstance(value, float) and not math.isfinite(value):
            raise _unreadable(node, "JSON has no such number")
        if isinstance(value, str) and not value.isascii():
            _check_characters(node, value)
        return value

    @override
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set[str]()
        for name, _ in node.value:
            if not isinstance(name, yaml.ScalarNode):
                raise _unreadable(name, "a key must be a string")
            if name.value in seen:
                raise _unreadable(name, f"{name.value} is defined twice")
            seen.add(str(name.value))
        return super().construct_mapping(node, deep)


def _unreadable(node: yaml.Node, problem: str) -> yaml.MarkedYAMLError:
    return yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


def _check_characters(node: yaml.Node, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _unreadable(node, "it contains a lone surrogate (half of a character)") from None


def _kind(node: yaml.Node) -> str:
    return str(node.tag).rpartition(":")[2]


_NO_JSON = frozenset(
    f"tag:yaml.org,2002:{kind}" for kind in ("binary", "timestamp", "set", "omap", "pairs")
)
Loader.yaml_constructors = {
    tag: read for tag, read in yaml.SafeLoader.yaml_constructors.items() if tag not in _NO_JSON
}
Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def dump(document: Any) -> str:
    """Format as YAML: keys in their order, multi-line strings as blocks."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


def dump_in_line(document: Any) -> str:
    """Format as YAML in one line: ``{status: 200}``."""
    return yaml.dump(
        document,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=float("inf"),
        default_flow_style=True,
    ).rstrip("\n")


class _Dumper(yaml.SafeDumper):
    """Writes multi-line strings as blocks and indents lists; no aliases."""

    @override
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, indentless=False)

    @override
    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    if not _OTHER_BREAKS.isdisjoint(text):
        style = '"'  # the only style that can escape them; others read them as line feeds
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
