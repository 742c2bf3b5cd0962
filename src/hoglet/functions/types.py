"""The types of functions and their properties.

Source: docs/spec/hog-functions.md#31-types.
"""

from typing import Final, Literal

type FunctionType = Literal[
    "destination",
    "site_destination",
    "internal_destination",
    "source_webhook",
    "warehouse_source_webhook",
    "site_app",
    "transformation",
    "transformation_log",
]

type WatcherState = Literal[0, 1, 2, 3, 11, 12]
"""See docs/spec/hog-functions.md#7-status-and-the-watcher."""

type DeadLetterClass = Literal["filter", "inputs", "fetch", "timeout", "hog", "disabled"]
"""Where a run failed; ``disabled`` if it was not started."""

DESTINATION: Final = "destination"
INTERNAL_DESTINATION: Final = "internal_destination"
TRANSFORMATION: Final = "transformation"
TRANSFORMATION_LOG: Final = "transformation_log"
SOURCE_WEBHOOK: Final = "source_webhook"
WAREHOUSE_SOURCE_WEBHOOK: Final = "warehouse_source_webhook"
SITE_DESTINATION: Final = "site_destination"
SITE_APP: Final = "site_app"

ALL = (
    DESTINATION,
    SITE_DESTINATION,
    INTERNAL_DESTINATION,
    SOURCE_WEBHOOK,
    WAREHOUSE_SOURCE_WEBHOOK,
    SITE_APP,
    TRANSFORMATION,
    TRANSFORMATION_LOG,
)
SITE = frozenset({SITE_DESTINATION, SITE_APP})
ORDERED = frozenset({TRANSFORMATION, TRANSFORMATION_LOG})
TESTABLE = frozenset({DESTINATION, INTERNAL_DESTINATION, TRANSFORMATION, TRANSFORMATION_LOG})
WITH_MAPPINGS = frozenset({DESTINATION, SITE_DESTINATION})

MAX_EXECUTION_ORDER = 32767
"""The highest ``execution_order``, a small integer.

Source: docs/spec/hog-functions.md#3-writing-rows-2-and-4.
"""

LIMITS = {TRANSFORMATION: 20, TRANSFORMATION_LOG: 5}
"""Maximum number of enabled live functions per type and project.

Source: docs/spec/hog-functions.md#35-limits-and-effects.
"""

FOLDERS = {
    DESTINATION: "Unfiled/Destinations",
    INTERNAL_DESTINATION: "Unfiled/Destinations",
    SITE_DESTINATION: "Unfiled/Destinations",
    SITE_APP: "Unfiled/Site apps",
    TRANSFORMATION: "Unfiled/Transformations",
    TRANSFORMATION_LOG: "Unfiled/Transformations",
    SOURCE_WEBHOOK: "Unfiled/Sources",
}
"""The folder of a function in the project's file tree, unless it has one."""
