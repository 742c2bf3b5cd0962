"""Text that PostgreSQL cannot store is sanitized; one such event would block its project."""

from hoglet.events.parse import id_text
from hoglet.events.persons.updates import (
    group_update_of,
    groups_of,
    person_update_of,
)


def test_ids_are_written_as_json_writes_them():
    given = [12345678, 1.0, 1.5, True, False, 0, None, [], {}, "a\0b"]
    written = ["12345678", "1", "1.5", "true", "false", "0", "", "", "", "a\ufffdb"]
    assert [id_text(value) for value in given] == written


def test_no_nul_in_groups_and_aliases():
    assert groups_of({"$groups": {"k\0": "a\0", "n": 7, "flag": True}}) == {
        "k\ufffd": "a\ufffd",
        "n": "7",
    }
    given = {"$group_type": "k\0", "$group_key": "a\0", "$group_set": {}}
    update = group_update_of("$groupidentify", given)
    assert update is not None
    assert (update.group_type, update.group_key) == ("k\ufffd", "a\ufffd")
    effect = person_update_of("$create_alias", {"alias": "a\0"})
    assert effect is not None
    assert effect.merge_from == "a\ufffd"
