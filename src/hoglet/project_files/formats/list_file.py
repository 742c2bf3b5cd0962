"""Lists of objects in one file: ``actions.yaml`` and ``cohorts.yaml``."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hoglet.kit.json import same_json
from hoglet.project_files.documents import Document
from hoglet.project_files.formats import function_file
from hoglet.project_files.formats.difference import comparable
from hoglet.project_files.formats.yaml_files import BadFile, load, place_of_item

ACTIONS, COHORTS = "actions.yaml", "cohorts.yaml"


class ListFile(NamedTuple):
    """The file of a kind of objects, and the keys of its items."""

    name: str
    keys: tuple[str, ...]


LISTS: Mapping[str, ListFile] = {
    "action": ListFile(ACTIONS, ("name", "description", "steps")),
    "cohort": ListFile(COHORTS, ("name", "description", "filters")),
}


def read_list(folder: Path, kind: str) -> dict[str, Document]:
    """The objects of a kind by name, without defaults.

    Raises:
        BadFile: not a list of mappings with names; the message has the file and the line.
    """
    keys = LISTS[kind].keys
    return {
        name: {
            key: function_file.without_defaults(item[key])
            for key in keys
            if item.get(key) not in (None, "", [], {})
        }
        for name, item in _read_items(folder, kind).items()
    }


def merged_list(
    folder: Path, kind: str, here: Mapping[str, Document], there: Mapping[str, Document]
) -> list[Document]:
    """The items of the file: in its order, those that are equal as they are, new ones at the end.

    Args:
        folder: of the project.
        kind: ``action`` or ``cohort``.
        here: the objects of the files that are kept, by name.
        there: those of the server.
    """
    written = _read_items(folder, kind)
    merged = {**here, **there}

    def item(name: str) -> Document:
        is_same = name in here and same_json(
            comparable(kind, here[name]), comparable(kind, merged[name])
        )
        return written[name] if is_same and name in written else merged[name]

    in_file = [name for name in written if name in merged]
    return [item(name) for name in dict.fromkeys([*in_file, *sorted(merged)])]


def place_in_list(folder: Path, kind: str, name: str) -> str:
    """The line of an action or a cohort: ``cohorts.yaml:7``."""
    path = folder / LISTS[kind].name
    return place_of_item(path, [item["name"] for item in load(path)].index(name))


def _read_items(folder: Path, kind: str) -> dict[str, Document]:
    """The items of a file as they are written, by name."""
    path, keys = folder / LISTS[kind].name, LISTS[kind].keys
    loaded: Any = (load(path) if path.exists() else None) or []
    if not isinstance(loaded, list) or not all(isinstance(item, dict) for item in loaded):
        raise BadFile(f"{path}: must be a list of mappings with {', '.join(keys)}.")
    items: dict[str, Document] = {}
    for number, item in enumerate(loaded):
        problem = _problem_of(item, keys, items)
        if problem:
            raise BadFile(f"{place_of_item(path, number)}: {problem}")
        items[item["name"]] = item
    return items


def _problem_of(item: Document, keys: tuple[str, ...], others: Collection[str]) -> str | None:
    unknown = [str(key) for key in item if key not in keys]
    if unknown:
        return f"unknown {', '.join(unknown)}. Known: {', '.join(keys)}."
    name = item.get("name")
    if not isinstance(name, str) or not name:
        return "every item needs a name."
    return f"two items have the name {name}." if name in others else None
