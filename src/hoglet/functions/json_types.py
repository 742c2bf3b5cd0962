"""Names of the JSON that functions are stored, compiled and run with.

The schemas of requests check the keys; here they are plain dictionaries.
"""

from typing import Any

type FunctionFilters = dict[str, Any]
"""Filters: ``{"events": [{"id": "paid", "type": "events"}], "properties": [...]}``.

Source: docs/spec/hog-functions.md#5-filters.
"""

type InputSchema = dict[str, Any]
"""An item of ``inputs_schema``: ``{"key": "url", "type": "string", "required": true}``."""

type InputValues = dict[str, Any]
"""Inputs by key: ``{"url": {"value": "https://example.com"}}``; a run sees the values alone."""

type SecretValues = dict[str, Any]
"""Values of secret inputs by key, in the form of ``InputValues``; stored encrypted."""

type FunctionMapping = dict[str, Any]
"""A mapping: its ``name``, ``inputs``, ``inputs_schema`` and ``filters``."""

type MaskingSettings = dict[str, Any]
"""``{"hash": "{event.distinct_id}", "ttl": 3600, "threshold": 10}``.

Source: docs/spec/hog-functions.md#6-masking.
"""

type ConditionTree = dict[str, Any]
"""A node of a compiled condition, see ``hoglet.syntax.tree``, as plain data."""

type Globals = dict[str, Any]
"""The globals of a run by name: ``{"event": {...}, "person": {...}, "project": {...}}``."""
