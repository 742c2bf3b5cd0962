"""Variables that hold the host's data itself: programs cannot tell it from copies."""

# ruff: noqa: E501 (a case a line)
import copy

import pytest

from hoglet.hog.compile import compile_program
from hoglet.hog.python.program import compile_python
from hoglet.hog.python.run_to_end import run_program
from support.hog_reading_programs import ReadingPrograms

pytestmark = pytest.mark.engine

GLOBALS = {
    "event": {
        "name": "paid",
        "big": 2**60,
        "at": {"__hogDateTime__": True, "dt": 1714739696.5, "zone": "UTC"},
        "day": {"__hogDate__": True, "year": 2024, "month": 5, "day": 3},
        "error": {"__hogError__": True, "type": "Bad", "message": "no"},
        "whole": 2.0,
        "properties": {"a": {"x": 1, "y": [1, 2]}, "b": {"x": 1}, "n": 3, "t": "text", "z": None},
        "list": [{"x": 1, "y": {"x": 5}}, {"x": 2, "y": {"x": 6}}, "s", 7, [1, 2], None],
    },
    "person": {"properties": {"t": "text", "a": {"x": 1}}},
    "inputs": {"b": {"__hogDate__": True, "year": 2024, "month": 5, "day": 3}, "z": (1, 2)},
}

