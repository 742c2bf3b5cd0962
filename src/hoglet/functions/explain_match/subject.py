"""The function whose filter is evaluated: stored, drafted, or with unsaved changes."""

from typing import NamedTuple

import msgspec

from hoglet.access.principals import ProjectScope
from hoglet.functions import types
from hoglet.functions.executable.model import ExecutableFunction
from hoglet.functions.json_types import FunctionFilters
from hoglet.functions.loader import (
    executable_from_row,
    executable_from_values,
    unreadable_secrets,
)
from hoglet.functions.save.planner import filters_of
from hoglet.functions.service import FunctionService
from hoglet.functions.tables import HogFunctionRow
from hoglet.functions.test_runs.configuration import configured_values, requested_configuration
from hoglet.kit.errors import Forbidden, Invalid
from hoglet.kit.json import JsonObject

_EXPLAINABLE = types.TESTABLE - {types.TRANSFORMATION_LOG} | types.SITE


class Subject(NamedTuple):
    """A function to explain, with the filters that it and its mappings are compiled from."""

    function: ExecutableFunction
    filters: FunctionFilters
    mapping_filters: list[FunctionFilters]


async def read_subject(
    functions: FunctionService,
    scope: ProjectScope,
    row: HogFunctionRow | None,
    body: JsonObject,
) -> Subject:
    """The function that a request refers to.

    Args:
        functions: the functions.
        scope: the caller and project.
        row: the stored function; None for ``new``.
        body: has ``configuration`` or ``draft`` unless the live function is meant.

    Raises:
        Invalid: an invalid configuration, or a function type that has no filters.
        Forbidden: a configuration or draft needs ``hog_function:write``.
    """
    asked = {name: body.get(name) for name in ("configuration", "draft")}
    configuration = requested_configuration(functions, row, asked)
    if configuration is not None:
        subject = await _configured(functions, scope, row, configuration)
    elif row is not None:
        function = executable_from_row(row, functions.box)
        subject = Subject(function, row.filters, filters_of(row.mappings))
    else:
        raise Invalid("This field is required.", code="required", attr="configuration")
    if subject.function.type not in _EXPLAINABLE:
        raise Invalid("Functions of this type have no filter to explain.", attr="type")
    return subject._replace(function=await functions.loader.resolved(subject.function))


async def _configured(
    functions: FunctionService,
    scope: ProjectScope,
    row: HogFunctionRow | None,
    configuration: JsonObject,
) -> Subject:
    """The function with a configuration that is not saved."""
    check_scope(scope, "hog_function:write")
    values = await configured_values(functions, scope, row, configuration)
    function = executable_from_values(
        values,
        function_id=str(row.id) if row else "new",
        project_id=scope.project.id,
        state=row.state if row else 1,
        enabled=row.enabled if row else True,
    )
    problem = unreadable_secrets(row, values, functions.box)
    function = msgspec.structs.replace(function, problem=problem)
    return Subject(function, values["filters"], filters_of(values["mappings"]))


def check_scope(scope: ProjectScope, name: str) -> None:
    """Require a scope besides that of the route.

    Raises:
        Forbidden: the key lacks it.
    """
    if not scope.principal.may(name):
        raise Forbidden(f"This key is missing the required scope '{name}'.")
