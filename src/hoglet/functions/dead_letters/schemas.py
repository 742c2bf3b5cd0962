"""Parameters, bodies and responses of the dead-letter routes."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, TypedDict, get_args
from uuid import UUID

from hoglet.functions.dead_letters.repository import DeadLetterFilter
from hoglet.functions.json_types import Globals
from hoglet.functions.types import DeadLetterClass
from hoglet.kit.clock import parse_instant
from hoglet.kit.errors import Invalid
from hoglet.kit.json import JsonObject, is_array
from hoglet.web.openapi import documented
from hoglet.web.validation import NOT_BOOLEAN, not_a_list

CLASSES: tuple[DeadLetterClass, ...] = get_args(DeadLetterClass.__value__)
_SELECTION_KEYS = ("ids", "class", "after", "before", "all", "dry_run")
_TRUE, _FALSE = frozenset({"true", "1"}), frozenset({"false", "0"})


_WithClass = TypedDict("_WithClass", {"class": DeadLetterClass})


@documented
class DeadLetterObject(_WithClass):
    """A failed run, stored for inspection and redrive."""

    id: str
    invocation_id: str
    event_uuid: str | None
    event: str | None
    distinct_id: str | None
    attempts: int
    error: str
    first_failed_at: str
    last_failed_at: str
    redriven_at: str | None


@documented
class DeadLetterDetail(DeadLetterObject):
    """A dead letter with the globals of its run."""

    globals: Globals


@documented
class RedriveResult(TypedDict):
    """How many dead letters were queued to run again, and how many were not."""

    queued: int
    skipped: int


def read_filters(query: Mapping[str, str]) -> DeadLetterFilter:
    """Parse the parameters of the list.

    Raises:
        Invalid: an unknown class, an invalid time or boolean; attr is the parameter.
    """
    return DeadLetterFilter(
        classes=read_classes(query.get("class")),
        after=read_instant(query.get("after") or None, "after"),
        before=read_instant(query.get("before") or None, "before"),
        redriven=_boolean(query.get("redriven")),
    )


def read_classes(value: Any) -> list[str]:
    """Parse classes, as a comma-separated or JSON list.

    Raises:
        Invalid: code ``invalid_choice``, attr ``class``.
    """
    parts = value.split(",") if isinstance(value, str) else [] if value is None else value
    if not is_array(parts):
        raise Invalid("A list of classes is required.", attr="class")
    classes = [part.strip() if isinstance(part, str) else part for part in parts]
    for item in classes:
        if item and item not in CLASSES:
            detail = f'"{item}" is not a valid choice.'
            raise Invalid(detail, code="invalid_choice", attr="class")
    return [item for item in classes if item]


def read_instant(value: Any, attr: str) -> datetime | None:
    """Parse an ISO time; None for None.

    Raises:
        Invalid: not a valid time.
    """
    if value is None:
        return None
    moment = parse_instant(value) if isinstance(value, str) else None
    if moment is None:
        raise Invalid("Enter an ISO 8601 time.", attr=attr)
    return moment


def _boolean(text: str | None) -> bool | None:
    lowered = (text or "").lower()
    if lowered in _TRUE:
        return True
    if lowered and lowered not in _FALSE:
        raise Invalid(NOT_BOOLEAN, attr="redriven")
    return False if lowered else None


def read_selection(body: JsonObject) -> DeadLetterFilter:
    """Parse the selection of dead letters to redrive.

    Raises:
        Invalid: nothing is selected, or the selection is invalid. Unknown keys are rejected,
            because ignoring one could redrive more than was requested.
    """
    for name in body:
        if name not in _SELECTION_KEYS:
            raise Invalid(f'A redrive has no option "{name}".', attr=name)
    ids, after, before = body.get("ids"), body.get("after"), body.get("before")
    classes, everything = read_classes(body.get("class")), body.get("all")
    if ids is not None and not is_array(ids):
        raise Invalid(not_a_list(ids), code="not_a_list", attr="ids")
    if everything is not None and not isinstance(everything, bool):
        raise Invalid(NOT_BOOLEAN, attr="all")
    is_filtered = bool(classes) or after is not None or before is not None
    has_ids, is_all = bool(ids), bool(everything)
    if has_ids + is_all + is_filtered > 1:
        raise Invalid('Select dead letters by "ids", by filters or with "all", not by several.')
    if ids:
        return DeadLetterFilter(ids=list(dict.fromkeys(_ids(ids))))
    if is_all:
        return DeadLetterFilter()
    if not is_filtered:
        raise Invalid(
            'Select dead letters by "ids", by "class", "after" and "before", or with "all".'
        )
    return DeadLetterFilter(
        classes=classes,
        after=read_instant(after, "after"),
        before=read_instant(before, "before"),
    )


def _ids(ids: Iterable[Any]) -> list[UUID]:
    valid: list[UUID] = []
    for item in ids:
        try:
            valid.append(UUID(str(item)))
        except ValueError:
            raise Invalid(f'"{item}" is not the id of a dead letter.', attr="ids") from None
    return valid
