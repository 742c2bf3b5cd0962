"""Which types of inputs hold templates.

Source: spec/hog-functions.md section 4.3.
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
