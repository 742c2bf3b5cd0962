"""Site functions: TypeScript erased, inputs and filters evaluated in Node as posthog-js would."""

import json
from typing import Any

import pytest

from hoglet.hog.javascript import (
    SiteMapping,
    site_function_javascript,
    transpile_site_source,
)
from hoglet.kit.errors import SourceError
from hoglet.syntax.parse import parse_expression
from support.hog_engines import _javascript
from support.oracle import need, why_no_node

TYPED = """\
import type { A } from 'x'
interface X { a: number }
type Y = string | X
enum Size { Small, Large = 5, Next }
class Base<T> { constructor(private readonly n: number, public m?: T) {} }
export async function onLoad<T>(this: X, { inputs }: { inputs: any }, y?: number): Promise<void> {
  const a: string = inputs.x as string
  return (<any>a)!
}
export const onEvent = (e: Y): e is X => e satisfies any
"""


def run(code: str, expression: str) -> list[str]:
    need(why_no_node())
    answer = _javascript().ask(code=f"const site = ({code})();\n{expression}")
    assert answer["error"] is None
    return answer["output"]


def test_types_are_erased_and_exports_returned() -> None:
    text = transpile_site_source(TYPED)

    assert "async function onLoad( { inputs }, y) {" in text
    assert "const a = inputs.x\n" in text
    assert text.rstrip().endswith('return { "onLoad": onLoad, "onEvent": onEvent };')
    assert text.split("\n")[6].strip() == "const a = inputs.x"  # lines stay where they were


def test_plain_javascript_is_unchanged() -> None:
    source = "function onLoad() { return `a ${1 ? 'x' : 2} <b>` }\nreturn { onLoad }\n"

    assert transpile_site_source(source) == source


def test_enums_and_parameter_properties_work() -> None:
    code = site_function_javascript(
        TYPED + "console.log(Size.Large, Size[6], new Base(1, 2).m, new Base(3).n)", {}
    )

    assert run(code, "") == ["5 Next 2 3"]


@pytest.mark.parametrize(
    ("source", "given"),
    [
        ("export const enum E { X = 1 << 2, Y = X | 1, Z } const v = [E.X, E.Y, E.Z]", [4, 5, 6]),
        ("import { type T } from 'x'; import type U from 'y'; const v = 1", 1),
        ("export type { T } from 'x'; export { type U }; type U = 1; const v = 1", 1),
        ("export const { m, n: [p] } = { m: 1, n: [2] }; const v = [m, p]", [1, 2]),
        ("const f = <T extends object>(a: T, b?: number): T => a; const v = f([1])", [1]),
        ("let a: any = { b: [1] }; const v = a!.b![0]! as number satisfies number", 1),
        (("class P { #x = 1; protected y?: string; static s: number = 3; get g(): number {"
         " return this.#x } } const v = [new P().g, P.s]"), [1, 3]),
        (("class B {} class A extends B { constructor(private q: number) { const t = 1; super() }"
         " get r() { return this.q } } const v = new A(2).r"), 2),
        (("abstract class A { abstract m(): void; n(): number { return 1 } }"
         " class C extends A { override m(): void {} } const v = new C().n()"), 1),
        ("function f(a: number): number; function f(a: any): any { return a } const v = f(1)", 1),
        ("const f = (x: unknown): x is string => typeof x === 'string'; const v = f('a')", True),
        ("let type = 1, as = 2, declare = 3; const v = [type, as, declare]", [1, 2, 3]),
        ("const v = `a${(1 as number) + 1}b as string`", "a2b as string"),
        ("const v = new Map<string, number>([['a', <any>1]]).get('a')", 1),
    ],
)  # fmt: skip
def test_typescript_runs(source: str, given: Any) -> None:
    body = transpile_site_source(source + "\nexport { v as result }")

    assert (
        json.loads(run(f"() => {{ {body} }}", "console.log(JSON.stringify(site.result))")[0])
        == given
    )


@pytest.mark.parametrize("name", ["m", "p", "rest"])
def test_every_name_of_an_exported_pattern_is_exported(name: str) -> None:
    text = transpile_site_source("export const { m, n: [p] = [1], ...rest } = { m: 1 }")

    assert f'"{name}": {name}' in text


@pytest.mark.parametrize(
    "source",
    [
        "let a: = 1",
        "export function onLoad( {",
        "import x from 'y'",
        "namespace N { export const x = 1 }",
        "@dec class A {}",
        "export * from 'x'",
        "import { X } from 'y'",
        "import a = require('x')",
        "export = 5",
        "class A { @dec m() {} }",
        "const a = <div>x</div>",
    ],
)
def test_what_is_refused(source: str) -> None:
    with pytest.raises(SourceError):
        transpile_site_source(source)


def test_init_calls_on_load_with_the_inputs() -> None:
    code = site_function_javascript(
        "export const onLoad = ({ inputs, posthog }) => console.log(JSON.stringify(inputs), posthog)",  # noqa: E501 (one line of TypeScript)
        {
            "b": {"value": "{inputs.a + 1}", "order": 1},
            "a": {"value": "{1 + 1}", "order": 0},
            "list": {"value": [1, "x{2}", {"k": "{3}"}]},
            "bad": {"value": "{boom()}"},
            "plain": {"value": "text"},
        },
    )

    assert run(code, "site.init({ posthog: 'ph', callback: (ok) => console.log(ok) })") == [
        '{"list":[1,"x2",{"k":3}],"bad":null,"plain":"text","a":2,"b":3} ph',
        "true",
    ]


def test_callback_hears_of_a_missing_on_load() -> None:
    code = site_function_javascript("export function onEvent() {}", {})

    assert run(code, "site.init({ posthog: 1, callback: (ok) => console.log(ok) })") == ["true"]


def test_events_reach_the_mappings_that_match() -> None:
    code = site_function_javascript(
        "export function onEvent({ inputs }) { console.log(JSON.stringify(inputs)) }",
        {"name": {"value": "{person.name}"}, "to": {"value": "all"}},
        parse_expression("event = '$pageview' and person.name like 'J%'"),
        [
            SiteMapping(inputs={"to": {"value": "{event.event}!"}}),
            SiteMapping(filters=parse_expression("event = 'other'")),
            SiteMapping(disabled=True),
        ],
    )
    events = [
        {"event": {"event": "$pageview"}, "person": {"name": "Jo"}, "groups": {}},
        {"event": {"event": "$pageview"}, "person": {"name": "Al"}, "groups": {}},
        {"event": {"event": "other"}, "person": {"name": "Jo"}},
    ]
    call = f"""
    const {{ processEvent }} = site.init({{ posthog: 1, callback: () => {{}} }})
    for (const event of {json.dumps(events)}) {{ processEvent(event, 1) }}
    """

    assert run(code, call) == ['{"name":"Jo","to":"$pageview!"}']


def test_without_mappings_nothing_is_called() -> None:
    code = site_function_javascript("export function onEvent() { console.log('never') }", {})

    assert run(code, "site.init({ callback: () => {} }).processEvent({ event: {} }, 1)") == []


def test_a_user_text_can_not_break_out() -> None:
    code = site_function_javascript(
        "export function onLoad({ inputs }) { console.log(inputs.x) }",
        {"x": {"value": "</script>/*build*/\u2028'\"`$x"}},
    )

    assert "</script>" not in code
    assert run(code, "site.init({ callback: () => {} })") == ["</script>/*build*/\u2028'\"`$x"]
