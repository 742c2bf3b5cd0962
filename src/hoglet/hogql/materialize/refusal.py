"""Reasons why a query cannot be materialized: a code and a sentence.

Source: docs/spec/query-endpoints.md#72-what-can-be-materialized.
"""

from hoglet.kit.errors import HogletError

VARIABLES = "variables_not_supported"
UNSUPPORTED_TYPE = "query_type_not_materializable"
INVALID = "empty_or_invalid_query"


class Refusal(HogletError):
    """The query cannot be materialized; ``error_code`` is the ``reason_code``."""

    code = VARIABLES
    blame = "author"

    @property
    def reason_code(self) -> str:
        """One of the codes of docs/spec/query-endpoints.md#72-what-can-be-materialized."""
        return self.error_code

    @property
    def reason(self) -> str:
        """The sentence for the author."""
        return self.detail
