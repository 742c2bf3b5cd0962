"""The project's own settings, ``hoglet.yaml``.

::

    name: Shop
    timezone: Europe/Berlin
    week_start_day: 1
    test_account_filters:
      - {key: email, type: person, operator: not_icontains, value: "@example.com"}
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

from hoglet.kit.clock import timezone_names
from hoglet.kit.json import same_json
from hoglet.project_files.documents import Document, SettingsDocument
from hoglet.project_files.formats.yaml_files import BadFile, load, place_of


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_list_of(kind: type, value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, kind) for item in value)


_VALUES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "name": (_is_text, "a string"),
    "timezone": (
        lambda value: _is_text(value) and value in timezone_names(),
        "the name of a time zone, such as Europe/Berlin",
    ),
    "week_start_day": (
        lambda value: type(value) is int and value in {0, 1},
        "0 for Sunday or 1 for Monday",
    ),
    "test_account_filters": (partial(_is_list_of, dict), "a list of property filters"),
    "person_display_name_properties": (
        lambda value: value is None or _is_list_of(str, value),
        "a list of property names",
    ),
}
SETTINGS = tuple(_VALUES)
_DEFAULTS = {
    "timezone": "UTC",
    "week_start_day": 0,
    "test_account_filters": [],
    "person_display_name_properties": None,
}


def read_settings(path: Path) -> SettingsDocument:
    """Read the settings in a file; omitted keys are absent.

    Raises:
        BadFile: invalid YAML, an unknown key, or an invalid value; with path and line.
    """
    loaded = load(path) or {}
    if not isinstance(loaded, dict):
        raise BadFile(f"{path}: the project must be a mapping with name and timezone.")
    unknown = [str(key) for key in loaded if key not in _VALUES]
    if unknown:
        position = place_of(path, unknown[0])
        raise BadFile(f"{position}: unknown {', '.join(unknown)}. Known: {', '.join(SETTINGS)}.")
    for key, value in loaded.items():
        is_right, words = _VALUES[key]
        if not is_right(value):
            raise BadFile(f"{place_of(path, key)}: {key} must be {words}.")
    return cast("SettingsDocument", loaded)


def merged_settings(path: Path, stored: SettingsDocument) -> Document:
    """What the file holds after a pull: defaults are written only where the file has them.

    Args:
        path: of the file; a new one gets all settings of the server.
        stored: the settings of the server, which omits some defaults.
    """
    written: dict[str, Any] = (load(path) or {}) if path.exists() else {"timezone": "UTC"}
    merged = {**_DEFAULTS, **stored}
    return {
        key: written[key] if same_json(written.get(key), merged[key]) else merged[key]
        for key in dict.fromkeys([*stored, *written])
        if key in written or not same_json(merged[key], _DEFAULTS.get(key))
    }
