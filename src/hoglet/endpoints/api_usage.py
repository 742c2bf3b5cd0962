"""How an endpoint is used: runs, errors, durations, cache hits, in all and by day.

Source: issue 5 (usage per endpoint).
"""

from datetime import date, datetime, timedelta
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from hoglet.access.entities import Scope
from hoglet.access.guard import requires
from hoglet.endpoints.queries import read_number
from hoglet.endpoints.rooms import rooms_of
from hoglet.kit.errors import Invalid
from hoglet.warehouse.run_usage import Usage
from hoglet.web.answers import JsonAnswer
from hoglet.web.timestamps import iso_z

router = APIRouter()

type Reader = Annotated[Scope, Depends(requires("endpoint:read"))]

DEFAULT_DAYS, MOST_DAYS = 30, 366


@router.get("/endpoints/{name}/usage")
async def read_usage(request: Request, name: str, scope: Reader) -> Response:
    """The last ``days`` days (30), today included, in the project's time zone."""
    rooms = rooms_of(request)
    found = await rooms.service.read(scope, name)
    days = read_number(request, "days", least=1) or DEFAULT_DAYS
    if days > MOST_DAYS:
        raise Invalid(f"At most {MOST_DAYS} days can be asked for.", attr="days")
    zone = ZoneInfo(scope.project.timezone)
    now = rooms.access.clock.now()
    today = now.astimezone(zone).date()
    first = today - timedelta(days=days - 1)
    after = max(
        datetime(first.year, first.month, first.day, tzinfo=zone), found.endpoint.created_at
    )
    await rooms.notes.flush()
    whole, by_day = await rooms.usage.of(
        scope.project.id,
        name,
        after=after,
        before=now + timedelta(minutes=1),  # runs are noted with the clock of their process
        timezone=scope.project.timezone,
    )
    return JsonAnswer(
        {
            "name": name,
            "after": iso_z(after),
            "before": iso_z(now),
            **_shown(whole),
            "days": [_day(first + timedelta(days=number), by_day) for number in range(days)],
        }
    )


def _day(day: date, by_day: dict[date, Usage]) -> dict[str, Any]:
    return {"day": day.isoformat(), **_shown(by_day.get(day, Usage()))}


def _shown(usage: Usage) -> dict[str, Any]:
    good = usage.runs - usage.errors
    return {
        "count": usage.runs,
        "errors": usage.errors,
        "p50_ms": usage.p50_ms,
        "p95_ms": usage.p95_ms,
        "cache_hit_share": round(usage.cached / good, 4) if good else None,
        "materialized_share": round(usage.materialized / good, 4) if good else None,
        "rows": usage.rows,
        "rows_read": usage.rows_read,
        "bytes_read": usage.bytes_read,
    }
