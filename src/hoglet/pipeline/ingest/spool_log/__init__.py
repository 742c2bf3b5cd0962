"""Reads batches from the spool log, which has partitions that servers divide among themselves."""
