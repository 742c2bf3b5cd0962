"""``/api/schema`` documents exactly the routes that exist."""

import pytest
from openapi_spec_validator import validate

from hoglet.app.http.openapi import all_routes, api_document
from hoglet.web.openapi import UNDESCRIBED

pytestmark = pytest.mark.engine


def test_every_route_is_described() -> None:
    plain = [(route.method, route.path) for route in all_routes() if route.about is UNDESCRIBED]

    assert plain == [], "these handlers need @describe"


@pytest.mark.slow
def test_the_document_is_valid() -> None:
    validate(api_document())


def test_the_operations_have_names_of_their_own() -> None:
    document = api_document()
    names = [each["operationId"] for path in document["paths"].values() for each in path.values()]
    assert len(names) == len(set(names))
    assert document["components"]["schemas"]["Record"]["additionalProperties"] is False


def test_schemas_have_names_of_the_domain() -> None:
    """Two models of the same name would get names that contain their module paths."""
    names = api_document()["components"]["schemas"]

    assert [name for name in names if name.startswith("hoglet__")] == []
