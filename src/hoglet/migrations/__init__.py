"""The schema of the metadata database over time; ``migrate`` brings a database up to date."""

from hoglet.migrations.upgrade import migrate

__all__ = ["migrate"]
