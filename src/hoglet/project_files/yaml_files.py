"""YAML of project files: dates stay text, no key is there twice, errors name their line."""

import re
from pathlib import Path
from typing import Any, override

import yaml

from hoglet.kit.errors import HogletError

_TIMESTAMP = "tag:yaml.org,2002:timestamp"
_IN_QUERY = re.compile(r"query: (\d+):\d+: ")


class BadFile(HogletError):
    """A file of a project cannot be read, or the server refused what it says."""

    code = "bad_project_file"
    blame = "author"


def load(path: Path) -> Any:
    """What a file holds.

    Raises:
        BadFile: it cannot be read, or is not YAML; with line and column.
    """
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader)  # noqa: S506 (a safe one)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise BadFile(f"{path}{where}: {error.problem or error}.") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadFile(f"{path}: {error}") from None


def load_text(text: str) -> Any:
    """What a text holds; errors are PyYAML's."""
    return yaml.load(text, Loader)  # noqa: S506 (a safe one)


def place_of(path: Path, key: str | None, detail: str = "") -> str:
    """``endpoints/a.yaml:7``: where a file says what an error is about; else its path alone.

    Args:
        path: a file that ``load`` can read.
        key: the key, or the path of a field below it (``query__series``).
        detail: of the error; a line that it names counts from the begin of the query.
    """
    root = yaml.compose(path.read_text(encoding="utf-8"), Loader)
    node = _value(root, (key or "").partition("__")[0])
    if node is None:
        return str(path)
    inner, named = _value(node, "query") or node, _IN_QUERY.search(detail)
    if named is None or not isinstance(inner, yaml.ScalarNode):
        return f"{path}:{node.start_mark.line + 1}"
    is_block = inner.style in ("|", ">")  # the text begins on the line after the mark
    return f"{path}:{inner.start_mark.line + is_block + int(named[1])}"


def _value(node: yaml.Node | None, key: str) -> yaml.Node | None:
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return next((value for name, value in pairs if name.value == key), None)


class Loader(yaml.SafeLoader):
    """Reads dates as text and refuses a key that is there twice."""

    @override
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set[str]()
        for name, _ in node.value:
            if name.value in seen:
                problem = f"{name.value} is there twice"
                raise yaml.constructor.ConstructorError(None, None, problem, name.start_mark)
            seen.add(str(name.value))
        return super().construct_mapping(node, deep)


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def dump(document: Any) -> str:
    """YAML in one style: keys in their order, texts of several lines as blocks."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


class _Dumper(yaml.SafeDumper):
    """Texts of several lines as blocks; lists under their key, indented; no aliases."""

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
