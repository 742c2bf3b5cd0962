"""The spool as a log: accepted requests in partitions, in order, until they are stored."""

from hoglet.spool.port import LogEntry, NamedLog, SpoolLog, SpoolUnavailable

__all__ = ["LogEntry", "NamedLog", "SpoolLog", "SpoolUnavailable"]
