"""Editor queries: schema, findings with positions, completions, explain.

Source: docs/spec/data-and-queries.md#18-for-editors and
docs/spec/data-and-queries.md#8-acceptance-cases.
"""

from typing import Any

import pytest

from hoglet.definitions.tables import PropertyDefinitionRow
from support.access import NOW
from support.queries import QueryWorld


def metadata(query: str, language: str = "hogQL", **more: Any) -> dict[str, Any]:
    return {"kind": "HogQLMetadata", "language": language, "query": query, **more}


def complete(query: str, language: str = "hogQL", **more: Any) -> dict[str, Any]:
    """An autocomplete query at ``|``."""
    cursor = query.index("|")
    text = query.replace("|", "", 1)
    node = {"kind": "HogQLAutocomplete", "language": language, "query": text}
    return node | {"startPosition": cursor, "endPosition": cursor} | more


async def define(
    queries: QueryWorld, kind: str, name: str, type_: str | None, share: float | None = None
) -> None:
    async with queries.endpoints.world.database.write() as session:
        session.add(
            PropertyDefinitionRow(
                project_id=queries.endpoints.project_id,
                kind=kind,
                name=name,
                property_type=type_,
                unconverted_share=share,
                measured_at=None if share is None else NOW,
                first_seen_at=NOW,
            )
        )


async def labels(queries: QueryWorld, node: dict[str, Any], kind: str | None = None) -> list[str]:
    suggestions = (await queries.ran(node))["suggestions"]
    return [each["label"] for each in suggestions if kind in {None, each["kind"]}]


# --- database schema


async def test_the_schema_has_tables_with_types(queries: QueryWorld) -> None:
    body = await queries.ran({"kind": "DatabaseSchemaQuery"})
    assert body["joins"] == []
    events = body["tables"]["events"]
    assert (events["type"], events["id"], events["name"]) == ("posthog", "events", "events")
    types = {name: field["type"] for name, field in events["fields"].items()}
    assert types["properties"] == "json"
    assert types["timestamp"] == "datetime"
    assert types["event"] == "string"
    assert types["person"] == "lazy_table"
    assert types["poe"] == "virtual_table"
    assert types["goe_0"] == "field_traverser"
    assert types["elements_chain_texts"] == "array"
    assert events["fields"]["person"]["table"] == "persons"
    assert "properties" in events["fields"]["person"]["fields"]
    assert events["fields"]["goe_1"]["chain"] == ["group_1"]
    assert body["tables"]["persons"]["fields"]["is_identified"]["type"] == "boolean"
    assert {"sessions", "groups", "query_log", "heatmaps"} <= set(body["tables"])


async def test_every_field_of_the_schema_can_be_selected(queries: QueryWorld) -> None:
    tables = (await queries.ran({"kind": "DatabaseSchemaQuery"}))["tables"]
    for name, table in tables.items():
        plain = [
            field["hogql_value"]
            for field in table["fields"].values()
            if field["type"] not in {"lazy_table", "virtual_table", "field_traverser"}
        ]
        body = await queries.ran(f"SELECT {', '.join(plain)} FROM {name} LIMIT 1")
        assert len(body["columns"]) == len(plain)


async def test_materialized_endpoints_are_tables(queries: QueryWorld) -> None:
    endpoints = queries.endpoints
    endpoint = await endpoints.create("SELECT event, count() AS n FROM events GROUP BY event")
    await endpoints.patch(f"/{endpoint['name']}", {"is_materialized": True})
    await endpoints.services.jobs.drain()
    tables = (await queries.ran({"kind": "DatabaseSchemaQuery"}))["tables"]
    table = tables[f"{endpoint['name']}_v1"]
    assert table["type"] == "materialized_view"
    assert {name: each["type"] for name, each in table["fields"].items()} == {
        "event": "string",
        "n": "integer",
    }
    assert table["query"]["query"].startswith("SELECT event")
    assert table["last_run_at"] is not None


# --- metadata


