"""``person.url``: leads to the person whatever the distinct id contains."""

from urllib.parse import urljoin

import pytest

from hoglet.functions.runtime.globals import person_globals

PERSON = "0198c2a0-0000-7000-8000-00000000000a"
PROJECT = "https://hoglet.example/project/1"


@pytest.mark.parametrize(
    ("distinct_id", "path"),
    [
        ("ada", "person/ada"),
        ("a/../b", "person/a%2F..%2Fb"),
        ("...", "person/..."),
        (".", f"persons/{PERSON}"),
        ("..", f"persons/{PERSON}"),
        ("a b?#%é", "person/a%20b%3F%23%25%C3%A9"),
    ],
)
def test_a_browser_goes_to_the_person(distinct_id: str, path: str):
    person = person_globals(
        project_url=PROJECT, person_id=PERSON, properties={}, distinct_id=distinct_id
    )

    assert person["url"] == f"{PROJECT}/{path}"
    assert urljoin("https://other.example/", person["url"]) == person["url"]
