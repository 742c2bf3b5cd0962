"""Reads and writes YAML of project files: dates stay strings, duplicate keys are errors."""

import re
from pathlib import Path
from typing import Any, override

import yaml

from hoglet.kit.errors import HogletError

_TIMESTAMP = "tag:yaml.org,2002:timestamp"
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
        return yaml.load(text, Loader)  # noqa: S506 (a safe one)
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
    node = _value(root, (key or "").partition("__")[0])
    if node is None:
        return str(path)
    inner, named = _value(node, "query") or node, _IN_QUERY.search(detail)
    if named is None or not isinstance(inner, yaml.ScalarNode):
        return f"{path}:{node.start_mark.line + 1}"
    is_block = inner.style in ("|", ">")  # the text starts on the line after the mark
    return f"{path}:{inner.start_mark.line + is_block + int(named[1])}"


def _value(node: yaml.Node | None, key: str) -> yaml.Node | None:
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return next((value for name, value in pairs if name.value == key), None)


class Loader(yaml.SafeLoader):
    """Reads dates as strings and rejects duplicate keys."""

    @override
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set[str]()
        for name, _ in node.value:
            if not isinstance(name, yaml.ScalarNode):
                problem = "a key must be a text"
                raise yaml.constructor.ConstructorError(None, None, problem, name.start_mark)
            if name.value in seen:
                problem = f"{name.value} is defined twice"
                raise yaml.constructor.ConstructorError(None, None, problem, name.start_mark)
            seen.add(str(name.value))
        return super().construct_mapping(node, deep)


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def dump(document: Any) -> str:
    """Format as YAML: keys in their order, multi-line strings as blocks."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


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
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
