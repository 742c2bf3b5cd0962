"""Updates a YAML file from a changed document and preserves its comments.

Unchanged parts keep their text. Changed keys are rewritten in place, on one line if they were on
one. Mappings and lists are compared item by item; items of lists are matched by ``name`` or
``key``, or by position if their number is the same.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

from hoglet.kit.json import same_json
from hoglet.project_files.formats.yaml_files import Loader, dump, dump_in_line, load_text

_IDENTITIES = ("name", "key")
_LINE = 100


def merge_text(text: str, document: Any) -> str:
    """Update the text of a file to the values of a document.

    Args:
        text: the current YAML of the file.
        document: the values to write.

    Returns:
        ``text`` unchanged if it already has these values.
    """
    try:
        node = yaml.compose(text, Loader)
        before = load_text(text)
    except yaml.YAMLError:
        return dump(document)
    if same_json(before, document):
        return text
    if node is None or not _can_merge(node, before, document):
        return dump(document)
    source = _Source(text)
    merged = _merge(source, node, before, document, _Place(len(source.lines), 0))
    try:
        is_right = same_json(load_text(merged), document)
    except yaml.YAMLError:
        is_right = False
    return merged if is_right else dump(document)


class _Source:
    """Lines of a text; a block reaches from its first line to the next block's first line."""

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines(keepends=True)
        if self.lines and not self.lines[-1].endswith("\n"):
            self.lines[-1] += "\n"

    def lead(self, start: int, stop: int) -> int:
        """The first of the comment and blank lines directly above line ``start``."""
        while start > stop and _is_comment(self.lines[start - 1]):
            start -= 1
        return start

    def text(self, start: int, end: int) -> str:
        return "".join(self.lines[start:end])


