"""Selectors and tag names match the chain of the elements that they describe, and no other."""

import pytest
import re2

from hoglet.events.elements import elements_chain
from hoglet.functions.errors import FilterRefused
from hoglet.functions.filters.build import build_filter
from hoglet.functions.filters.context import FilterContext
from hoglet.hogql import QueryContext, property_condition
from hoglet.kit.element_selectors import BadSelector, selector_pattern, tag_name_pattern
from hoglet.kit.errors import SourceError

CHAIN = elements_chain(
    [
        {"tag_name": "span", "$el_text": "Go", "nth_child": 1, "attr__data-text": "Stop"},
        {
            "tag_name": "button",
            "$el_text": 'say "hi";form:x',
            "attr__class": ["primary", "btn"],
            "attr__id": "buy",
            "attr__aria-label": "Buy > now]",
            "attr__data-href": "/fake",
            "nth_child": 2,
            "nth_of_type": 1,
        },
        {"tag_name": "div", "attr__class": "card"},
        {"tag_name": "a", "attr__href": "/x;y?a=1", "attr__title": "it's"},
        {"tag_name": "body"},
    ]
)


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("span", True),
        ("*", True),
        ("spa", False),
        ("pan", False),
        ("SPAN", False),
        ("button span", True),
        ("button > span", True),
        ("button>span", True),
        ("div span", True),
        ("div > span", False),
        ("span > button", False),
        ("a > div > button > span", True),
        ("a div span", True),
        ("body > a span", True),
        ("body > div", False),
        ("button.btn", True),
        ("button.btn.primary", True),
        ("button.primary.btn", True),
        ("button.bt", False),
        (".card .btn", True),
        (".card > .btn", True),
        (".btn .card", False),
        ("#buy", True),
        ("#bu", False),
        ("button#buy.btn", True),
        ('[id="buy"]', True),
        ("[id=buy]", True),
        ('button[text="Go"]', False),
        ('span[text="Go"]', True),
        ('span[text="Stop"]', False),
        ('[href="/fake"]', False),
        ('[data-href="/fake"]', True),
        ("""[text='say "hi";form:x']""", True),
        ("form", False),
        ('[aria-label="Buy > now]"]', True),
        ('div > [aria-label="Buy > now]"]', True),
        ('[href="/x;y?a=1"]', True),
        ('a[href="/x;y?a=1"] > .card', True),
        ('[href="/x;y?a.1"]', False),
        ("""[title="it's"]""", True),
        ("button:nth-child(2)", True),
        ("button:nth-child(1)", False),
        ("span:nth-child(1)", True),
        ("button:nth-of-type(1):nth-child(2)", True),
        ("button:nth-child(2) > span:nth-child(1)", True),
        ("  button   >   span  ", True),
    ],
)
def test_selectors(selector: str, expected: bool) -> None:
    assert bool(re2.search(selector_pattern(selector), CHAIN)) is expected


@pytest.mark.parametrize(
    ("tag", "expected"),
    [("span", True), ("button", True), ("body", True), ("a", True), ("form", False),
     ("b", False), ("primary", False), ("Go", False), (".", False), ("", False)],
)  # fmt: skip
def test_tag_names(tag: str, expected: bool) -> None:
    assert bool(re2.search(tag_name_pattern(tag), CHAIN)) is expected


@pytest.mark.parametrize(
    "selector",
    ["", "  ", ">", "> a", "a >", "a > > b", "a >> b", "a, b", "a + b", "a ~ b", "a[", "a[href",
     "a[href]", "a[href^='/x']", "a:hover", "a::before", "a:nth-child(2n)", "a:not(.b)", "a..b",
     "1a", "a#", "[=x]", "a" * 1001],
)  # fmt: skip
def test_what_chains_do_not_support_is_refused_by_both_engines(selector: str) -> None:
    item = {"key": "selector", "type": "element", "value": [selector], "operator": "exact"}

    with pytest.raises(BadSelector):
        selector_pattern(selector)
    with pytest.raises(FilterRefused):
        build_filter({"properties": [item]}, FilterContext())
    with pytest.raises(SourceError):
        property_condition(item, QueryContext(project_id=1))
