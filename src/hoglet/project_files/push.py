"""Applies a plan: all changes, or none if the server rejects one."""

import contextlib
import os
from collections.abc import Callable
from typing import cast

from hoglet.kit.errors import HogletError
from hoglet.project_files.documents import (
    Document,
    FunctionDocument,
    SettingsDocument,
    VariableDocument,
)
from hoglet.project_files.formats.difference import comparable
from hoglet.project_files.plan import (
    Plan,
    PlannedChange,
    Verb,
    draft_with_secrets,
    sends_secrets,
    with_secrets,
)
from hoglet.project_files.server_project import ServerProject

type Undo = tuple[PlannedChange, Callable[[], None]]
"""An applied change, and the function that rolls it back."""

_NEVER_SENT = frozenset({"template_id"})  # in updates: it records the origin of a function


class PushFailed(HogletError):
    """The server refused a change; earlier changes were rolled back.

    ``change`` is the refused change, ``reason`` and ``field`` the server's; None and empty for a
    stopped push.
    """

    code = "push_failed"
    blame = "author"

    def __init__(
        self,
        detail: str,
        *,
        change: PlannedChange | None = None,
        reason: str = "",
        field: str = "",
    ) -> None:
        super().__init__(detail)
        self.change = change
        self.reason = reason
        self.field = field


def push(
    server: ServerProject,
    plan: Plan,
    should_stop: Callable[[], bool] = lambda: False,
    on_change: Callable[[int], None] = lambda _count: None,
) -> None:
    """Apply all changes in order.

    Idempotency: repeat an interrupted push; changes already made are not part of the new plan.

    Args:
        server: where to apply them.
        plan: the changes.
        should_stop: called after each change; True rolls everything back.
        on_change: called after each change with the number of changes applied.

    Raises:
        PushFailed: the server refused one, or the push was stopped. The message lists what was
            rolled back and what could not be.
    """
    undo: list[Undo] = []
    for change in plan.changes:
        try:
            _apply(server, plan, change)
        except HogletError as error:
            failed = _take_back(undo)
            left = _explain_undone(undo, failed)
            detail = f"{change}: {error.detail.rstrip('.')}. {left}"
            field = getattr(error, "field", None) or getattr(error, "attr", None) or ""
            raise PushFailed(detail, change=change, reason=error.detail, field=field) from error
        undo.append((change, lambda change=change: _revert(server, change)))
        on_change(len(undo))
        if should_stop():
            failed = _take_back(undo)
            raise PushFailed(f"The push was stopped. {_explain_undone(undo, failed)}")


class ChangedMeanwhile(HogletError):
    """Another user changed an object after the plan was made."""

    code = "changed_meanwhile"
    blame = "author"


def _apply(server: ServerProject, plan: Plan, change: PlannedChange) -> None:
    if change.before is not None and not server.is_as_read(change.kind, change.name):
        raise ChangedMeanwhile(
            "it was changed on the server in the meantime; hoglet diff shows how."
        )
    if change.verb is Verb.DELETE:
        server.delete(change.kind, change.name)
    elif change.kind == "project":
        server.update_settings({key: (change.after or {})[key] for key in change.fields})
    elif change.kind == "draft":
        body = draft_with_secrets(change, plan, server.project, os.environ)
        removed = (change.before or {}).keys() - body.keys()
        live = plan.functions[change.name]
        as_live = with_secrets(
            live, server.project.objects["function"].get(change.name), os.environ
        )
        server.save_draft(change.name, {**body, **{key: as_live[key] for key in removed}})
    elif change.verb is Verb.CREATE:
        server.create(change.kind, change.name, _body(change, change.after or {}, None))
    else:
        body = _body(change, change.after or {}, change.before)
        server.update(change.kind, change.name, _only(change, body))


def _revert(server: ServerProject, change: PlannedChange) -> None:
    before = change.before or {}
    if change.verb is Verb.CREATE:
        server.delete(change.kind, change.name)
    elif change.kind == "project":
        defaults: SettingsDocument = {"test_account_filters": [], "week_start_day": 0}
        server.update_settings({key: before.get(key, defaults.get(key)) for key in change.fields})
    elif change.kind == "draft":
        live = server.project.objects["function"][change.name]
        added = (change.after or {}).keys() - before.keys()
        body = comparable("draft", {**before, **{key: live[key] for key in added}})
        server.save_draft(change.name, body)
    elif change.verb is Verb.DELETE:
        server.undelete(change.kind, change.name, _body(change, before, None))
    else:
        if change.kind == "endpoint":
            server.endpoints.reload(change.name)
        body = comparable(change.kind, before) if change.kind == "function" else before
        server.update(
            change.kind, change.name, _only(change, body_of(change.kind, body, change.name))
        )


def _body(change: PlannedChange, document: Document, stored: Document | None) -> Document:
    if change.kind != "function":
        return body_of(change.kind, document, change.name)
    function = cast("FunctionDocument", document)
    filled = with_secrets(function, cast("FunctionDocument | None", stored), os.environ)
    return {key: value for key, value in filled.items() if value is not None or stored is not None}


def body_of(kind: str, document: Document, name: str) -> Document:
    """The body of a request that creates an object; for functions, the document itself."""
    if kind == "variable":
        return _variable_body(cast("VariableDocument", document), name)
    if kind == "action":
        return {"description": "", "steps": [], **document}
    return document


def _variable_body(document: VariableDocument, code: str) -> Document:
    body = {
        "type": document["type"],
        "default_value": document["default"],
        "name": document.get("name") or code.replace("_", " "),
    }
    if choices := document.get("choices"):
        body["values"] = choices
    if document.get("multi"):
        body["is_multi"] = True
    return body


def _only(change: PlannedChange, body: Document) -> Document:
    """The body of an update: the changed fields; endpoints and variables completely."""
    if change.kind in {"endpoint", "variable"}:
        return body
    fields = set(change.fields) - _NEVER_SENT
    if change.kind == "function" and fields & {"inputs", "inputs_schema"}:
        fields |= {"inputs", "inputs_schema"}
    return {key: body.get(key, "" if key == "description" else None) for key in sorted(fields)}


def _take_back(undo: list[Undo]) -> list[PlannedChange]:
    """Roll back changes, newest first; returns those that could not be rolled back."""
    failed: list[PlannedChange] = []
    for change, revert in reversed(undo):
        done = False
        with contextlib.suppress(HogletError):
            revert()
            done = True
        if not done:
            failed.append(change)
    return failed


def _explain_undone(undo: list[Undo], failed: list[PlannedChange]) -> str:
    if not undo:
        return "Nothing was changed."
    left = "; ".join(map(str, failed))
    text = (
        f"The earlier changes were rolled back, except: {left}."
        if failed
        else f"Nothing was changed: {len(undo)} earlier changes were rolled back."
    )
    return " ".join([text, *filter(None, (_loss(change) for change, _ in undo))])


def _loss(change: PlannedChange) -> str:
    """What a rollback of a change could not restore, as a sentence; "" if nothing."""
    if change.verb is Verb.UPDATE and sends_secrets(change, os.environ):
        return f"The secrets of {change.kind} {change.name} keep their new values."
    if change.verb is Verb.DELETE and change.kind == "endpoint":
        return f"The endpoint {change.name} has lost its earlier versions."
    return ""
