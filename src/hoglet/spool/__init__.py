"""The spool as a log: partitions hold accepted requests in order until they are stored."""

from hoglet.spool.port import NamedLog, SpoolEntry, SpoolLog, SpoolUnavailable

__all__ = ["NamedLog", "SpoolEntry", "SpoolLog", "SpoolUnavailable"]
