"""The function that a request refers to: a stored one, one with unsaved changes, or a new one.

Source: docs/spec/hog-functions.md#92-invocations-test-run.
"""

from typing import Any
from uuid import UUID

from hoglet.access.principals import ProjectScope
from hoglet.functions import repository
from hoglet.functions.drafts.service import fields_of, no_draft
from hoglet.functions.json_types import CompiledColumns, SentFields
from hoglet.functions.save.plan import NEW, SavePlan
from hoglet.functions.schemas import FunctionFields, read_fields
from hoglet.functions.service import FunctionService
from hoglet.functions.tables import HogFunctionRow
from hoglet.kit.errors import Invalid
from hoglet.kit.json import JsonObject, is_object
from hoglet.web.validation import NOT_BOOLEAN, not_a_dict

_FIELD_NAMES = frozenset(field.alias or name for name, field in FunctionFields.model_fields.items())
_NOT_CONFIGURED = ("template_id", "base_updated_at", "enabled", "deleted", "execution_order")


async def find_function(
    functions: FunctionService, scope: ProjectScope, function_id: str
) -> HogFunctionRow | None:
    """The stored function; None for ``new`` and for an unknown id."""
    try:
        requested = UUID(function_id)
    except ValueError:
        return None
    async with functions.database.read() as session:
        return await repository.find(session, scope.project.id, requested)


async def configured_values(
    functions: FunctionService,
    scope: ProjectScope,
    row: HogFunctionRow | None,
    configuration: JsonObject,
) -> CompiledColumns:
    """The compiled column values of a function with unsaved changes; filters need not compile.

    Raises:
        Invalid: a bad configuration (attr ``configuration__…``).
    """
    try:
        sent = read_fields(configuration)
        for name in _NOT_CONFIGURED:
            sent.pop(name, None)
        plan = _plan(functions, row, sent)
        compiled = await functions.planner.compile(scope.project, plan)
        return plan.apply(compiled, {} if row is None else row.matcher)
    except Invalid as error:
        raise of_configuration(error) from None


def requested_configuration(
    functions: FunctionService, row: HogFunctionRow | None, body: JsonObject
) -> JsonObject | None:
    """The configuration in the request, on top of the draft with ``draft: true``.

    Raises:
        Invalid: ``configuration`` is not an object, or there is no draft.
    """
    configuration = read_configuration(body)
    wants_draft = body.get("draft")
    if wants_draft is None or wants_draft is False:
        return configuration
    if wants_draft is not True:
        raise Invalid(NOT_BOOLEAN, attr="draft")
    draft = None if row is None else fields_of(functions, row)
    if draft is None:
        raise no_draft()
    return {**draft, **(configuration or {})}


def read_configuration(body: JsonObject) -> JsonObject | None:
    """The configuration in the request, nested or as top-level fields; None without either.

    Raises:
        Invalid: ``configuration`` is not an object.
    """
    sent = body.get("configuration")
    if is_object(sent):
        return sent
    if sent is not None:
        raise Invalid(not_a_dict(sent), code="not_a_dict", attr="configuration")
    fields = {name: value for name, value in body.items() if name in _FIELD_NAMES}
    return fields or None


def of_configuration(error: Invalid) -> Invalid:
    """The error with ``configuration__`` prepended to its attr, and as a nested object."""
    path = (error.attr or "non_field_errors").split("__")
    nested: Any = [error.detail]
    for part in reversed(path):
        nested = {part: nested}
    return Invalid(
        error.detail,
        code=error.error_code,
        attr="__".join(["configuration", *path]),
        extra={"configuration": nested},
    )


def _plan(functions: FunctionService, row: HogFunctionRow | None, sent: SentFields) -> SavePlan:
    if row is not None:
        return functions.planner.change(row, {**sent, "enabled": False})
    return SavePlan(NEW, sent, secrets={}, mapping_secrets={}, template=None, is_new=True)
