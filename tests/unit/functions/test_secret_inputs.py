"""Which secrets a save keeps, which it drops, and which count as set."""

import pytest

from hoglet.functions.inputs.secrets import (
    merge_secrets,
    split_secrets,
    visible_inputs,
)
from hoglet.kit.errors import Invalid

SCHEMA = [{"key": "url", "type": "string"}, {"key": "token", "type": "string", "secret": True}]
STORED = {"token": {"value": "old", "order": 1}}


@pytest.mark.parametrize("entry", [{"value": None}, {}, {"value": None, "bytecode": None}])
def test_a_secret_of_null_is_none(entry):
    plain, secret = split_secrets(SCHEMA, {"url": {"value": None}, "token": entry})

    assert plain == {"url": {"value": None}}
    assert secret == {}
    assert "token" not in visible_inputs(SCHEMA, plain, secret)


@pytest.mark.parametrize("secret", [False, None])
def test_an_input_that_is_marked_as_no_secret_is_plain(secret):
    schema = [{"key": "token", "type": "string", "secret": secret}]
    plain, hidden = split_secrets(schema, {"token": {"value": "x"}})

    assert (plain, hidden) == ({"token": {"value": "x"}}, {})
    assert visible_inputs(schema, plain, hidden) == {"token": {"value": "x"}}


@pytest.mark.parametrize("value", ["x", "", 0, False, [], {}])
def test_every_other_value_is_a_secret(value):
    plain, secret = split_secrets(SCHEMA, {"token": {"value": value}})

    assert (plain, secret) == ({}, {"token": {"value": value}})
    assert visible_inputs(SCHEMA, plain, secret)["token"] == {"secret": True}


@pytest.mark.parametrize(
    "sent", [None, {}, {"secret": True}, {"secret": True, "value": "********"}]
)
def test_what_keeps_a_secret(sent):
    assert merge_secrets(SCHEMA, {"token": sent}, STORED)["token"] == STORED["token"]


@pytest.mark.parametrize("value", ["new", "", None, 0])
def test_what_takes_its_place(value):
    sent = {"token": {"value": value}}

    assert merge_secrets(SCHEMA, sent, STORED) == sent


@pytest.mark.parametrize("sent", [None, {}])
def test_nothing_stored_is_nothing_kept(sent):
    assert merge_secrets(SCHEMA, {"token": sent}, {}) == {}


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ({"secret": True}, {}),
        ({"secret": True, "value": "********"}, {}),
        ({"value": "********"}, {}),
        ({"value": "********"}, STORED),
    ],
)
def test_a_mask_is_no_value(sent, stored):
    with pytest.raises(Invalid) as refused:
        merge_secrets(SCHEMA, {"token": sent}, stored)

    assert refused.value.attr == "inputs__token"
