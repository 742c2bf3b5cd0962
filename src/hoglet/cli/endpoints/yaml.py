"""YAML of endpoints' files: dates stay text, no key is there twice, errors name their line."""

import re
from pathlib import Path
from typing import Any, override

import yaml

from hoglet.kit.errors import HogletError

_TIMESTAMP = "tag:yaml.org,2002:timestamp"
_IN_QUERY = re.compile(r"query: (\d+):\d+: ")


class BadFile(HogletError):
    """A file of an endpoint cannot be read, or the server refused what it says."""

    code = "bad_endpoint_file"
    blame = "author"


def load(path: Path) -> Any:
    """What a file holds.

    Raises:
        BadFile: it cannot be read, or is not YAML; with line and column.
    """
    try:
        return yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506 (a safe one)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise BadFile(f"{path}{where}: {error.problem or error}.") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadFile(f"{path}: {error}") from None


def place_of(path: Path, key: str | None, detail: str = "") -> str:
    """``endpoints/a.yaml:7``: where a file says what an error is about; else its path alone.

    Args:
        path: a file that ``load`` can read.
        key: the key, or the path of a field below it (``query__series``).
        detail: of the error; a line that it names counts from the begin of the query.
    """
    root = yaml.compose(path.read_text(encoding="utf-8"), _Loader)
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


class _Loader(yaml.SafeLoader):
    @override
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set[str]()
        for name, _ in node.value:
            if name.value in seen:
                problem = f"{name.value} is there twice"
                raise yaml.constructor.ConstructorError(None, None, problem, name.start_mark)
            seen.add(str(name.value))
        return super().construct_mapping(node, deep)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
