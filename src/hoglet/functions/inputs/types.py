"""Which types of inputs hold templates, and which stored credentials.

Source: spec/hog-functions.md sections 4.3 and 13.2.
"""

COMPILED_TYPES = frozenset(
    {
        "string",
        "boolean",
        "dictionary",
        "json",
        "email",
        "native_email",
        "posthog_ticket_tags",
        "customer_analytics_account_properties",
        "customer_analytics_account_relationships",
    }
)

INTEGRATION_TYPES = frozenset({"integration", "integration_multi"})
"""Inputs that name stored credentials by id."""
