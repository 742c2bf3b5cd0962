"""Tables of results next to the expected figures."""

import math
from collections.abc import Iterable

import msgspec
from rich.console import Console
from rich.table import Table


class Check(msgspec.Struct, frozen=True):
    """One figure: ``Check("stored", 328521, 328521)``."""

    name: str
    expected: float
    found: float | None

    @property
    def agrees(self) -> bool:
        """Equal, up to rounding of floats (one part in 10^9)."""
        return self.found is not None and math.isclose(self.expected, self.found, rel_tol=1e-9)


def show_checks(console: Console, title: str, checks: Iterable[Check]) -> bool:
    """Print the figures; True if all agree."""
    table = Table("", "expected", "found", "", title=title, title_justify="left")
    complete = True
    for check in checks:
        complete &= check.agrees
        mark = "[green]equal[/]" if check.agrees else "[bold red]DIFFERS[/]"
        table.add_row(check.name, _number(check.expected), _number(check.found), mark)
    console.print(table)
    return complete


def show_rows(
    console: Console, title: str, columns: list[str], rows: Iterable[Iterable[object]]
) -> None:
    """Print a plain table."""
    table = Table(*columns, title=title, title_justify="left")
    for row in rows:
        table.add_row(*(_number(cell) if isinstance(cell, float) else str(cell) for cell in row))
    console.print(table)


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.4f}"
