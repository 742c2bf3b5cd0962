"""``hoglet functions``: functions of a project, their logs, dead letters and backfills."""
