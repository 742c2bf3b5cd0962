"""What is known of a property."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PropertyDefinition:
    """``PropertyDefinition("Numeric", is_uniform=True)``.

    ``property_type`` is Numeric, Boolean, DateTime, String, or empty while no value told one.
    ``is_uniform`` tells that every value there ever was is written in JSON as that type is (text
    for String and DateTime), so that queries may read the typed column alone.
    """

    property_type: str
    is_uniform: bool