async def test_a_valid_query_says_what_it_reads(queries: QueryWorld) -> None:
    text = "SELECT properties.price FROM events WHERE timestamp > now() - INTERVAL 1 DAY"
    await define(queries, "event", "price", "Numeric")
    body = await queries.ran(metadata(text))
    assert set(body) == {
        *("query", "isValid", "isUsingIndices", "errors", "warnings", "notices"),
        *("table_names", "ch_table_names"),
    }
    assert (body["isValid"], body["errors"], body["warnings"]) == (True, [], [])
    assert (body["isUsingIndices"], body["table_names"]) == ("yes", ["events"])
    assert (body["query"], body["ch_table_names"]) == (text, None)
    (notice,) = body["notices"]
    assert text[notice["start"] : notice["end"]] == "properties.price"
    assert notice["fix"] is None
    assert "price" in notice["message"]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("select evnt from events", ["evnt"]),
        ("select 'ä', nope from events", ["nope"]),
        ("select '😀' as x, nope, uniqq(event) from events", ["nope", "uniqq(event)"]),
        ("select nope\n\n, nada from events where also = 1", ["nope", "nada", "also"]),
        ("select event from evnts", ["evnts"]),
        ("select sum(sum(1)), toFloat() from events", ["sum(sum(1))", "toFloat()"]),
        ("select event from events where {variables.x}", ["{variables.x}"]),
        ("select a from (select nope as a, nada from events)", ["nope", "nada"]),
    ],
)
async def test_all_errors_with_their_places(
    queries: QueryWorld, text: str, places: list[str]
) -> None:
    body = await queries.ran(metadata(text))
    assert body["isValid"] is False
    assert body["isUsingIndices"] == "undecisive"
    assert [text[each["start"] : each["end"]] for each in body["errors"]] == places
    assert all(set(each) == {"message", "start", "end", "fix"} for each in body["errors"])


async def test_the_name_that_was_meant_is_the_fix(queries: QueryWorld) -> None:
    (error,) = (await queries.ran(metadata("select evnt from events")))["errors"]
    assert (error["start"], error["end"], error["fix"]) == (7, 11, "event")


@pytest.mark.parametrize("text", ["", "select", "select 1 frm events", "select 'a", "select 1;;"])
async def test_syntax_errors_lie_in_the_text(queries: QueryWorld, text: str) -> None:
    body = await queries.ran(metadata(text))
    assert body["isValid"] is False
    for each in body["errors"]:
        assert 0 <= each["start"] <= each["end"] <= len(text)
        assert each["start"] < each["end"] or text == ""


@pytest.mark.parametrize(
    ("where", "use", "warned"),
    [
        ("", "no", True),
        ("where event = 'a'", "partial", True),
        ("where timestamp > '2026-01-01'", "yes", False),
        ("where timestamp > '2026-01-01' or event = 'a'", "no", True),
        ("where toDate(timestamp) between '2026-01-01' and '2026-01-02'", "yes", False),
        ("where timestamp != '2026-01-01'", "no", True),
        ("where properties.timestamp > 5", "no", True),
        ("where event = 'a' and {filters}", "yes", False),
        ("where event in (select event from events where timestamp > now())", "partial", True),
    ],
)
async def test_events_without_a_bound_in_time(
    queries: QueryWorld, where: str, use: str, warned: bool
) -> None:
    text = f"select count() from events {where}"
    body = await queries.ran(metadata(text))
    assert (body["isValid"], body["isUsingIndices"]) == (True, use)
    places = [text[each["start"] : each["end"]] for each in body["warnings"]]
    assert places == (["events"] if warned else [])


async def test_other_tables_need_no_bound(queries: QueryWorld) -> None:
    body = await queries.ran(metadata("with e as (select 1 as x) select x from e, persons"))
    assert (body["warnings"], body["isUsingIndices"]) == ([], "undecisive")
    assert body["table_names"] == ["persons"]


@pytest.mark.parametrize(
    ("share", "type_", "warned"),
    [(0.2, "Numeric", True), (0.01, "Numeric", False), (0.5, "String", False)],
)
async def test_values_that_do_not_convert(
    queries: QueryWorld, share: float, type_: str, warned: bool
) -> None:
    await define(queries, "event", "amount", type_, share)
    text = "select sum(properties.amount) from events where timestamp > now()"
    warnings = (await queries.ran(metadata(text)))["warnings"]
    places = [text[each["start"] : each["end"]] for each in warnings]
    assert places == (["properties.amount"] if warned else [])
    if warned:
        assert "20.0%" in warnings[0]["message"]