CASES = [
    # what is written through stays with the program
    ("let e := event; e.properties.n := 9; print(e.properties.n, event.properties.n)", "9 3"),
    ("let p := event.properties; let a := p.a; a.x := 9; print(p.a.x, a.x)", "9 9"),
    ("let p := event.properties; let a := p.a; let o := {'a': a}; o.a.x := 9; print(a.x)", "9"),
    ("let p := event.properties; let o := {}; o.a := p.a; o.a.x := 9; print(p.a.x)", "9"),
    ("let p := event.properties; let o := {'a': {}}; o.a.k := p.a; o.a.k.x := 9; print(p.a.x)", "9"),
    ("let p := event.properties; let l := [p.a]; l[1].x := 9; print(p.a.x)", "9"),
    ("fun f(p) { p.x := 9 } let p := event.properties; f(p.a); print(p.a.x)", "9"),
    ("fun f(p) { return p.a } let p := event.properties; f(p).x := 9; print(p.a.x)", "9"),
    ("let p := event.properties; for (let k, v in p) { if (k = 'a') { v.x := 9 } } print(p.a.x)", "9"),
    ("let l := event.list; arrayMap(i -> i.x, l); l[1].x := 9; print(l[1].x)", "9"),
    ("let l := event.list; let m := arrayFilter(i -> i.x = 1, l); m[1].x := 9; print(l[1].x)", "9"),
    ("let p := event.properties; let q := ifNull(p.a, 1); q.x := 9; print(p.a.x)", "9"),
    ("let p := event.properties; let q := p.z ?? p.a; q.x := 9; print(p.a.x)", "9"),
    ("let p := event.properties; let f := () -> p.a; f().x := 9; print(p.a.x)", "9"),
    ("let p := event.properties; let v := values(p); v[1].x := 9; print(p.a.x)", "9"),
    ("let a := event.properties; let b := event.properties; b.n := 9; print(a.n)", "3"),
    ("event.list[3] := 9; event.list[1]['x'] := 9; print(event.list[3], event.list[1].x)", "s 1"),
    # objects that are edited are copied, the rest is not
    ("let e := event; e.name := 'x'; e.properties.n := 9; print(e.name, e.properties.n, event.name)", "x 9 paid"),
    ("let e := event; e.properties.n := 9; let p := e.properties; e.properties.t := 'y'; print(p.t)", "y"),
    ("let e := event; let o := {'p': e.properties}; e.properties.n := 9; print(o.p.n)", "9"),
    ("let e := event; let p := e.properties; let o := [p]; e.properties.n := 9; print(o[1].n)", "9"),
    ("let e := event; for (let k, v in e.properties) { e.properties.q := k } print(e.properties.q)", "z"),
    ("let e := event; let f := () -> e.properties.n; e.properties.n := 9; print(f())", "9"),
    ("let p := event.properties; let k := concat('n', ''); p[k] := 9; print(p.n, p[k], event.properties.n)", "9 9 3"),
    ("let p := event.properties; p.c := p.a; p.c.x := 9; print(p.a.x, p.c.x)", "9 9"),
    ("let p := event.properties; p[1] := 'i'; p[true] := 'b'; p[p.z] := 'n'; print(p[1], p[true], p[null], p)", "i b n {'a': {'x': 1, 'y': [1, 2]}, 'b': {'x': 1}, 'n': 3, 't': 'text', 'z': null, 1: 'i', true: 'b', null: 'n'}"),
    ("let e := event; let p := e.properties; let q := p.a; for (let k, v in p) { e.properties[k] := 1 } print(q.x, p.a)", "1 1"),
    ("let e := event; for (let k in ['n', 't']) { e.properties[k] := null } print(e.properties.n, event.properties.n)", "null 3"),
    ("let p := event.properties; p.n := p.n + 1; p.n := p.n + 1; print(p.n, event.properties.n)", "5 3"),
    ("let e := event; e.properties.a.x := 9; print(e.properties.a, e.properties.b)", "{'x': 9, 'y': [1, 2]} {'x': 1}"),
    ("let e := event; e.properties.at := now(); print(typeof(e.properties.at), typeof(e.at))", "datetime datetime"),
    ("let e := event; e.properties.n := null; print(e.properties, keys(event.properties))", "{'a': {'x': 1, 'y': [1, 2]}, 'b': {'x': 1}, 'n': null, 't': 'text', 'z': null} ['a', 'b', 'n', 't', 'z']"),
    ("let p := event.properties; let a := {'x': p.n}; let m := {}; m[a] := 1; for (let k, v in m) { print(k == a, has([k], a)) }", "true true"),
    ("let p := event.properties; let o := {}; for (let k, v in p) { if (k != p.t) { o[k] := v } } o.a.x := 9; print(p.a.x)", "9"),
    ("let p := event.properties; let l := ['a', 'b']; for (let k, v in p) { if (has(l, k)) { v.x := 9 } } print(p.a.x, p.b.x)", "9 9"),
    # what functions return, and variables that are not of one kind, are put in as they are
    ("fun f(x) { return x.a } let p := event.properties; let e := event; e.properties.q := f(p); e.properties.q.x := 9; print(p.a.x, e.properties.q.x, event.properties.a.x)", "9 9 1"),
    ("fun f(x) { return x } let e := event; let o := {'x': 1}; e.properties.n := f(o); o.x := 2; print(e.properties.n.x)", "2"),
    ("fun f(x) { if (empty(x)) { return x } return upper(x) } let e := event; for (let k in ['t', 'z']) { e.properties[k] := f(event.properties[k]) } print(e.properties.t, e.properties.z)", "TEXT null"),
    ("let e := event; let n := null; n := {'x': 1}; e.properties.n := n; n.x := 2; print(e.properties.n.x)", "2"),
    ("let e := event; let n := null; let f := () -> { n := {'x': 1} }; f(); e.properties.n := n; n.x := 2; print(e.properties.n.x)", "2"),
    ("let e := event; let n := 0; let m := n; n := event.properties.a; m := n; e.properties.n := m; n.x := 2; print(e.properties.n.x)", "2"),
    # what is the same object is equal to itself, and to nothing else
    ("let p := event.properties; print(p == p, p.a == p.a, p.a == p.b)", "true true false"),
    ("let p := event.properties; let a := p.a; print(a == p.a, p.a != a)", "true false"),
    ("let p := event.properties; let q := event.properties; print(p == q, p.a == q.a)", "false false"),
    ("let p := event.properties; let a := p.a; let l := [p.a, a]; print(l[1] == l[2])", "true"),
    ("let l := event.list; let i := l[1]; print(has(l, i), indexOf(l, i), i in l)", "true 1 true"),
    ("fun f(a, b) { return a == b } let p := event.properties; print(f(p.a, p.a))", "true"),
    ("let p := event.properties; for (let k, v in p) { print(v == p[k]) }", "true\n" * 4 + "true"),
    ("let l := event.list; let k := []; for (let i in l) { if (not has(k, i)) { k := arrayPushBack(k, i) } } for (let i in l) { print(has(k, i), i in k, indexOf(k, i)) }", "\n".join(f"true true {n}" for n in range(1, 7))),
    ("let p := event.properties; let k := [p]; let a := [p.a]; print(k[1].a == a[1], k[1] == p, has(a, p.a), p.a in a, p.b in a, k[1].b == p.b)", "true true true true false true"),
    ("let p := event.properties; let q := event.properties; let k := [p.a]; print(has(k, q.a), q.a in k, k[1] == q.a, k[1] == p.a)", "false false false true"),
    ("for (let n in [1, 2]) { let l := event.list; let k := [l[1]]; print(k[1] == l[1], has(k, l[1]), l[1] in k) }", "true true true\ntrue true true"),
    ("let k := []; for (let n in [1, 2]) { let l := event.list; k := arrayPushBack(k, l[1]) } print(k[1] == k[2])", "false"),
    ("let k := []; for (let n in [1, 2]) { for (let i in event.list) { k := arrayPushBack(k, i) } } print(k[1] == k[7], k[4] == k[10])", "false true"),
    ("let e := event; let k := [e.properties.a]; e.properties.n := 9; print(k[1] == e.properties.a, e.properties.n, keys(e.properties) == k)", "true 9 false"),
    ("let e := event; let k := []; print(e.properties in k); e.properties.n := 9; print(e.properties in k, jsonStringify(e.properties.n))", "false\nfalse 9"),
    ("let l := event.list; let k := [l[1]]; let f := () -> has(k, l[1]); print(f(), k[1] == l[1])", "true true"),
    ("let e := event; let k := [e.at, e.error]; print(k[1] == e.at, has(k, e.error), e.error == k[2])", "true true true"),
    # so is an object that is used as a key
    ("let m := {}; let o := person.properties.a; m[o] := 1; print(m[o], m[person.properties.a])", "1 null"),
    ("let m := {}; let p := event.properties; m[p.a] := 1; print(m[p.a], m[p.b], m[p.n], m)", "1 null null {{'x': 1, 'y': [1, 2]}: 1}"),
    ("let m := {}; let p := event.properties; let a := p.a; m[p.a] := 1; m[a] := 2; print(m[p.a], length(keys(m)))", "2 1"),
    ("let m := {}; let p := event.properties; let q := event.properties; m[p.a] := 1; print(m[q.a])", "null"),
    ("let m := {}; for (let i in event.list) { m[i] := (m[i] ?? 0) + 1; m[i.y] := 1 } print(m[7], m['s'], length(keys(m)))", "1 1 8"),
    ("let l := event.list; for (let i in l) { let m := {i: 1}; print(m[i]) }", "1\n" * 5 + "1"),
    ("let p := event.properties; let m := {p.a: {'n': 2}}; print(m[p.a ?? 'x'].n, m[p.z ?? 'x'])", "2 null"),
    ("let m := {}; let e := event; m[e.at] := 1; m[e.list] := 2; m[e.whole] := 3; print(m[e.at], m[e.list], m[2])", "1 2 3"),
    ("let m := {}; fun f(x) { m[x] := 1; return m[x] } print(f(event.properties.a), f(event.properties.b), length(keys(m)))", "1 1 2"),
    ("let m := {}; fun f(x, n) { m[x] := n; return n = 0 ? length(keys(m)) : f(x.a ?? x, n - 1) } print(f(event.properties, 3))", "2"),
    ("let m := {}; fun f(x) { m[x] := 1; return f(x.a) } print(m)", "{}"),
    ("let m := {}; for (let i in [1, 2]) { let p := event.properties; m[p.a] := 1; m[p.a] := 2 } print(values(m))", "[2, 2]"),
    ("let m := {}; for (let i in [1, 2]) { for (let j in event.list) { m[j.y] := i; m[j.y] := 3 } } print(length(keys(m)))", "5"),
    ("let p := event.properties; let m := {}; for (let i in [1, 2]) { m[p.a] := i } print(values(m))", "[2]"),
    ("let m := {}; print(arrayMap(i -> { m[i] := 1; return m[i] }, event.list), length(keys(m)))", "[1, 1, 1, 1, 1, 1] 6"),
    # tagged forms and numbers beyond 2^53 become values when the leaf is read
    ("let e := event; print(e.at, e.day, e.big)", "DateTime(1714739696.5, 'UTC') Date(2024, 5, 3) 1152921504606847000"),
    ("let e := event; print(typeof(e.at), typeof(e.day), typeof(e.error), typeof(e.whole))", "datetime date error integer"),
    # parts of a list that stands in for null, and of a filtered list
    ("let p := event.properties; for (let i in p.none ?? []) { print(i) } for (let i in p.a.y ?? []) { print(i) }", "1\n2"),
    ("let p := event.properties; let l := p.none ?? []; l[1] := 5; print(l, p.none ?? [])", "[5] []"),
    ("let p := event.properties; let l := p.a.y ?? []; l[1] := 5; print(l, p.a.y)", "[5, 2] [5, 2]"),
    ("let p := event.properties; let a := [p.a ?? {}, p.a ?? {}]; print(a[1] == a[2], p.a == (p.a ?? {}))", "true true"),
    ("let l := arrayFilter(i -> i.x > 0, event.list); print(length(l), l[2].y.x, arrayMap(i -> i.x, l), l)", "2 6 [1, 2] [{'x': 1, 'y': {'x': 5}}, {'x': 2, 'y': {'x': 6}}]"),
    ("let l := event.list; let m := arrayFilter(i -> i.x = 1, l); print(m[1] == l[1], has(l, m[1]), m == l)", "true true false"),
    ("let l := event.list; let m := arrayFilter(i -> i.x = 1, l); l[1].x := 9; print(m[1].x)", "9"),
    ("let e := event; let m := arrayFilter(i -> i.x = 1, e.properties); e.properties.b := null; print(m, e.properties.b)", "[{'x': 1, 'y': [1, 2]}, {'x': 1}] null"),
    ("let l := arrayFilter(i -> { print(typeof(i)); return i = 's' }, event.list)[{'k': print('key') ?? 1}.k]; print(l)", "object\nobject\nstring\ninteger\narray\nnull\nkey\ns"),
    ("let l := arrayFilter(i -> typeof(i) != 'object', values(event)); print(arrayMap(i -> typeof(i), l))", "['string', 'integer', 'datetime', 'date', 'error', 'integer', 'array']"),
    ("let l := arrayFilter(i -> typeof(i) != 'string', event); print(arrayMap(i -> typeof(i), l), l[1])", "['integer', 'datetime', 'date', 'error', 'integer', 'object', 'array'] 1152921504606847000"),
    ("let m := arrayFilter(i -> i.x > 0, event.list); let k := [m[1]]; k[1].x := 9; print(m[1].x)", "9"),
    ("let m := arrayFilter(i -> i.x > 0, event.list); let k := [m[1], m[2]]; print(k[1] == m[1], k[2] == m[1], has(k, m[2]), m[1] in k, has(m, k[2]))", "true false true true true"),
    ("let m := arrayFilter(i -> true, arrayFilter(i -> typeof(i) = 'object', event.list)); for (let i in m) { print(i.y.x) } print(length(m ?? []))", "5\n6\n2"),
    ("let d := event.at; print(keys(d), length(d), typeof(d), d.zone)", "[] null datetime UTC"),
    ("let d := event.day; for (let k, v in d) { print(k) } print(d.month, toString(d))", "5 2024-05-03"),
    ("let d := event.day; print(arrayMap(x -> x, d), empty(d), has(d, 'year'))", "[] false false"),
    ("let e := event.error; print(e.message, e.type, keys(e), jsonStringify(e))", 'no Bad [] {"__hogError__":true,"type":"Bad","message":"no"}'),
    ("for (let k, v in event) { if (k in ['at', 'big']) { print(typeof(v)) } }", "integer\ndatetime"),
    ("let e := event; print(e.big == 1152921504606847000, e.big + 1)", "true 1152921504606847000"),
    ("let e := event; print(jsonStringify(e.whole), jsonStringify(e.big))", "2 1152921504606847000"),
    ("let e := event; print(e.at > e.day, e.at == '2024-05-03 12:34:56.5')", "true true"),
    # looking
    ("let l := event.list; print(length(l), l[-1], l[3], l[9], l[1].y.x, l['x'])", "6 null s null 5 null"),
    ("let l := event.list; for (let i, v in l) { print(i, typeof(v)) }", "0 object\n1 object\n2 string\n3 integer\n4 array\n5 null"),
    ("let l := event.list; print(arrayCount(i -> i.x > 0, l), arrayExists(i -> i = 7, l))", "2 true"),
    ("let l := event.list; print(arrayReduce((s, i) -> s + (i.x ?? 0), l, 0))", "3"),
    ("let l := event.list; print(arrayFilter(i -> typeof(i) = 'object', l))", "[{'x': 1, 'y': {'x': 5}}, {'x': 2, 'y': {'x': 6}}]"),
    ("let p := event.properties; print('a' in p, 'q' in p, 'q' not in p, 's' in event.list)", "true false true true"),
    ("let p := event.properties; let k := concat('t', ''); print(p[k], p[concat('n', '')], p[1])", "text 3 null"),
    ("fun f(p, k) { return p[k] ?? 'none' } print(f(event.properties, 't'), f(null, 't'), f(event, 'q'))", "text none none"),
    ("fun f(n, l) { return n = 0 ? length(l) : f(n - 1, l) } print(f(3, event.list))", "6"),
    ("let l := event.list; let k := 's'; let n := 7; print(has(l, k), has(l, 'q'), has(event.list, n), has(event.properties, k), has(event.at, 'zone'), has(event.none, k))", "true false true false false false"),
    ("let p := event.properties; print(length(keys(p)), length(keys(event.at)), length(keys(event.list)), length(keys(p.none)))", "5 0 6 0"),
    # new objects that nothing else refers to are put in
    ("let e := event; e.properties.q := {'n': 1}; e.properties.q.n := 2; print(e.properties.q.n, e.properties.q)", "2 {'n': 2}"),
    ("let e := event; e.properties.l := arrayPushBack(event.list, 1); e.properties.l[1] := 5; print(e.properties.l[1], event.list[1].x)", "5 1"),
    ("let e := event; if (empty(e.properties.s)) { e.properties.s := {} } e.properties.s.x := 1; let s := e.properties.s; s.y := 2; print(e.properties.s)", "{'x': 1, 'y': 2}"),
    ("let e := event; let o := {'n': 1}; e.properties.q := {'o': o}; o.n := 2; print(e.properties.q.o.n)", "2"),
    ("let e := event; e.properties.q := {'__hogDate__': true, 'year': 1, 'month': 1, 'day': 1}; print(typeof(e.properties.q))", "object"),
    ("let e := event; e.properties.q := {'at': event.at, 1.0: 2.0}; print(typeof(e.properties.q.at), e.properties.q[1], e.properties.q.at == event.day)", "datetime 2 false"),
    ("let e := event; e.properties.q := [tuple(1, 2)]; print(typeof(e.properties.q[1]))", "tuple"),
    ("let e := event; let k := []; e.properties.q := {}; k := arrayPushBack(k, e.properties.q); k[1].x := 1; print(e.properties.q.x)", "1"),
    ("fun f() { return {'x': 1} } let e := event; e.properties.q := f(); e.properties.q.x := 2; print(e.properties.q, f())", "{'x': 2} {'x': 1}"),
    # other names of parts of a copy, which are written through
    ("let e := event; let p := e.properties; p.n := 9; print(p.n, e.properties.n, event.properties.n)", "9 9 3"),
    ("let e := event; let p := e.properties; let a := p.a; a.x := 9; p.b.x := 8; print(e.properties.a.x, p.b.x, event.properties.a.x)", "9 8 1"),
    ("let e := event; let p := e.properties; let o := {'p': p}; p.n := 9; print(o.p.n)", "9"),
    ("let e := event; let p := e.properties; e.properties := {'n': 1}; p.n := 9; print(p.n, e.properties.n)", "9 1"),
    ("let e := event; let p := e.properties; e.properties := person.properties; p.t := 'x'; print(p.t, e.properties.t, person.properties.t)", "x text text"),
    ("fun set(p, k) { p[k] := 9 } let e := event; set(e.properties, 'n'); set(e, 'name'); print(e.properties.n, e.name, event.properties.n)", "9 9 3"),
    ("fun set(p) { p.x := 9 } let e := event; set(e.properties.a); set(event.properties.b); print(e.properties.a.x, event.properties.b.x)", "9 1"),
    ("fun set(p, n) { p.x := n; if (n > 0) { set(p, n - 1) } } let e := event; set(e.properties.a, 3); print(e.properties.a.x)", "0"),
    ("fun set(p) { p.a := 9; return p } let e := event; let q := set(e.properties); q.b := 8; print(e.properties.a, e.properties.b)", "9 8"),
    ("let e := event; for (let k in ['a', 'b']) { let q := e.properties; q[k] := k; print(q.a ?? 0, e.properties.b.x) }", "a 1\na null"),
    # variables that walk through the data
    ("let c := event; for (let k in ['properties', 'a', 'x']) { c := c[k] } print(c)", "1"),
    ("let c := event; for (let i := 1; i < 3; i := i + 1) { c := c.list ?? c[i] } print(c)", "{'x': 2, 'y': {'x': 6}}"),
    ("let c := event; while (c.properties != null) { c := c.properties } print(c.t, typeof(c.a))", "text object"),
    ("let c := event.list; c := c[1]; let d := c; c := c.y; d.x := 9; print(c.x, d.x)", "5 9"),
    ("let c := event; c := c.properties; let d := c.a; d.x := 9; print(c.a.x)", "9"),
    ("let c := event; c := c.properties; c.n := 9; print(c.n, event.properties.n)", "9 3"),
    ("let c := event; c := c.properties; let k := [c.a, c.a]; print(k[1] == k[2], c.a == k[1], c.a == c.b)", "true true false"),
    ("let m := {}; let c := event.properties; c := c.a; m[c] := 1; let b := m[c]; c := person.properties.a; print(b, m[c], m)", "1 null {{'x': 1, 'y': [1, 2]}: 1}"),
    ("let e := event; let c := e.properties; e.properties.n := 9; print(c.n); c := c.a; e.properties := null; print(c.x)", "9\n1"),
    ("let e := event; let c := e; for (let k in ['properties', 'a']) { c := c[k] } let o := [c]; e.properties.a.x := 9; print(c.x, o[1].x)", "9 9"),
    ("let c := event; c := c.at; print(typeof(c), c.zone, c); c := event.day; print(c.year, keys(c))", "datetime UTC DateTime(1714739696.5, 'UTC')\n2024 []"),
    ("fun get(o, path) { let c := o; for (let k in splitByString('.', path)) { if (c = null) { return null } c := c[k] } return c } let g := get(event, 'properties.a'); g.x := 9; print(g.x, get(event, 'properties.a.x'), get(event, 'a.b.c'))", "9 1 null"),
    ("fun get(o) { o := o.properties; return o.a } let a := get(event); let b := get(event); a.x := 9; print(a.x, b.x)", "9 1"),
    ("let c := event; let f := () -> { c := c.properties }; f(); print(c.n)", "3"),
    ("for (let c in event.list) { c := c.y ?? c; if (typeof(c) = 'object') { c.x := 9 } print(c) } print(event.list[1].y.x)", "{'x': 9}\n{'x': 9}\ns\n7\n[1, 2]\nnull\n5"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "printed"), CASES, ids=[source for source, _ in CASES])
