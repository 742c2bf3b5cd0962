"""The change history of a function, with restore."""

from difflib import unified_diff
from typing import Any

import orjson
from nicegui import ui

from hoglet.console.api_client import Backend
from hoglet.console.records.project import ActivityRecord, FieldChangeRecord
from hoglet.console.source_excerpt import diff_block
from hoglet.console.widgets import empty, exact_time, failed, notify

_PAGE = 50
_GENERATED = frozenset({"bytecode", "transpiled"})


async def history_panel(backend: Backend, path: str) -> None:
    """The newest changes; each can be restored.

    Args:
        backend: API client of the signed-in user.
        path: the path of the function, ``/hog_functions/<id>``.
    """

    async def restore(entry: ActivityRecord) -> None:
        reply = await backend.send("POST", f"{path}/restore", {"activity_id": entry["id"]})
        if notify(reply, "Restored. The history has a new entry."):
            ui.navigate.reload()

    reply = await backend.get(f"{path}/activity", limit=_PAGE)
    if not reply.is_good:
        failed(reply)
    elif not reply.body["results"]:
        empty("No changes yet", "Every change is recorded here, with secrets masked.", "history")
    for index, entry in enumerate(reply.body["results"] if reply.is_good else []):
        _entry(entry, restore if index else None, backend.zone)


def _entry(entry: ActivityRecord, restore: Any, zone: str) -> None:
    user = entry["user"] or {}
    who = user.get("email") or user.get("first_name") or "hoglet"
    title = f"{exact_time(entry['created_at'], zone)} · {entry['activity']} · {who}"
    with ui.expansion(title, value=restore is None).classes("w-full").mark("history-entry"):
        changes = entry["detail"].get("changes") or []
        if not changes:
            ui.label("No earlier values.").classes("muted")
        for change in changes:
            change_block(change)
        if restore is not None:
            ui.button("Restore this state", icon="restore", on_click=lambda: restore(entry)).props(
                "flat no-caps"
            )


def change_block(change: FieldChangeRecord) -> None:
    """A changed field of a record, and the diff of its values."""
    ui.label(str(change["field"])).classes("text-sm font-medium opacity-70")
    diff_block(difference(change["before"], change["after"]))


def difference(before: Any, after: Any) -> str:
    r"""A unified diff of two stored values without its file header.

    Example:
        >>> difference("let a := 1\nreturn a", "let a := 2\nreturn a").splitlines()[1:3]
        ['-let a := 1', '+let a := 2']
    """
    old, new = (_text(value).splitlines() for value in (before, after))
    return "\n".join(list(unified_diff(old, new, lineterm=""))[2:])


def _text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return orjson.dumps(written(value), option=orjson.OPT_INDENT_2).decode()


def written(value: Any) -> Any:
    """A stored value without generated keys."""
    if isinstance(value, dict):
        return {name: written(member) for name, member in value.items() if name not in _GENERATED}
    return [written(each) for each in value] if isinstance(value, list) else value
