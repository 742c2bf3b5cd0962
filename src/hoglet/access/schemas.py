"""Bodies of the bootstrap routes."""

from typing import Annotated, Any, Literal
from zoneinfo import available_timezones

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from hoglet.web.validation import Body, Text, not_a_choice


def _known_timezone(name: str) -> str:
    if name not in available_timezones():
        raise PydanticCustomError("literal_error", not_a_choice(name))  # pyright: ignore[reportArgumentType]
    return name


def _no_boolean(value: Any) -> Any:
    """``true`` is no 1 here."""
    if isinstance(value, bool):
        raise PydanticCustomError("literal_error", not_a_choice(value))  # pyright: ignore[reportArgumentType]
    return value


class ProjectChanges(Body):
    """PATCH of a project; only what is sent changes."""

    name: Annotated[Text, Field(min_length=1, max_length=200)] = ""
    timezone: Annotated[Text, AfterValidator(_known_timezone)] = "UTC"
    app_urls: list[Text] = Field(default_factory=list[str])
    test_account_filters: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    person_display_name_properties: list[Text] | None = None
    anonymize_ips: bool = False
    week_start_day: Annotated[Literal[0, 1], BeforeValidator(_no_boolean)] = 0


type VariableType = Literal["String", "Number", "Boolean", "List", "Date"]


class NewVariable(Body):
    """POST of a variable; ``default_value`` is any JSON, ``values`` the choices of a list.

    ``is_multi`` says that a ``List`` stands for all of its values rather than for one.
    """

    name: Annotated[Text, Field(min_length=1, max_length=400)]
    type: VariableType
    default_value: Any = None
    values: list[Any] | None = None
    is_multi: bool = False


class VariableChanges(Body):
    """PATCH of a variable; only what is sent changes."""

    name: Annotated[Text, Field(min_length=1, max_length=400)] = ""
    type: VariableType = "String"
    default_value: Any = None
    values: list[Any] | None = None
    is_multi: bool = False


def code_name(name: str) -> str:
    """The name by which queries refer to a variable.

    Example:
        >>> code_name("Plan (paid) 2")
        'plan_paid_2'
    """
    kept = "".join(letter for letter in name if letter.isalnum() or letter == " ")
    return kept.strip().replace(" ", "_").lower()
