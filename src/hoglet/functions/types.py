"""The types of functions and their properties.

Source: docs/spec/hog-functions.md#31-types.
"""

DESTINATION = "destination"
INTERNAL_DESTINATION = "internal_destination"
TRANSFORMATION = "transformation"
TRANSFORMATION_LOG = "transformation_log"
SOURCE_WEBHOOK = "source_webhook"
WAREHOUSE_SOURCE_WEBHOOK = "warehouse_source_webhook"
SITE_DESTINATION = "site_destination"
SITE_APP = "site_app"

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

HIGHEST_ORDER = 32767
"""The highest ``execution_order``, a small integer.

Source: docs/spec/hog-functions.md#3-writing-rows-2-and-4.
"""

LIMITS = {TRANSFORMATION: 20, TRANSFORMATION_LOG: 5}
"""Maximum of enabled live functions per type and project.

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
