"""``print`` of values, as the programs by hand do it."""


def printed(value):
    """A value as Hog prints it, for plain strings and small numbers."""
    kind = type(value)
    if kind is str:
        return f"'{value}'"
    if kind is dict:
        return "{" + ", ".join([f"'{k}': {printed(v)}" for k, v in value.items()]) + "}"
    if kind is list:
        return "[" + ", ".join([printed(item) for item in value]) + "]"
    if kind is bool:
        return "true" if value else "false"
    return "null" if value is None else str(value)