def _is_comment(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _can_merge(node: yaml.Node, before: Any, after: Any) -> bool:
    if isinstance(node, yaml.MappingNode):
        return not node.flow_style and isinstance(after, dict) and bool(before) and bool(after)
    if isinstance(node, yaml.SequenceNode) and isinstance(after, list) and not node.flow_style:
        is_named = _common_identity(before, after) is not None
        return bool(after) and (is_named or len(before) == len(after))
    return False


def _common_identity(before: list[Any], after: list[Any]) -> str | None:
    name = _identity(before)
    return name if name == _identity(after) else None


def _identity(items: list[Any]) -> str | None:
    """The key that identifies the items of a list; None if there is none."""
    for name in _IDENTITIES:
        values = [item.get(name) for item in items if isinstance(item, dict)]
        is_unique = len({str(value) for value in values}) == len(items)
        if items and len(values) == len(items) and None not in values and is_unique:
            return name
    return None


class _Place(NamedTuple):
    """The position of a mapping or list: it ends at line ``end``, its keys start at ``column``."""

    end: int
    column: int


class _Block(NamedTuple):
    """One key or item: its name, its node, and the lines from its first to the next block's."""

    key: Any
    node: yaml.Node
    start: int
    stop: int

    @property
    def in_line(self) -> bool:
        """Whether the value is written as ``{…}`` or ``[…]``."""
        return bool(getattr(self.node, "flow_style", False))


def _merge(source: _Source, node: yaml.Node, before: Any, after: Any, area: _Place) -> str:
    """The text of a mapping or list, including the comments above its keys."""
    if isinstance(node, yaml.MappingNode):
        entries = [(key.value, key, value) for key, value in node.value]
        old, new, write = before, after, _write_pair
    else:
        name = _common_identity(before, after)
        old, new = (
            {number if name is None else item[name]: item for number, item in enumerate(items)}
            for items in (before, after)
        )
        entries = [(key, value, value) for key, value in zip(old, node.value, strict=True)]
        write = _write_item
    starts = [key.start_mark.line for _, key, _ in entries]
    leads = _leads(source, starts, area)
    parts: list[str] = []
    for (key, _, value), lead, start, stop in zip(
        entries, leads, starts, [*leads[1:], area.end], strict=True
    ):
        parts.append(source.text(lead, start))
        if key not in new:
            parts.append(source.text(source.lead(stop, start + 1), stop))
        elif same_json(old[key], new[key]):
            parts.append(source.text(start, stop))
        else:
            block = _Block(key, value, start, stop)
            fresh = write(key, new[key], area.column, in_line=block.in_line)
            is_item = write is _write_item
            parts.append(
                _changed(source, block, old[key], new[key], is_item=is_item)
                or _anew(source, block, fresh)
            )
    parts += [
        write(key, value, area.column, in_line=False)
        for key, value in new.items()
        if key not in old
    ]
    return "".join(parts)


def _leads(source: _Source, starts: list[int], area: _Place) -> list[int]:
    """The first lines of the comments above entries that start on these lines."""
    leads = [
        source.lead(start, starts[number - 1] + 1 if number else 0)
        for number, start in enumerate(starts)
    ]
    if area.column:
        leads[0] = starts[0]  # lines above the first key belong to the enclosing block
    return leads


def _changed(
    source: _Source, block: "_Block", before: Any, after: Any, *, is_item: bool
) -> str | None:
    """The text of a changed value with its comments; None if it must be written anew."""
    merged = _merge_inside(source, block, before, after, is_item=is_item)
    if merged is None and block.in_line:
        return _edit_in_line(source, block, before, after)
    return merged


def _merge_inside(
    source: _Source, block: _Block, before: Any, after: Any, *, is_item: bool
) -> str | None:
    """The block with only its changed parts replaced; None if it must be rewritten."""
    if not _can_merge(block.node, before, after):
        return None
    inner = block.node.start_mark
    area = _Place(block.stop, inner.column)
    if is_item:
        merged = _merge(source, block.node, before, after, area)
        return source.lines[block.start][: inner.column] + merged[inner.column :]
    if inner.line == block.start:
        return None
    head = source.text(block.start, inner.line)
    return head + _merge(source, block.node, before, after, area)


def _edit_in_line(source: _Source, block: _Block, before: Any, after: Any) -> str | None:
    """The block with only the changed values of its ``{…}`` replaced; None if it gets too long."""
    if block.node.start_mark.line != block.node.end_mark.line:
        return None
    line = source.lines[block.node.start_mark.line]
    edits = sorted(_edits(block.node, before, after), reverse=True)
    for start, end, value in edits:
        line = line[:start] + dump_in_line([value])[1:-1] + line[end:]
    if len(line.partition(" #")[0].rstrip()) > _LINE:
        return None
    number = block.node.start_mark.line
    return source.text(block.start, number) + line + source.text(number + 1, block.stop)


def _edits(node: yaml.Node, before: Any, after: Any) -> Iterator[tuple[int, int, Any]]:
    """First column, end column and new value of each smallest part that changed."""
    if same_json(before, after):
        return
    if (
        isinstance(node, yaml.MappingNode)
        and isinstance(after, dict)
        and [name.value for name, _ in node.value] == [*before] == [*after]
    ):
        for name, value in node.value:
            yield from _edits(value, before[name.value], after[name.value])
    elif (
        isinstance(node, yaml.SequenceNode)
        and isinstance(after, list)
        and len(before) == len(after)
    ):
        for value, old, new in zip(node.value, before, after, strict=True):
            yield from _edits(value, old, new)
    else:
        yield node.start_mark.column, node.end_mark.column, after


def _anew(source: _Source, block: _Block, fresh: str) -> str:
    comment = _trailing_comment(source, block.node, block.start)
    if comment and fresh.count("\n") == 1:
        fresh = f"{fresh.rstrip()}{comment}\n"
    return fresh + source.text(source.lead(block.stop, block.start + 1), block.stop)


def _trailing_comment(source: _Source, node: yaml.Node, start: int) -> str:
    """The comment after a single-line value, with the space before it: ``  # why``."""
    if node.end_mark.line != start:
        return ""
    rest = source.lines[start][node.end_mark.column :].rstrip()
    return rest if rest.lstrip().startswith("#") else ""


def _write_pair(key: Any, value: Any, column: int, *, in_line: bool) -> str:
    line = dump_in_line({key: value})[1:-1] if in_line else ""
    return _line_or_block(line, {key: value}, column)


def _write_item(_key: Any, value: Any, column: int, *, in_line: bool) -> str:
    line = f"- {dump_in_line([value])[1:-1]}" if in_line else ""
    return _line_or_block(line, [value], column)


def _line_or_block(line: str, document: Any, column: int) -> str:
    fits = line and len(line) <= _LINE - column
    return _indent(f"{line}\n" if fits else dump(document), column)


def _indent(text: str, column: int) -> str:
    space = " " * column
    return "".join(space + line if line.strip() else line for line in text.splitlines(True))
