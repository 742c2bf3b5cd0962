"""Functions of PostHog's HogQL are supported, or refused with a reason."""

from pathlib import Path

from hoglet.hogql.errors import UNSUPPORTED
from hoglet.hogql.functions import find_function
from hoglet.hogql.resolve.special_forms import SPECIAL_FORMS

_LINES = (Path(__file__).parent / "hogql" / "posthog_functions.txt").read_text().splitlines()
NAMES = [name for line in _LINES if not line.startswith("#") for name in line.split()]


def test_97_of_100_are_known_and_the_rest_is_listed() -> None:
    unknown = [
        name for name in NAMES if find_function(name) is None and name.lower() not in SPECIAL_FORMS
    ]

    assert len(NAMES) > 800
    assert len(unknown) / len(NAMES) < 0.03
    assert set(unknown) == set(UNSUPPORTED)