def test_programs_print(source: str, printed: str) -> None:
    given = copy.deepcopy(GLOBALS)
    outcome = run_program(source, globals=given)

    assert outcome.error is None, outcome.error
    assert "\n".join(outcome.lines) == printed
    assert given == GLOBALS


@pytest.mark.parametrize(
    "source",
    [
        "return event",
        "let e := event return e",
        "let e := event; e.name := 'x'; return e",
        "let e := event; e.properties.n := 4 / 2; e.properties.u := upper(e.properties.t); return e",
        "let e := event; e.properties.a.x := null; if (e.name = 'paid') { return e } return null",
        "let e := event; e.list[1].x := 5; return e",
        "let e := event; e.properties.k := {'n': 4 / 2, 'at': event.at}; e.properties.k.l := [e.properties.n]; return e",
        "let e := event; let p := e.properties; p.n := upper(p.t); p.a.x := 2; return e",
        "fun f(p, k) { p[k] := 'x' } let e := event; f(e.properties, 'n'); f(e.properties.a, 'y'); return e",
        "let e := event; e.properties.k := {'a': true}; return e",
        "let e := event; for (let k in ['n', 't']) { e.properties[k] := md5Hex(k) } return e",
        "let e := event; e.properties[1] := 'i'; e.properties[2.5] := 'f'; e.properties[true] := 1; return e",
        "let e := event; e.properties[e.missing] := 1; return e",
        "let e := event; e.properties.c := e.properties.b; e.properties.d := event.at; return e",
        "let e := event; e.properties.c := e.properties.z ?? e.properties.b; return e",
        "let e := event; let k := e.name; e.properties[k] := event.list; return e",
        "let e := event; let o := {'a': e.properties.a}; e.properties := o; o.n := 4 / 2; e.properties.u := [o.n]; return e",
        "let e := event; let o := {1: tuple(2, event.at), true: x -> x}; e.properties.o := o; o.o := e.list; return e",
        "let e := event; let o := {}; o.self := [o]; e.properties.o := o; return e",
        "let e := event; let o := {}; for (let k, v in e.properties) { o[upper(k)] := v } e.properties.o := o; return e",
        "let e := event; let o := {1: 2}; for (let k, v in event) { o[k] := v } e.properties.o := o; e.properties.o.x := [o.whole]; return e",
        "let e := event; let o := {}; o.a := event.properties; o.b := o; e.properties.o := o; return e",
        "let e := event; let o := {}; o.a := e.properties.a; e.properties.o := o; o.a.y := 4; return e",
        "let e := event; let o := {}; o.a := event.properties.a; e.properties.o := o; let q := e.properties.o.a; q.y := 4; return e",
        "let e := event; let o := {}; o.a := event.properties.a; let l := [o]; e.properties.o := o; o.b := 1; e.properties.l := l; return e",
        "let e := event; let o := {}; o.d := event.day; e.properties.o := o; print(o, typeof(o.d)); return e",
        "let e := event; let o := {}; o.a := event.properties.a; e.properties.o := o; let l := [o.a]; l[1].x := 7; e.name := o.a.x; return e",
        "let e := event; fun f(x) { return {'x': x} } for (let k, v in inputs) { e.properties[k] := f(v) } return e",
    ],
)
def test_a_returned_global_is_a_copy_of_its_own(source: str) -> None:
    given = copy.deepcopy(GLOBALS)
    result = run_program(source, globals=given).result
    expected = run_program(source, globals=given, trace=True).result  # which borrows nothing
    assert result == expected
    result["properties"]["a"]["x"] = "changed"
    result["list"].append("changed")

    assert given == GLOBALS
    assert type(result["whole"]) is int
    assert result["big"] == 2.0**60
    assert result["at"] == GLOBALS["event"]["at"]


