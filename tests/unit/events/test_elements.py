"""``elements_chain`` from lists of elements, by the examples of the specification."""

from typing import Any

import pytest

from hoglet.events.elements import chain_elements, chain_of, elements_chain

EXAMPLE = {
    "tag_name": "a",
    "$el_text": "Go",
    "attr__class": "b a",
    "attr__href": "/x",
    "nth_child": 2,
    "nth_of_type": 1,
}
CHAIN = 'a.a.b:attr__class="b a"attr__href="/x"href="/x"nth-child="2"nth-of-type="1"text="Go"'
PLACES = 'nth-child="0"nth-of-type="0"'


@pytest.mark.parametrize(
    ("elements", "chain"),
    [
        ([EXAMPLE], CHAIN),
        ([EXAMPLE, {"tag_name": "div"}], f"{CHAIN};div:{PLACES}"),
        ([], ""),
        ([{}], f":{PLACES}"),
        ([{"tag_name": "p", "attr__class": ["z", "y"]}], f'p.y.z:attr__class="z y"{PLACES}'),
        ([{"tag_name": "p", "attr__class": 'q"uo  te'}],
         f'p.quo.te:attr__class="q\\"uo  te"{PLACES}'),
        ([{"tag_name": "p", "attr__id": "go"}], f'p:attr__id="go"attr_id="go"{PLACES}'),
        ([{"tag_name": "p", "$el_text": ""}], f"p:{PLACES}"),
        ([{"tag_name": "p", "$el_text": 'say "hi"; bye'}], f'p:{PLACES}text="say \\"hi\\"; bye"'),
        ([{"tag_name": "p", "$el_text": "x" * 401}], f'p:{PLACES}text="{"x" * 400}"'),
        ([{"tag_name": "p", "attr__href": "h" * 2049}],
         f'p:attr__href="{"h" * 2049}"href="{"h" * 2048}"{PLACES}'),
        ([{"tag_name": "p", 'attr__data-"x"': 1, "attr__on": True, "attr__off": None}],
         f'p:attr__data-\\"x\\"="1"attr__on="true"{PLACES}'),
        ([{"tag_name": "p", "nth_child": "3", "nth_of_type": None}],
         'p:nth-child="3"nth-of-type="0"'),
        (["text", None, {"tag_name": "p"}], f"p:{PLACES}"),
    ],
)  # fmt: skip
def test_a_chain_of_elements(elements: list[Any], chain: str):
    assert elements_chain(elements) == chain


@pytest.mark.parametrize(
    ("sent", "left"),
    [
        ({"$elements": [EXAMPLE], "k": 1}, {"$elements_chain": CHAIN, "k": 1}),
        ({"$elements": [EXAMPLE], "$elements_chain": "p"}, {"$elements_chain": "p"}),
        ({"$elements": [EXAMPLE], "$elements_chain": ""}, {"$elements_chain": CHAIN}),
        ({"$elements": [EXAMPLE], "$elements_chain": [1]}, {"$elements_chain": CHAIN}),
        ({"$elements_chain": "p"}, {"$elements_chain": "p"}),
        ({"$elements": "no list"}, {"$elements": "no list"}),
        ({}, {}),
    ],
)
def test_the_chain_takes_the_place_of_the_elements(sent: dict[str, Any], left: dict[str, Any]):
    properties = dict(sent)
    expected = chain_of(properties)
    assert properties == sent

    chain_elements(properties)

    assert properties == left
    assert expected == properties.get("$elements_chain", "")
