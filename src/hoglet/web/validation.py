"""Validates bodies and parameters with pydantic, and reports errors in the specified messages.

``validate`` returns the model or raises ``Invalid`` for the first invalid field, in field order,
with nested keys and list indexes joined by ``__``.

Source: docs/spec/hog-functions.md#12-errors-keys-rate-limits (codes and details are exact there).
"""

from collections.abc import Iterator, Mapping, Sequence
from types import GenericAlias
from typing import Annotated, Any, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from hoglet.kit.errors import Invalid
from hoglet.kit.suggestions import near

REQUIRED = "This field is required."
NULL = "This field may not be null."
BLANK = "This field may not be blank."
NOT_BOOLEAN = "Must be a valid boolean."
NOT_INTEGER = "A valid integer is required."
NOT_NUMBER = "A valid number is required."
NOT_STRING = "Not a valid string."
NOT_UUID = "Must be a valid UUID."
NOT_INSTANT = "Not a valid ISO 8601 time."

type Location = Sequence[str | int]


def _refuse_nul(text: str) -> str:
    if "\x00" in text:
        raise ValueError("Null characters are not allowed.")
    return text


type Text = Annotated[str, AfterValidator(_refuse_nul)]
"""Text that every database can store; use it for every stored text field."""


def _refuse_boolean(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError(NOT_INTEGER)  # noqa: TRY004 (pydantic expects ValueError)
    return value


Whole = Annotated[int, BeforeValidator(_refuse_boolean)]
"""An integer, or a string with one; rejects booleans, which pydantic would read as 1 and 0."""


class Body(BaseModel):
    """Base of body models: ignores unknown keys, strips strings, accepts numbers as strings.

    ``model_fields_set`` distinguishes omitted fields from null.
    """

    model_config = ConfigDict(
        extra="ignore",
        str_strip_whitespace=True,
        coerce_numbers_to_str=True,
        populate_by_name=True,
        defer_build=True,  # built by the first request that needs it
    )


def validate[M: BaseModel](model: type[M], data: Any, *, prefix: str | None = None) -> M:
    """Validate ``data`` as ``model``.

    Args:
        model: the expected model.
        data: parsed JSON, e.g. ``{"name": "x"}``.
        prefix: the attr of ``data`` if it is only a part of the body, e.g. ``masking``.

    Raises:
        Invalid: the first violation, with its attr.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first, hint = _first_problem(model, error.errors(include_url=False))
        problem = violation(first, data=data, prefix=prefix)
        problem.detail += hint
        raise problem from None


def _first_problem(
    model: type[BaseModel], problems: Sequence[Mapping[str, Any]]
) -> tuple[Mapping[str, Any], str]:
    """Choose the problem to report, and its hint.

    If a key is missing because it is misspelt, the unknown key is reported instead.
    """
    first = problems[0]
    if first["type"] == "missing":
        *parent, missing = first["loc"]
        for other in problems:
            is_beside = other["type"] == "extra_forbidden" and [*other["loc"][:-1]] == parent
            if is_beside and (hint := near(str(other["loc"][-1]), [str(missing)])):
                return other, hint
    if first["type"] == "extra_forbidden" and first["loc"]:
        return first, near(str(first["loc"][-1]), _names(_model_at(model, first["loc"][:-1])))
    return first, ""


def _names(model: type[BaseModel] | None) -> list[str]:
    """The keys that a model accepts."""
    fields = {} if model is None else model.model_fields
    return [field.alias or name for name, field in fields.items()]


def _model_at(model: type[BaseModel] | None, location: Location) -> type[BaseModel] | None:
    """The model at a location inside a model; None if the location does not lead to one model."""
    for step in location:
        named = {} if model is None else model.model_fields
        field = next((each for name, each in named.items() if step in {name, each.alias}), None)
        if field is not None:
            inner = list(_models_in(field.annotation))
            model = inner[0] if len(inner) == 1 else None
        elif not isinstance(step, int):
            return None
    return model


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models of an annotation such as ``list[Step] | None``."""
    if isinstance(annotation, type) and not isinstance(annotation, GenericAlias):
        if issubclass(annotation, BaseModel):
            yield annotation
        return
    for part in get_args(annotation):
        yield from _models_in(part)


def violation(error: Mapping[str, Any], *, data: Any = None, prefix: str | None = None) -> Invalid:
    """The ``Invalid`` for a pydantic error, e.g. ``{"type": "missing", "loc": ("a", 0)}``."""
    path = [*([] if prefix is None else [prefix]), *_real_location(error["loc"], data)]
    code, detail = describe(error)
    return Invalid(detail, code=code, attr="__".join(map(str, path)) or None)


def describe(error: Mapping[str, Any]) -> tuple[str, str]:
    """Code and detail of one pydantic error, e.g. ``("required", "This field is required.")``."""
    kind: str = error["type"]
    value = error.get("input")
    if kind == "missing":
        return "required", REQUIRED
    if value is None and kind not in {"value_error", "extra_forbidden"}:
        return "null", NULL
    if kind in _FIXED:
        return "invalid_input", _FIXED[kind]
    return _describe_limit(kind, value, error.get("ctx", {})) or ("invalid_input", _plain(error))


def not_a_choice(value: Any) -> str:
    """The detail for a value outside a list of choices.

    Example:
        >>> not_a_choice("x")
        '"x" is not a valid choice.'
    """
    return f'"{value}" is not a valid choice.'


def not_a_list(value: Any) -> str:
    """The detail for a value that is not an array."""
    return f'Expected a list of items but got type "{type(value).__name__}".'


def not_a_dict(value: Any) -> str:
    """The detail for a value that is not an object."""
    return f'Expected a dictionary of items but got type "{type(value).__name__}".'


def _describe_limit(  # noqa: PLR0911 (a table of cases)
    kind: str, value: Any, limits: Mapping[str, Any]
) -> tuple[str, str] | None:
    match kind:
        case "literal_error" | "enum":
            return "invalid_choice", not_a_choice(value)
        case "string_too_long" | "too_long":
            most, unit = limits["max_length"], _unit(value)
            return "max_length", f"Ensure this field has no more than {most} {unit}."
        case "string_too_short" | "too_short" if isinstance(value, str) and not value.strip():
            return "blank", BLANK
        case "string_too_short" | "too_short":
            least, unit = limits["min_length"], _unit(value)
            return "min_length", f"Ensure this field has at least {least} {unit}."
        case "greater_than_equal":
            return "min_value", f"Ensure this value is greater than or equal to {limits['ge']}."
        case "less_than_equal":
            return "max_value", f"Ensure this value is less than or equal to {limits['le']}."
        case "list_type" | "tuple_type" | "set_type":
            return "not_a_list", not_a_list(value)
        case "dict_type" | "model_type" | "mapping_type" | "model_attributes_type":
            return "not_a_dict", not_a_dict(value)
        case _:
            return None


def _unit(value: Any) -> str:
    return "items" if isinstance(value, list | tuple | dict) else "characters"


def _plain(error: Mapping[str, Any]) -> str:
    if error["type"] == "extra_forbidden":
        return f'"{error["loc"][-1]}" is not a known field.' if error["loc"] else "Unknown field."
    cause = error.get("ctx", {}).get("error")
    return str(cause) if isinstance(cause, ValueError) else f"{error['msg']}."


def _real_location(location: Location, data: Any) -> list[str | int]:
    """Remove the steps that pydantic adds for members of a union (``("limit", "int")``)."""
    path: list[str | int] = []
    for index, step in enumerate(location):
        inside = isinstance(data, dict) and (step in data or index == len(location) - 1)
        listed = isinstance(data, list) and isinstance(step, int)
        if inside or listed or data is None:
            path.append(step)
            data = _child(data, step)
    return path


def _child(data: Any, step: str | int) -> Any:
    try:
        return data[step]
    except (KeyError, IndexError, TypeError):
        return None


_FIXED: dict[str, str] = {
    "bool_type": NOT_BOOLEAN,
    "bool_parsing": NOT_BOOLEAN,
    "int_type": NOT_INTEGER,
    "int_parsing": NOT_INTEGER,
    "int_from_float": NOT_INTEGER,
    "int_parsing_size": NOT_INTEGER,
    "float_type": NOT_NUMBER,
    "float_parsing": NOT_NUMBER,
    "finite_number": NOT_NUMBER,
    "decimal_type": NOT_NUMBER,
    "decimal_parsing": NOT_NUMBER,
    "string_type": NOT_STRING,
    "uuid_type": NOT_UUID,
    "uuid_parsing": NOT_UUID,
    "uuid_version": NOT_UUID,
    "datetime_type": NOT_INSTANT,
    "datetime_parsing": NOT_INSTANT,
    "datetime_from_date_parsing": NOT_INSTANT,
    "datetime_object_invalid": NOT_INSTANT,
    "date_type": NOT_INSTANT,
    "date_parsing": NOT_INSTANT,
    "date_from_datetime_parsing": NOT_INSTANT,
}