def test_objects_that_share_parts_are_counted_in_a_copy() -> None:
    source = f"""let o := ['{"x" * 10_000}']; for (let i in range(40)) {{ o := [o, o] }}
        let e := event; e.properties.o := o; return e"""
    error = run_program(source, globals=copy.deepcopy(GLOBALS)).error

    assert error is not None
    assert "Memory limit" in error.message


@pytest.mark.parametrize(
    ("source", "imports"),
    [
        ("o[k] := v", False),
        ("if (k = 'a') { o[k] := v } else { o[upper(k)] := v }", False),
        ("o[k] := v; print(o.a)", False),
        ("o[k] := v; e.properties.last := k", False),
        ("o[k] := [v]", True),
        ("o[k] := v; e.properties.last := [o]", True),
        ("o[k] := v; e.properties.a.x := 1", True),
        ("o[k] := v; o.a.x := 1", True),
        ("o[k] := v; o.o := o", True),
    ],
)
def test_gathered_values_are_not_imported(source: str, *, imports: bool) -> None:
    program = f"""let e := event let o := {{}}
        for (let k, v in event.properties) {{ {source} }} e.properties := o return e"""
    text = compile_python(compile_program(program)).source

    assert ("imp(" in text) == imports


@pytest.mark.parametrize(
    ("source", "borrows"),
    [
        ("let p := event.properties; print(p.n)", True),
        ("let e := event; let p := e.properties; p.n := 1; print(p.t)", True),
        ("let c := event; for (let k in ['properties', 'a']) { c := c[k] } print(c.x)", True),
        ("fun f(c) { c := c.a; return c.x } print(f(event.properties))", True),
        ("let c := event; c := c.properties; c.n := 1; print(c.n)", False),
        ("let c := event; print(c.name); c := {'x': 1}; print(c.x)", False),
        ("let p := event.properties; print(p.n, jsonStringify(p.a))", True),
        ("let p := event.properties; return {'a': p.a, 'n': p.n}", True),
        ("let p := event.properties; let o := {}; o.n := p.n; print(o)", True),
        ("let p := event.properties; p.n := 1; print(p.t)", True),
        ("let p := event.properties; p.n := [1]; print(p.t)", True),
        ("let p := event.properties; p.n := {'q': jsonParse(p.t)}; p.n.q := 1; print(p.t)", True),
        ("let p := event.properties; p.n := [tuple(1)]; print(p.n)", False),
        ("let p := event.properties; let o := {}; p.n := [o]; print(p.n)", False),
        ("let p := event.properties; p[p.t] := 1; print(p.t)", True),
        ("let p := event.properties; p[p.t] := p.a; print(p.t)", True),
        ("let p := event.properties; p.n := p.n ?? event.name; print(p.t)", True),
        (
            "let e := event; let p := e.properties; let n := p.n ?? 1; e.properties.n := n + 1; return e",
            True,
        ),
        (
            "let e := event; let p := e.properties; let o := [p.a]; e.properties.n := 1; return o",
            True,
        ),
        (
            "let e := event; let p := e.properties; let o := [e.properties]; e.properties.n := 1; return o",
            False,
        ),
        ("let e := event; let a := [e.properties.a]; e.properties.a.x := 1; return a", False),
        ("let e := event; let k := [e[event.name]]; e.properties.n := 1; return k", False),
        ("let e := event; e.properties.all := e; return e", False),
        ("let p := event.properties; let o := {}; p.o := o; o.x := 1; return p", True),
        ("let p := event.properties; let a := [p.a]; a[1].x := 1", False),
        # values of variables and functions that are never objects, whatever else they are
        ("let e := event; let n := null; if (e.name = 'x') { n := 'y' } e.properties.n := n", True),
        ("let e := event; let n := null; let m := n; n := m; e.properties.n := m ?? 1", True),
        (
            "let e := event; let n := null; n := e.name; e.properties.n := n; print(e.properties.n)",
            False,
        ),
        (
            "let e := event; let n := ''; for (let i in [{}]) { n := i } e.properties.n := n; print(e.properties.n)",
            False,
        ),
        (
            "let e := event; let n := 0; try { throw Error('a') } catch (x) { n := x } e.properties.n := n; print(e.properties.n)",
            False,
        ),
        (
            "let e := event; let n := 0; let f := () -> { n := {} }; f(); e.properties.n := n; print(e.properties.n)",
            False,
        ),
        (
            "let e := event; fun f(n) { if (n = 0) { return 'x' } return f(n - 1) } e.properties.n := f(3)",
            True,
        ),
        (
            "let e := event; fun f(x) { if (x = null) { return null } return x.a } e.properties.n := f(event.properties)",
            True,
        ),
        ("let e := event; fun f() { return {} } e.properties.n := f()", True),
        (
            "let e := event; let o := {}; fun f() { return o } e.properties.n := f(); print(e.properties.n)",
            False,
        ),
        (
            "let e := event; fun f(x) { return x } e.properties.n := f(1); e.properties.t := f({}); print(e.properties.n)",
            False,
        ),
        (
            "let e := event; let f := x -> x; let l := [f]; l[1]({}); e.properties.n := f(1); print(e.properties.n)",
            False,
        ),
        # items of arrays that only hold texts
        ("let e := event; e.n := splitByString(' ', e.name)[2]; print(e.n)", True),
        ("let e := event; let a := splitByString(' ', e.name); e.n := a[-1]; print(e.n)", True),
        (
            "let e := event; let a := splitByString(' ', e.name); a[1] := {}; e.n := a[1]; print(e.n)",
            False,
        ),
        (
            "let e := event; let a := splitByString(' ', e.name); let b := a; e.n := a[1]; print(e.n)",
            False,
        ),
        # objects of the program in a copy that is only tested, written to and returned
        (
            "let e := event; let o := {'a': 1}; e.properties := o; o.b := 2; e.properties.c := 3; return e",
            True,
        ),
        (
            "let e := event; let o := {}; e.properties.o := o; if (e.properties.o != null) { return e }",
            True,
        ),
        (
            "let e := event; let o := {}; e.properties.o := o; if (e.properties.o.x and not e.properties.n) { return e }",
            True,
        ),
        (
            "let e := event; let o := {}; e.properties.o := o; let q := e.properties; if (q.o) { return e }",
            True,
        ),
        (
            "let e := event; let o := {}; e.properties.o := o; fun f(q) { return q.o ? 1 : 2 } e.properties.n := f(e.properties); return e",
            False,
        ),
        ("let e := event; let o := {}; e.properties.o := o; return e.properties", True),
        ("let e := event; let o := {}; e.properties.o := o; print(e.properties.a)", True),
        ("let e := event; let o := {}; e.properties[e.name] := o; print(e.properties.a)", False),
        ("let e := event; let o := {}; e.properties.o := o; return [e]", False),
        (
            "let e := event; let o := {}; e.properties.o := o; let q := e.properties.o; q.x := 1; return e",
            True,
        ),
        ("let e := event; let o := {}; e.properties.o := o; print(e.properties.o == o)", False),
        (
            "let e := event; let o := {}; e.properties.o := o; for (let x in e.properties) { print(x) }",
            False,
        ),
        (
            "let e := event; let o := {}; e.properties.o := o; let k := {}; k[e.properties.o] := 1",
            False,
        ),
        # writes to objects that cannot be parts of it, and comparisons with what cannot be one
        (
            "let p := event.properties; let g := {}; let o := g[p.t] ?? {'l': []}; o.n := p.n; o.l := [p.a]; g[p.t] := o",
            True,
        ),
        (
            "let p := event.properties; let g := {}; let o := g[p.t] ?? {'l': {}}; o.l := p.a; o.l.x := 1; g[p.t] := o",
            False,
        ),
        ("let p := event.properties; let o := [p.a]; print(p.t == person.properties.t)", True),
        ("let p := event.properties; let o := [p.a]; print(o[1] == p.b)", True),
        (
            "let p := event.properties; fun f(o) { o.x := 1 } let l := [p.a]; f({}); return l",
            True,
        ),
        (
            "let p := event.properties; fun f(o) { o.x := 1 } let l := [p.a]; f(l[1]); return l",
            False,
        ),
        (
            "let p := event.properties; try { throw Error('e', p.a) } catch (e) { e.payload.x := 1 }",
            False,
        ),
        (
            "let p := event.properties; let f := o -> o.x; let l := [p.a]; let o := l[1]; o.x := [f][1](o)",
            False,
        ),
    ],
)
def test_who_only_looks_borrows(source: str, *, borrows: bool) -> None:
    text = compile_python(compile_program(source)).source
    bound = next(line for line in text.split("\n") if line.lstrip().startswith("v1 = "))

    assert ("imp(" not in bound) == borrows


@pytest.mark.parametrize(
    ("calls", "copies_parts"),
    [
        ("f(e.properties)", True),
        ("f(e.properties); f(e); f(e.properties.a)", True),
        ("f(e.properties); f({})", False),
        ("f(e.properties); f(e[e.name])", False),
    ],
)
def test_functions_may_write_to_parts_of_a_copy(calls: str, *, copies_parts: bool) -> None:
    source = f"fun f(p) {{ p.n := 1 }} let e := event; {calls}; print(e.name)"
    text = compile_python(compile_program(source)).source

    assert ("R_edited" in text) == copies_parts
    assert ("imp(t" in text) != copies_parts


@pytest.mark.parametrize("seed", range(150))
def test_random_programs_print_what_they_print_with_copies(seed: int) -> None:
    source, given = ReadingPrograms(seed).source(), copy.deepcopy(GLOBALS)
    with_copies = run_program(source, globals=given, trace=True)  # a traced run borrows nothing
    borrowing = run_program(source, globals=given)

    assert borrowing.lines == with_copies.lines, source
    assert (borrowing.error and borrowing.error.text) == (
        with_copies.error and with_copies.error.text
    ), source
    assert given == GLOBALS
