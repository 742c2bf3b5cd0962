"""How the latest values of a property are written in JSON, and which of them do not convert.

Explains a share: ``zip`` is Numeric, but of its values 9,800 are numbers and 200 are text.

Source: docs/spec/data-and-queries.md#24-what-the-type-does-to-queries (the repair path).
"""

from typing import Any, Final

from hoglet import hogql
from hoglet.definitions.conversion import LOOKED_AT, latest_values, query_context
from hoglet.definitions.tables import PropertyDefinitionRow
from hoglet.kit.clock import Clock
from hoglet.warehouse import QueryBudget, Warehouse

type Json = dict[str, Any]

_BUDGET: Final = QueryBudget(seconds=5)
_EXAMPLES: Final = 3
_MAX_EXAMPLE_CHARACTERS: Final = 100
_NAMES: Final = {
    "String": "string",
    "Int64": "number",
    "UInt64": "number",
    "Double": "number",
    "Bool": "boolean",
    "Array": "array",
    "Object": "object",
}
"""The names in responses of the engine's JSON types."""


class PropertyFormCounter:
    """Counts the forms of at most the last 10,000 values."""

    def __init__(self, warehouse: Warehouse, clock: Clock) -> None:
        self._warehouse = warehouse
        self._clock = clock

    async def count(self, project_id: int, timezone: str, row: PropertyDefinitionRow) -> Json:
        """The forms of a property, the most frequent first.

        Returns:
            ``{"property_type": "Numeric", "looked_at": 3, "forms": [{"form": "string", "rows": 2,
            "unconverted": 1, "examples": ["7", "x"]}, ...]}``.

        Raises:
            WarehouseBusy, WarehouseDown: a later retry may succeed.
        """
        context = query_context(project_id, timezone, row, self._clock.now())
        text = (
            "select form, count() as rows, countIf(value is null) as unconverted, "  # noqa: S608 (escaped)
            f"groupUniqArray({_EXAMPLES})(sent) "
            f"from ({latest_values(row)}) group by form"
        )
        query = hogql.compile_query(text, context=context)
        answer = await self._warehouse.query(query.sql, query.params, budget=_BUDGET)
        forms: dict[str, Json] = {}
        for word, rows, unconverted, examples in answer.rows:
            name = _NAMES.get(word, "string")
            form = forms.setdefault(
                name, {"form": name, "rows": 0, "unconverted": 0, "examples": []}
            )
            form["rows"] += int(rows)
            form["unconverted"] += int(unconverted)
            form["examples"] += [str(each)[:_MAX_EXAMPLE_CHARACTERS] for each in examples]
        for form in forms.values():
            form["examples"] = sorted(set(form["examples"]))[:_EXAMPLES]
        listed = sorted(forms.values(), key=lambda form: (-form["rows"], form["form"]))
        return {
            "property_type": row.property_type,
            "looked_at": min(sum(form["rows"] for form in listed), LOOKED_AT),
            "forms": listed,
        }
