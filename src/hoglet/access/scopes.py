"""Scopes of keys: ``object:read``, ``object:write`` or ``*``.

Source: docs/spec/data-and-queries.md#5-keys.
"""

import re
from collections.abc import Iterable, Sequence

from hoglet.access.principals import ANY_SCOPE, Principal
from hoglet.kit.errors import Forbidden, Invalid
from hoglet.kit.suggestions import near

OBJECTS = (
    "action",
    "activity_log",
    "cohort",
    "endpoint",
    "event_definition",
    "file_system",
    "group",
    "hog_function",
    "ingestion_warning",
    "insight_variable",
    "integration",
    "organization",
    "person",
    "project",
    "property_definition",
    "query",
    "user",
)
_FORM = re.compile(r"[a-z][a-z_]*:(read|write)")
SCOPES = frozenset(f"{thing}:{action}" for thing in OBJECTS for action in ("read", "write"))
SECRET_KEY_SCOPES = frozenset({"endpoint:read", "query:read"})
"""The scopes that a project secret key can have."""


def check_scopes(scopes: Sequence[str], allowed: Iterable[str] = (*SCOPES, ANY_SCOPE)) -> None:
    """Reject an empty list and unknown scopes.

    Raises:
        Invalid: attr ``scopes``; names the first unknown scope and the nearest valid one.
    """
    known = frozenset(allowed)
    if not scopes:
        raise Invalid(f"A key needs at least one scope.{_help(known)}", attr="scopes")
    for scope in scopes:
        if scope not in known:
            hint = near(scope, sorted(known - {ANY_SCOPE})) or _help(known)
            raise Invalid(
                f'"{scope}" is not a valid scope for this kind of key.{hint}', attr="scopes"
            )


def check_form(scopes: Sequence[str]) -> None:
    """Reject malformed and misspelled scopes given on the command line.

    Those of objects that hoglet does not have are valid.

    Raises:
        Invalid: attr ``scopes``.
    """
    wrong = [scope for scope in scopes if scope != ANY_SCOPE and not _FORM.fullmatch(scope)]
    if wrong or not scopes:
        problem = f"Not a scope: {', '.join(wrong)}." if wrong else "Give --scopes."
        raise Invalid(f"{problem}{_help(frozenset({ANY_SCOPE}))}", attr="scopes")
    for scope in scopes:
        hint = "" if scope in (*SCOPES, ANY_SCOPE) else near(scope.partition(":")[0], OBJECTS)
        if hint:
            raise Invalid(f"{scope} is the scope of no object.{hint}", attr="scopes")


def check_grant(principal: Principal, scopes: Iterable[str]) -> None:
    """Reject scopes that the caller's own key does not have.

    Raises:
        Forbidden: naming the first one.
    """
    for scope in scopes:
        if not principal.may(scope):
            raise Forbidden(f"This key cannot grant the scope '{scope}', which it does not have.")


def _help(known: frozenset[str]) -> str:
    if ANY_SCOPE in known:
        return " Scopes look like hog_function:read or endpoint:write, or * for everything."
    return f" Use: {', '.join(sorted(known))}."