async def test_kinds_of_properties_are_told_apart(queries: QueryWorld) -> None:
    text = (
        "select e.properties.plan, person.properties.plan, p.properties['a b'], "
        "group_1.properties.x from events e join persons p on e.person_id = p.id "
        "where e.timestamp > now()"
    )
    notices = (await queries.ran(metadata(text)))["notices"]
    findings = [
        (text[each["start"] : each["end"]], each["message"].split("'")[0]) for each in notices
    ]
    assert findings == [
        ("e.properties.plan", "Event property "),
        ("person.properties.plan", "Person property "),
        ("p.properties['a b']", "Person property "),
        ("group_1.properties.x", "Group 1 property "),
    ]


async def test_an_expression_is_read_in_its_source(queries: QueryWorld) -> None:
    body = await queries.ran(metadata("properties.a = nope", "hogQLExpr"))
    (error,) = body["errors"]
    assert (error["start"], error["end"]) == (15, 19)
    assert (await queries.ran(metadata("count() > 1", "hogQLExpr")))["isValid"]
    source = {"kind": "HogQLQuery", "query": "select id from persons where 1 group by id"}
    good = await queries.ran(metadata("is_identified", "hogQLExpr", sourceQuery=source))
    assert (good["isValid"], good["table_names"]) == (True, ["persons"])
    assert not (await queries.ran(metadata("event", "hogQLExpr", sourceQuery=source)))["isValid"]
    assert not (await queries.ran(metadata("1, 2", "hogQLExpr")))["isValid"]


@pytest.mark.parametrize(
    ("language", "text", "places"),
    [
        ("hogTemplate", "Hi {person.name}", []),
        ("hogTemplate", "Hi {person.name} {lenth('a')}", ["lenth('a')"]),
        ("hog", "let x := 1\nreturn x", []),
        ("hog", "return 1 +", None),
        ("hogTemplate", "Hi {person.nme +}", None),
        ("hogJson", '{"a": "Hi {person.name}", "b": [1, null]}', []),
        ("hogJson", '{"a": 1,}', None),
        ("hogJson", '{"a": "x {1 +} y"}', None),
        ("hogJson", '{"a": "\\u00e4 {1 +}"}', ['"\\u00e4 {1 +}"']),
    ],
)
async def test_other_languages(
    queries: QueryWorld, language: str, text: str, places: list[str] | None
) -> None:
    body = await queries.ran(metadata(text, language))
    texts = [text[each["start"] : each["end"]] for each in body["errors"] + body["warnings"]]
    assert all(0 <= each["start"] < each["end"] <= len(text) for each in body["errors"])
    if places is None:
        assert not body["isValid"]
        assert texts
    else:
        assert texts == places


async def test_globals_are_known(queries: QueryWorld) -> None:
    text = "return mine"
    assert (await queries.ran(metadata(text, "hog")))["warnings"]
    assert not (await queries.ran(metadata(text, "hog", globals={"mine": 1})))["warnings"]


async def test_variables_have_their_values(queries: QueryWorld) -> None:
    identity = await queries.endpoints.add_variable("plan", "String", "pro")
    variables = {identity: {"variableId": identity, "code_name": "plan"}}
    text = "select {variables.plan}"
    assert (await queries.ran(metadata(text, variables=variables)))["isValid"]
    unknown = {"x": {"variableId": "x", "code_name": "plan"}}
    body = await queries.ran(metadata(text, variables=unknown))
    (error,) = body["errors"]
    assert (error["start"], error["end"]) == (0, len(text))


