"""Persons: creation, properties, merges (docs/spec/hog-functions.md#14-capture)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest

from hoglet.events.groups import GroupStore
from hoglet.events.persons.model import PersonStore, PersonStoreState, person_id_of
from hoglet.events.persons.updates import (
    GroupUpdate,
    group_update_of,
    groups_of,
    person_update_of,
)

T0 = datetime(2026, 1, 1, tzinfo=UTC)


class _World:
    """Events acting on an empty project."""

    def __init__(self) -> None:
        self.people = PersonStore(1, PersonStoreState())
        self.at = T0

    def send(self, event: str, distinct_id: str, **properties: Any) -> dict[str, Any]:
        self.at += timedelta(seconds=1)
        effect = person_update_of(event, properties)
        return dict(self.people.apply(distinct_id, self.at, effect).properties)

    def same(self, *names: str) -> bool:
        return len({self.people.find(name).id for name in names}) == 1  # pyright: ignore[reportOptionalMemberAccess]


@pytest.fixture
def world() -> _World:
    return _World()


def test_set_overwrites_set_once_adds_and_unset_removes(world: _World):
    world.send("e", "u", **{"$set": {"a": 1, "b": 1}})
    world.send("e", "u", **{"$set_once": {"a": 2, "c": 2}})

    assert world.send("$set", "u", **{"$unset": ["b"]}) == {"a": 1, "c": 2}


def test_campaign_properties_are_kept_with_their_first_values(world: _World):
    world.send("$pageview", "u", utm_source="first", **{"$referrer": "x", "other": 1})
    person = world.send("$pageview", "u", utm_source="second")

    assert person == {
        "utm_source": "second",
        "$initial_utm_source": "first",
        "$referrer": "x",
        "$initial_referrer": "x",
    }


def test_identify_merges_the_anonymous_person(world: _World):
    world.send("e", "anon", **{"$set": {"a": "anon", "only": 1}})
    world.send("e", "user", **{"$set": {"a": "user"}})
    merged = world.send("$identify", "user", **{"$anon_distinct_id": "anon", "$set": {"n": 1}})

    assert merged == {"a": "user", "only": 1, "n": 1}
    assert world.same("anon", "user")
    person = world.people.find("user")
    assert person is not None
    assert person.is_identified
    assert person.created_at == T0 + timedelta(seconds=1)
    assert [gone.id for gone in world.people.changes().deleted] == [person_id_of(1, "anon")]
    assert {each.distinct_id: each.moved for each in world.people.changes().ids}["anon"]


def test_identify_of_an_unknown_user_keeps_the_anonymous_person(world: _World):
    world.send("e", "anon")
    world.send("$identify", "user", **{"$anon_distinct_id": "anon"})

    assert world.same("anon", "user")
    assert world.people.changes().deleted == []


def test_an_identified_person_is_not_merged_by_identify_or_alias(world: _World):
    world.send("$identify", "first", **{"$anon_distinct_id": "anon"})
    world.send("e", "second")
    world.send("$identify", "second", **{"$anon_distinct_id": "anon"})
    world.send("$create_alias", "second", alias="first")

    assert not world.same("first", "second")
    kinds = [kind for kind, _ in world.people.warnings]
    assert kinds == ["cannot_merge_already_identified"] * 2


def test_a_dangerous_merge_merges_even_then(world: _World):
    world.send("$identify", "first", **{"$anon_distinct_id": "anon"})
    world.send("e", "second")
    world.send("$merge_dangerously", "second", alias="first")

    assert world.same("first", "second", "anon")


def test_alias_joins_a_new_id(world: _World):
    world.send("e", "user")
    world.send("$create_alias", "user", alias="other")

    assert world.same("user", "other")


@pytest.mark.parametrize(
    "name",
    ["anonymous", "guest", "undefined", "null", "none", "nil", "0", "NaN", "true", "false",
     "[object Object]", "distinct_id", "id", "email"],
)  # fmt: skip
def test_placeholders_are_never_merged(world: _World, name: str):
    world.send("e", name)
    world.send("$identify", "user", **{"$anon_distinct_id": name})
    world.send("$identify", name, **{"$anon_distinct_id": "user"})

    assert not world.same("user", name)
    assert {kind for kind, _ in world.people.warnings} == {"cannot_merge_with_illegal_distinct_id"}


def test_an_event_without_a_profile_has_the_id_its_person_would_have(world: _World):
    assert world.people.id_without_profile("u") == person_id_of(1, "u")
    assert world.people.find("u") is None


def test_chains_of_merges_end_in_one_person(world: _World):
    for name in "abcd":
        world.send("e", name)
    for into, other in (("b", "a"), ("c", "b"), ("d", "c")):
        world.send("$create_alias", into, alias=other)

    assert world.same("a", "b", "c", "d")


def test_numbers_as_ids_are_written_out(world: _World):
    world.send("e", "12345678", **{"$set": {"a": 1}})
    world.send("$identify", "u", **{"$anon_distinct_id": 12345678})

    assert world.same("u", "12345678")


def test_an_alias_too_long_for_an_id_is_not_merged(world: _World):
    world.send("$create_alias", "u", alias="x" * 201)

    assert world.people.find("x" * 201) is None
    assert [kind for kind, _ in world.people.warnings] == ["cannot_merge_with_illegal_distinct_id"]


def test_who_took_an_identified_person_in_is_identified(world: _World):
    world.send("e", "anon")
    world.send("$identify", "first", **{"$anon_distinct_id": "anon"})
    world.send("e", "second")
    world.send("$merge_dangerously", "second", alias="first")
    world.send("e", "third")
    world.send("$identify", "third", **{"$anon_distinct_id": "second"})

    assert world.same("anon", "first", "second")
    assert not world.same("second", "third")


@pytest.mark.parametrize(
    ("before", "after"),
    [(1, True), (0, False), (True, 1), ([1], [True]), ({"x": 1}, {"x": True})],
)
def test_a_number_is_overwritten_by_the_boolean_that_python_takes_for_it(
    world: _World, before: Any, after: Any
):
    world.send("e", "u", **{"$set": {"paid": before}})
    world.send("e", "u", **{"$set": {"paid": after}})

    (stored,) = world.people.changes().persons
    assert orjson.loads(stored.text) == {"paid": after}
    assert repr(orjson.loads(stored.text)["paid"]) == repr(after)


def test_a_group_property_is_overwritten_by_the_boolean_that_python_takes_for_it():
    groups = GroupStore({"org": 0}, [])
    groups.apply(GroupUpdate("org", "acme", {"paid": 1}), T0)
    groups.apply(GroupUpdate("org", "acme", {"paid": True}), T0)

    assert groups.properties_of(0, "acme")["paid"] is True


def test_empty_campaign_properties_do_not_reach_the_person(world: _World):
    world.send("e", "u", utm_source="ads", utm_term="x")

    person = world.send("e", "u", utm_source="", utm_term=None)
    assert (person["utm_source"], person["utm_term"]) == ("ads", "x")


def test_group_types_are_bounded_by_the_column():
    fits, too_long = "t" * 400, "t" * 401

    assert groups_of({"$groups": {fits: "a", too_long: "b", "": "c"}}) == {fits: "a"}
    assert group_update_of("$groupidentify", {"$group_type": fits, "$group_key": "a"}) is not None
    assert group_update_of("$groupidentify", {"$group_type": too_long, "$group_key": "a"}) is None
