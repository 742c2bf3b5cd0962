"""The spool as a log: accepted requests in partitions, in order, until they are stored."""

from hoglet.spool.port import NamedLog, SpoolEntry, SpoolLog, SpoolUnavailable

__all__ = ["NamedLog", "SpoolEntry", "SpoolLog", "SpoolUnavailable"]
