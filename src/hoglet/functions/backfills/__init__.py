"""Backfills: a function run over stored events."""
