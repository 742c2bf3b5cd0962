"""Why a query cannot be materialised: a code of spec 7.2 and a sentence."""

from hoglet.kit.errors import HogletError

VARIABLES = "variables_not_supported"
INVALID = "empty_or_invalid_query"


class Refusal(HogletError):
    """The query cannot be kept as a table; ``error_code`` is the ``reason_code``."""

    code = VARIABLES
    blame = "author"

    @property
    def reason_code(self) -> str:
        """One of the codes of spec 7.2."""
        return self.error_code

    @property
    def reason(self) -> str:
        """The sentence for the author."""
        return self.detail
