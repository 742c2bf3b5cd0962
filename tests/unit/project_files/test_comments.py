"""Comments and untouched lines survive when a changed document is written over a file."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hoglet.project_files.formats.comments import merge_text
from hoglet.project_files.formats.yaml_files import dump, load_text

FILE = """\
# who owns this: growth
type: destination   # never a site app
name: 'Welcome'

# only paying customers
filters:
  # see the wiki
  events:
    - id: plan_chosen   # the new event
      type: events
inputs:
  url:
    value: https://a.example.com   # production
  # asked for by Ada
  token:
    secret: env:TOKEN
enabled: true
# the end
"""


def changed(**fields: Any) -> Any:
    return {**load_text(FILE), **fields}


def without(key: str) -> Any:
    return {name: value for name, value in load_text(FILE).items() if name != key}


URL = {"url": {"value": "https://b.example.com"}, "token": {"secret": "env:TOKEN"}}
CASES = [
    (changed(), FILE),
    (changed(name="Hello"), FILE.replace("'Welcome'", "Hello")),
    (changed(type="transformation"), FILE.replace("destination", "transformation", 1)),
    (changed(enabled=False), FILE.replace("true", "false")),
    (without("enabled"), FILE.replace("enabled: true\n", "")),
    (changed(masking=None), FILE.replace("# the end\n", "# the end\nmasking: null\n")),
    (changed(inputs=URL), FILE.replace("https://a.", "https://b.")),
    (
        changed(inputs={"token": {"secret": "env:TOKEN"}}),
        FILE.replace("  url:\n    value: https://a.example.com   # production\n", ""),
    ),
]


@pytest.mark.parametrize(("document", "text"), CASES)
def test_only_what_changed_is_written_anew(document: Any, text: str) -> None:
    assert merge_text(FILE, document) == text


ITEMS = """\
# all actions
- name: Docs   # the old site
  steps:
    - event: $pageview
# bought
- name: Paid
  steps: []
"""


CASE = """\
- name: first   # why
  expect:
    # the request
    requests:
      - {method: POST, url: "https://a/", body: {n: 3}}   # the first
      - {method: GET}  # as it is
    result: {status: 201}   # a status
    rows:
      # of a day
      - [a, 1]  # one
      - [b, 2]
"""


def test_what_was_in_one_line_stays_in_one_with_its_comment() -> None:
    (case,) = load_text(CASE)
    expect = {
        "requests": [
            {"method": "PUT", "url": "https://a/", "body": {"n": [1, "x: y"]}},
            {"method": "GET"},
        ],
        "result": {"status": 200, "text": "a\nb"},
        "rows": [["a", 5], ["b", 2]],
    }

    merged = merge_text(CASE, [{**case, "expect": expect}])

    assert merged == (
        CASE.replace("method: POST,", "method: PUT,")
        .replace("{n: 3}}", "{n: [1, 'x: y']}}")
        .replace("{status: 201}", '{status: 200, text: "a\\nb"}')
        .replace("[a, 1]", "[a, 5]")
    )


def test_items_of_lists_keep_their_comments() -> None:
    items = load_text(ITEMS)
    paid = {"name": "Paid", "steps": [{"event": "paid"}]}

    merged = merge_text(ITEMS, [items[0], paid, {"name": "New"}])

    assert load_text(merged) == [items[0], paid, {"name": "New"}]
    for comment in ("# all actions", "# the old site", "# bought"):
        assert comment in merged
    assert merge_text(ITEMS, [paid]).startswith("# all actions\n# bought\n- name: Paid")


def test_what_cannot_be_merged_is_written_whole() -> None:
    for before in ("{a: 1}", "- 1\n- 2\n", "", "text", "a: [1,"):
        assert merge_text(before, {"a": {"b": 2}}) == dump({"a": {"b": 2}})


SCALARS = st.none() | st.booleans() | st.integers() | st.text("ab#:-' \n", max_size=6)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abcxyz", min_size=1), inner)
    ),
    max_leaves=8,
)
MAPPINGS = st.dictionaries(st.text("abcxyz", min_size=1), DOCUMENTS, max_size=4)


@given(before=MAPPINGS, after=MAPPINGS)
def test_the_file_holds_the_document_whatever_it_was(before: Any, after: Any) -> None:
    merged = merge_text("# first\n" + dump(before), after)

    assert load_text(merged) == after
    assert merge_text(merged, after) == merged


TEXTS = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("\n\r\x85\u2028\u2029 #:'")
)


@given(before=TEXTS, after=TEXTS, key=TEXTS)
@example(before="a", after="a\x85b", key="k")
@example(before="a\n\u2028b", after="a\n\x85b", key="k")
def test_texts_are_read_as_they_were_written(before: str, after: str, key: str) -> None:
    old, new = [{"a": before, key: {key: before}}, {"a": after, key: {key: after}}]

    assert load_text(dump(new)) == new
    assert load_text(merge_text("# first\n" + dump(old), new)) == new
