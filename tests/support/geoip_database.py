"""A GeoIP database in MaxMind's format with given records."""

from pathlib import Path
from typing import Any

from mmdb_writer import MMDBWriter
from netaddr import IPSet

LINKOPING: dict[str, Any] = {
    "city": {"names": {"en": "Linköping", "pt-BR": "Linköping"}},
    "continent": {"code": "EU", "names": {"en": "Europe"}},
    "country": {"iso_code": "SE", "names": {"en": "Sweden"}},
    "location": {
        "latitude": 58.4167,
        "longitude": 15.6167,
        "accuracy_radius": 76,
        "time_zone": "Europe/Stockholm",
    },
    "postal": {"code": "581 00"},
    "subdivisions": [{"iso_code": "E", "names": {"en": "Östergötland County"}}],
}


def write_database(path: Path, records: dict[str, Any]) -> Path:
    """``records`` by range, e.g. ``{"89.160.20.112/28": LINKOPING}``."""
    writer = MMDBWriter(ip_version=6, ipv4_compatible=True, database_type="GeoLite2-City")
    for cidr, record in records.items():
        writer.insert_network(IPSet([cidr]), record)
    writer.to_db_file(str(path))
    return path
