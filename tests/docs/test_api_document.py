"""``/api/schema`` tells of every route, and of none that is not there."""

import pytest
from openapi_spec_validator import validate

from hoglet.app.described import ABOUT
from hoglet.app.openapi import all_routes, api_document

pytestmark = pytest.mark.engine


def test_every_route_is_described() -> None:
    routes = {(method, path) for path, method, _, _ in all_routes()}

    assert routes - ABOUT.keys() == set(), "describe these in the room's described.py"
    assert ABOUT.keys() - routes == set(), "these are gone"


def test_the_document_is_valid() -> None:
    document = api_document()

    validate(document)
    names = [each["operationId"] for path in document["paths"].values() for each in path.values()]
    assert len(names) == len(set(names))
    assert document["components"]["schemas"]["Record"]["additionalProperties"] is False