@pytest.mark.parametrize(
    ("more", "attr"),
    [
        ({"language": "sql"}, "language"),
        ({"qury": 1}, "qury"),
        ({"query": None}, "query"),
        ({"query": 5}, "query"),
        ({"globals": []}, "globals"),
        ({"variables": {"a": 1}}, "variables__a"),
        ({"variables": {"a": {"code_name": 1}}}, "variables__a__code_name"),
        ({"query": "x" * 100_001}, "query"),
    ],
)
async def test_wrong_nodes_name_the_place(
    queries: QueryWorld, more: dict[str, Any], attr: str
) -> None:
    node = metadata("select 1") | more
    assert await queries.refused(node) == (400, "parse_error", f"query__{attr}")


# --- autocomplete


async def test_properties_with_their_types(queries: QueryWorld) -> None:
    await define(queries, "event", "price", "Numeric")
    await define(queries, "event", "a b", None)
    await define(queries, "person", "email", "String")
    await define(queries, "group_1", "industry", "String")
    suggestions = (await queries.ran(complete("select properties.| from events")))["suggestions"]
    assert {
        each["label"]: (each["kind"], each["detail"], each["insertText"]) for each in suggestions
    } == {
        "price": ("Property", "Numeric", "price"),
        "a b": ("Property", "String", "`a b`"),
    }
    for text, expected in (
        ("select e.properties.pr| from events e", ["price"]),
        ("select person.properties.| from events", ["email"]),
        ("select events.person.properties.| from events", ["email"]),
        ("select properties.| from persons", ["email"]),
        ("select group_1.properties.| from events", ["industry"]),
        ("select group_0.properties.| from events", []),
        ("select properties['|'] from events", ["a b", "price"]),
        ("select poe.properties.e| from events", ["email"]),
        ("select 'properties.|' from events", []),
        ("select 1 -- properties.|", []),
    ):
        assert await labels(queries, complete(text)) == expected, text


@pytest.mark.parametrize(
    ("text", "there", "missing"),
    [
        ("select | from (select event as e, count() n, timestamp from events group by 1, 3) t",
         {"e", "n", "timestamp", "t"}, {"distinct_id", "event"}),
        ("select t.| from (select event as e, count() as n from events) as t join persons p on 1",
         {"e", "n"}, {"id", "is_identified"}),
        ("select p.| from (select event from events) t join persons p on p.id = t.person_id",
         {"id", "is_identified"}, {"event"}),
        ("select * from (select | from persons) t join events e on 1",
         {"is_identified"}, {"elements_chain"}),
        ("select count() from events where person_id in (select | from cohort_people)",
         {"cohort_id", "person_id"}, {"elements_chain"}),
        ("with a as (select toDate(timestamp) as day, 1 as n from events), "  # noqa: ISC004
         "more as (select day, n * 2 as twice from a) select | from more",
         {"day", "twice", "more"}, {"n", "event"}),
        ("with days as (select 1 as day), more as (select | from days) select 1",
         {"day"}, {"twice"}),
        ("with days as (select 1 as day) select 1 from |", {"days", "events"}, {"day"}),
        ("with days as (select 1 as day) select 1 from (select 2 from |)", {"days"}, set()),
        ("select is_identified from persons union all select | from sessions",
         {"$channel_type"}, {"is_identified"}),
        ("select count() as total, event kind from events group by |",
         {"total", "kind", "elements_chain"}, set()),
        ("select t.| from (select e.*, 1 as one from events e) t",
         {"one", "elements_chain", "person"}, {"e"}),
        ("select t.props.| from (select properties as props from persons) t", {"email"}, {"price"}),
        ("select properties['|'] from (select properties from persons) t", {"email"}, {"price"}),
        ("select t.p.| from (select properties.a as p from events) t", set(), {"price"}),
        ("select | from (select event, (select 1 as inner_one) as x, 'from persons' from events)",
         {"event", "x"}, {"inner_one", "is_identified"}),
        ("select (select |", {"SELECT"}, set()),
        ("select a from (select a from (select event as a from events)) where |",
         {"a"}, {"event"}),
    ],
)  # fmt: skip
async def test_names_of_the_select_around_the_place(
    queries: QueryWorld, text: str, there: set[str], missing: set[str]
) -> None:
    await define(queries, "event", "price", "Numeric")
    await define(queries, "person", "email", "String")
    rows = set(await labels(queries, complete(text)))
    assert rows >= there
    assert not rows & missing


