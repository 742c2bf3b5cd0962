"""Which types of inputs contain templates, and which refer to stored credentials.

Source: docs/spec/hog-functions.md#43-templating-and-generated-keys and
docs/spec/hog-functions.md#132-globals-and-inputs.
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
"""Types of inputs that refer to stored credentials by id."""