@pytest.mark.parametrize(
    "text",
    [
        "|" + "(select " * 5_000,
        "select a from |" + "(select a from " * 3_000,
        "select " + "a " * 20_000 + "| from events",
        "with " + ", ".join(f"t{n} as (select * from t{n + 1}, t{n + 2})" for n in range(500))
        + " select | from t0",
        "with t as (select * from t) select | from t",
        "select " + " " * 50_000 + "| from events" + ", events" * 5_000,
    ],
    ids=["brackets", "subqueries", "names", "queries", "circle", "blanks"],
)  # fmt: skip
async def test_long_texts_are_answered(queries: QueryWorld, text: str) -> None:
    body = await queries.ran(complete(text))
    assert body["suggestions"]


async def test_tables_behind_from(queries: QueryWorld) -> None:
    rows = await labels(queries, complete("with mine as (select 1) select 1 from |"))
    assert {"mine", "events", "persons", "sessions", "numbers"} <= set(rows)
    assert "count" not in rows
    assert "persons" in await labels(queries, complete("select 1 from events, |"))
    assert await labels(queries, complete("select 1 from events join pers|")) == [
        "persons",
        *(name for name in rows if name != "persons" and "pers" in name),
    ]


async def test_columns_functions_keywords_and_variables(queries: QueryWorld) -> None:
    await queries.endpoints.add_variable("plan", "String")
    suggestions = (await queries.ran(complete("select | from events e")))["suggestions"]
    by_label = {each["label"]: each for each in reversed(suggestions)}
    assert by_label["timestamp"]["kind"] == "Variable"
    assert by_label["timestamp"]["detail"] == "DateTime"
    assert by_label["e"]["kind"] == "Class"
    assert by_label["toDate"]["kind"] == "Function"
    assert by_label["toDate"]["detail"].startswith("toDate(x1")
    assert by_label["WHERE"]["kind"] == "Keyword"
    assert by_label["variables.plan"]["insertText"] == "{variables.plan}"
    assert all(
        set(each) == {"label", "insertText", "kind", "detail", "documentation"}
        for each in suggestions
    )
    inside = await labels(queries, complete("select upper(ev|) from events"))
    assert {"event", "events", "event_person_id"} <= set(inside[:3])
    assert "timestamp" not in inside
    assert await labels(queries, complete("select {variables.|}")) == ["plan"]
    assert "variables.plan" in await labels(queries, complete("select {|}"))
    columns = await labels(queries, complete("select p.| from persons p"))
    stored = ["id", "created_at", "properties", "is_identified", "pdi"]
    assert columns == [
        *stored,
        "$virt_initial_channel_type",
        "$virt_initial_referring_domain_type",
    ]


async def test_expressions_have_the_columns_of_their_source(queries: QueryWorld) -> None:
    assert "event" in await labels(queries, complete("|", "hogQLExpr"), "Variable")
    source = {"kind": "HogQLQuery", "query": "select 1 from persons"}
    rows = await labels(queries, complete("|", "hogQLExpr", sourceQuery=source), "Variable")
    assert "is_identified" in rows
    assert "event" not in rows


async def test_hog_and_templates(queries: QueryWorld) -> None:
    await define(queries, "event", "price", "Numeric")
    given = {"inputs": {"url": "x", "body": {"a": 1}}, "mine": True}
    assert await labels(queries, complete("Hi |", "hogTemplate")) == []
    assert "person" in await labels(queries, complete("Hi {|}", "hogTemplate"))
    assert await labels(queries, complete("{event.properties.|}", "hogTemplate")) == ["price"]
    assert "distinct_id" in await labels(queries, complete("return event.|", "hog"))
    rows = await labels(queries, complete("return inputs.|", "hog", globals=given))
    assert rows == ["url", "body"]
    assert await labels(queries, complete("inputs.body.|", "hog", globals=given)) == ["a"]
    body = await queries.ran(complete("let total := 1; return |", "hog", globals=given))
    by_label = {each["label"]: each for each in body["suggestions"]}
    assert {"total", "mine", "inputs", "length", "while", "fetch"} <= set(by_label)
    assert by_label["length"]["detail"] == "length(string | array | tuple) -> number?"
    assert await labels(queries, complete('{"a": "{person.|}"}', "hogJson")) == [
        *("id", "name", "url", "properties"),
    ]


@pytest.mark.parametrize("text", ["|", "select (|", "select a.b.c.|", "{{{|", "' |", "/* |", ".|"])
@pytest.mark.parametrize("language", ["hogQL", "hogQLExpr", "hogTemplate", "hog", "hogJson"])
async def test_any_text_is_answered(queries: QueryWorld, language: str, text: str) -> None:
    body = await queries.ran(complete(text, language))
    assert set(body) == {"suggestions", "incomplete_list", "timings"}


async def test_a_place_outside_of_the_text_is_refused(queries: QueryWorld) -> None:
    node = complete("select |") | {"endPosition": 8}
    assert await queries.refused(node) == (400, "parse_error", "query__endPosition")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("select 'ä', sum(event) from events", "sum(event)"),
        ("select count(1, 2, 3) from events", "count(1, 2, 3)"),
        ("select event, count() from events", "event"),
        ("select max(count()) from events", "max(count())"),
        ("select event from events where count() > 1", "count() > 1"),
        ("select 1, arraySum('x')", "arraySum('x')"),
        ("select timestamp\n+ event from events", "timestamp\n+ event"),
        ("select event from events where timestamp > 'yesterday'", "'yesterday'"),
        ("select now() - 'a'", "'a'"),
        ("select quantile(2)(properties.price) from events", "quantile(2)(properties.price)"),
        ("select replaceRegexpAll(event, '(', 'x') from events", "'('"),
        ("select 'ä', upper() from events", "upper()"),
        ("select event from events where event = 'b' and timestamp > 'abc'", "'abc'"),
        ("select toStartOfDay('x') from events where event = 'b'", "'x'"),
    ],
)
async def test_errors_of_types_and_aggregates_are_found_with_their_place(
    queries: QueryWorld, text: str, part: str
) -> None:
    body = await queries.ran(metadata(text))
    assert body["isValid"] is False
    [error] = body["errors"]
    assert text[error["start"] : error["end"]] == part
    refused = await queries.send(text)
    assert refused.status_code == 400
    assert error["message"].split(".")[0] in refused.json()["detail"]


# --- explain


async def test_an_explained_query_has_plan_and_metadata(queries: QueryWorld) -> None:
    await queries.endpoints.add_events([("a", NOW, "u", "{}")])
    text = "select event, count() from events where event = 'a' group by event order by 2 limit 5"
    body = await queries.ran({"kind": "HogQLQuery", "query": text, "explain": True})
    assert body["results"] == [["a", 1]]
    assert body["explain"] == [
        "Limit 5",
        "  Sort by 1 expression",
        "    Group by 1 expression",
        "      Filter",
        "        Read events: event",
    ]
    assert body["metadata"]["isValid"] is True
    assert body["error"] is None


async def test_an_error_of_an_explained_query_is_in_the_answer(queries: QueryWorld) -> None:
    node = {"kind": "HogQLQuery", "query": "select nope from events", "explain": True}
    body = await queries.ran(node)
    assert "nope" in body["error"]
    assert (body["results"], body["explain"]) == ([], None)
    assert set(body) == set(await queries.ran("select 1"))
    assert body["metadata"]["errors"][0]["start"] == 7
    response = await queries.send(node, refresh="force_async", client_query_id="explained")
    assert response.status_code == 202
    await queries.services.worker.drain()
    status = (await queries.get("explained")).json()["query_status"]
    assert status["error"] is False
    assert "nope" in status["results"]["error"]
    syntax = await queries.ran({"kind": "HogQLQuery", "query": "selec 1", "explain": True})
    assert syntax["metadata"]["isValid"] is False


async def test_without_explain_an_error_is_a_refusal(queries: QueryWorld) -> None:
    assert (await queries.send("select nope from events")).status_code == 400
    assert (await queries.ran("select 1"))["explain"] is None
