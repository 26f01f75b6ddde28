#!/usr/bin/env python3
"""Records what OPA answers to generated calls of every built-in function.

    OPA=path/to/opa ./record.py            all functions
    OPA=path/to/opa ./record.py NAME…      functions whose names start so

Arguments come from `vocabulary.py`, by function or else by declared type, now and then of a wrong kind. The seed is
the name of the function, so the same calls are asked again. A file holds one family: for each function its calls, each
the arguments and the outcome: a string is the result as Rego text, `null` is undefined, a pair is an error. A third
item is the outcome without strict errors where it is not simply undefined for errors and the same for all else.
"""

import os
import random
import re
import sys

import vocabulary as v
from peer import EFFECTS, HERE, Peer, case, family, functions, hidden, is_unreadable, known, outcome, request, write

PATIENCE = 3

STRING_ARGS = [v.STRINGS, v.NEEDLES, v.NEEDLES]
TIME = v.NS + [f"[{n}]" for n in v.NS[:6]] + [f"[{n}, {z}]" for n in v.NS[:5] for z in v.ZONES]
FORMATTED = TIME + [f"[{n}, {z}, {l}]" for n in v.NS[4:6] for z in v.ZONES[:4] for l in v.LAYOUTS] + ['[1, "UTC", 1]', "[]", '["x"]', '[1, 2]', '[1, "UTC", "x", 4]']
MATCHES = v.ADDRESSES + ['["10.0.0.0/8", "1.2.3.4/8"]', '{"a": "10.0.0.0/8", "b": ["1.1.1.1", 5]}', '{"10.0.0.1", "::1"}', '[["10.0.0.0/8", 1], "1.1.1.1"]', "[1]", "[[]]", '{["10.0.0.0/8", "x"]}']
COLLECTIONS = v.ARRAYS + v.SETS
NUMBER_LISTS = ["[]", "[1]", "[1, 2, 3]", "[0.1, 0.2, 0.3]", "{1, 2.5}", "[1e400, 1]", "[9223372036854775807, 1]", "[1.5, 1.5]", "{1, 1.0}", "[-1, -2]", "[123456789012345678901234567890, 0.5]", "[1e300, 1e300]", "[\"a\"]", "[1, null]", "set()", "[0.0]", "[1.0, 2.0]", "[0, -0]"]
STRING_LISTS = v.STRINGS + ['["a", "b"]', '{"a", "x"}', "[]", "set()", '["", "é"]', "[1]", '{"a", 1}', '["hello", "a.b"]']
SCHEMA_CALL = [v.SCHEMA_DOCUMENTS, v.SCHEMAS]
KEY = v.texts("", "key", "k" * 100) + v.BYTES[:1]
GRAPHQL_SCHEMAS = v.texts("type Query { a: Int }", "type Query { a(x: Int): [String!]! b: B } type B { c: Q } enum Q { X Y }", "", "type", "type Query { a: Nope }", "schema { query: Q } type Q { a: Int }", "interface I { a: Int } type Query implements I { a: Int }", "union U = A | B type A { x: Int } type B { y: Int } type Query { u: U }", "directive @d(x: Int) on FIELD type Query { a: Int @deprecated }", "input I { a: Int = 1 } type Query { f(i: I): Int }", "type Query { a: Int a: Int }", "scalar D extend type Query { b: Int } type Query { a: D }", "\"\"\"doc\"\"\" type Query { \"x\" a: Int }", "type Query { __a: Int }", "{ a }")
GRAPHQL_QUERIES = v.texts("{ a }", "query Q { a }", "query Q($x: Int) { a(x: $x) }", "{ nope }", "", "{", "fragment F on Query { a } { ...F }", "{ b { c } }", "{ u { ... on A { x } } }", "mutation { a }", "{ a @include(if: true) }", "{ x: a y: a }", "{ f(i: {a: 1}) }", "query { a } query { a }", "{ ...F }", "{ a { b } }", "subscription S { a }", "{ a(x: \"s\") }", "query Q($x: Int!) { a }", "{ __typename }", "{ a @d(x: 1) }", "{ a # c\n }")
JWTS = v.texts("", "a", "a.b", "a.b.c", "eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.x8_6gv-OxU4_Kv0PMTbW6bN-0wdWl9iC0TyvgPYIqWk", "eyJhbGciOiJub25lIn0.e30.", "e30.e30.e30", "eyJhbGciOiJIUzI1NiJ9.e30.", "....", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJleHAiOjF9.AAAA", "eyJhbGciOiJSUzI1NiJ9.e30.AAAA", "eyJhbGciOiJFUzI1NiJ9.e30.AAAA", "eyJlbmMiOiJ4IiwiYWxnIjoieCJ9.e30.AA", "bm8.e30.AA", "eyJhbGciOiJIUzI1NiJ9.bm8.AA")
KEYS = v.texts("", "secret", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", "{\"kty\":\"oct\",\"k\":\"c2VjcmV0\"}", "{}", "{\"keys\":[]}", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", "x", "[]", "{\"kty\":\"RSA\"}")
OBJECT_UNIONS = ["[]", '[{"a": 1}, {"b": 2}]', '[{"a": {"b": 1}}, {"a": {"c": 2}}]', '[{"a": {"b": 2}}, {"a": 4}, {"a": {"c": 3}}]', "[1]", '[{"a": 1}, null]', "[{1: 2}, {1: 3}]", '[{"a": {1}}, {"a": {2}}]']
SETS_OF_SETS = ["set()", "{{1}, {2}}", "{{1, 2}, {2, 3}, {2}}", "{set()}", "{1}", "{{1}, [1]}", '{{"a"}, {"a", "b"}}', "[{1}]"]
REPLACEMENTS = ["{}", '{"a": "b"}', '{"a": "b", "b": "c"}', '{"": "x"}', '{"aa": "x", "a": "y"}', '{"é": "e"}', '{1: "x"}', '{"a": 1}', '{"<": "&lt;", "&": "&amp;"}']
ENCODED_OBJECTS = ["{}", '{"a": "b"}', '{"a": ["b", "c"]}', '{"a": {"c", "b"}}', '{"a b": "é&="}', '{"a": 1}', '{1: "a"}', '{"b": "1", "a": "2"}', '{"a": [1]}', '{"a": []}', '{"": ""}', '{"a": {1}}', '{"a": null}']
NUMBER_TEXTS = v.STRINGS + v.texts("1", "1.0", "0x10", "0x1p-2", ".5", "5.", "+1", "-0", "1e400", "1E5", "1_0", "0b1", "nan", "-Inf", "+infinity", "1e-400", "1e5000", "00", "01", "1.5.5", "--1", "0x", "1e", "0X1P+2", "0x1.8p1", "123456789012345678901234567890.5") + v.NUMBERS + ["null", "true", "false"]

BY_FUNCTION = {
    "array.slice": [v.ARRAYS, v.SMALL, v.SMALL],
    "base64.decode": [v.BASE64], "base64.is_valid": [v.BASE64], "base64url.decode": [v.BASE64],
    "bits.lsh": [v.NUMBERS, v.SHIFTS], "bits.rsh": [v.NUMBERS, v.SHIFTS],
    "concat": [v.NEEDLES, STRING_LISTS],
    "contains": STRING_ARGS, "endswith": STRING_ARGS, "startswith": STRING_ARGS,
    "format_int": [v.NUMBERS, v.BASES],
    "glob.match": [v.GLOB, v.DELIMITERS, v.GLOB_SUBJECT], "glob.quote_meta": [v.GLOB + v.STRINGS],
    "graph.reachable": [v.GRAPHS, v.STARTS], "graph.reachable_paths": [v.GRAPHS, v.STARTS],
    "graphql.is_valid": [GRAPHQL_QUERIES, GRAPHQL_SCHEMAS], "graphql.parse": [GRAPHQL_QUERIES, GRAPHQL_SCHEMAS],
    "graphql.parse_and_verify": [GRAPHQL_QUERIES, GRAPHQL_SCHEMAS], "graphql.parse_query": [GRAPHQL_QUERIES],
    "graphql.parse_schema": [GRAPHQL_SCHEMAS], "graphql.schema_is_valid": [GRAPHQL_SCHEMAS],
    "hex.decode": [v.HEX],
    "indexof": STRING_ARGS, "indexof_n": STRING_ARGS,
    "internal.member_2": [v.SCALARS, COLLECTIONS + v.OBJECTS], "internal.member_3": [v.SCALARS, v.SCALARS, COLLECTIONS + v.OBJECTS],
    "internal.template_string": [['["a", {1}]', '["a", {1, 2}]', '[set()]', '[]', '["a", [1]]', '[{"x"}, {[1]}, {{"a": 1}}]', '[1, null, true]', '[{{1}}]']],
    "intersection": [SETS_OF_SETS], "union": [SETS_OF_SETS],
    "io.jwt.decode": [JWTS], "io.jwt.decode_verify": [JWTS, ['{"secret": "secret"}', '{"secret": "x", "time": 0}', "{}", '{"cert": "x"}', '{"nope": 1}', '{"secret": "secret", "alg": "HS256"}', '{"secret": 1}', '{"secret": "s", "iss": "a", "aud": "b"}']],
    "json.filter": [v.OBJECTS, v.PATHS], "json.remove": [v.OBJECTS, v.PATHS],
    "json.is_valid": [v.JSONS], "json.unmarshal": [v.JSONS],
    "json.marshal_with_options": [v.OBJECTS + v.ARRAYS + v.SCALARS, v.OPTIONS],
    "json.match_schema": SCHEMA_CALL, "json.verify_schema": [v.SCHEMAS],
    "json.patch": [v.PATCH_TARGETS, v.PATCHES],
    "net.cidr_contains": [v.CIDRS, v.ADDRESSES], "net.cidr_overlap": [v.CIDRS, v.ADDRESSES],
    "net.cidr_contains_matches": [MATCHES, MATCHES], "net.cidr_expand": [v.SMALL_CIDRS], "net.cidr_intersects": [v.CIDRS, v.CIDRS],
    "net.cidr_is_valid": [v.ADDRESSES], "net.cidr_merge": [[f"[{a}, {b}]" for a in v.ADDRESSES for b in v.ADDRESSES] + [f"{{{a}}}" for a in v.ADDRESSES] + ["[]", "set()", "[1]", '["10.0.0.0/9", "10.128.0.0/9", "11.0.0.0/8"]', '["10.0.0.0/25", "10.0.0.128/25", "10.0.1.0/24"]']],
    "numbers.range": [v.RANGE, v.RANGE], "numbers.range_step": [v.RANGE, v.RANGE, v.SMALL + ["1.5", "100"]],
    "object.filter": [v.OBJECTS, v.ARRAYS + v.SETS + v.OBJECTS + ['["a"]', '{"a", 1}']], "object.remove": [v.OBJECTS, v.ARRAYS + v.SETS + v.OBJECTS + ['["a"]', '{"a", 1}']],
    "object.get": [v.OBJECTS, v.SCALARS + ['["a", "b"]', '["a", 0]', "[]", '["a", "b", "c"]', '["b", 1]'], v.SCALARS],
    "object.subset": [v.OBJECTS + v.ARRAYS + v.SETS, v.OBJECTS + v.ARRAYS + v.SETS], "object.union_n": [OBJECT_UNIONS],
    "product": [NUMBER_LISTS], "sum": [NUMBER_LISTS], "max": [COLLECTIONS], "min": [COLLECTIONS], "sort": [COLLECTIONS], "all": [COLLECTIONS], "any": [COLLECTIONS],
    "count": [v.STRINGS + COLLECTIONS + v.OBJECTS],
    "re_match": [v.REGEX, v.SUBJECT], "regex.match": [v.REGEX, v.SUBJECT], "regex.is_valid": [v.REGEX], "regex.split": [v.REGEX, v.SUBJECT],
    "regex.find_n": [v.REGEX, v.SUBJECT, v.SMALL], "regex.find_all_string_submatch_n": [v.REGEX, v.SUBJECT, v.SMALL],
    "regex.replace": [v.SUBJECT, v.REGEX, v.REPLACEMENT], "regex.globs_match": [v.GLOBS, v.GLOBS],
    "regex.template_match": [v.TEMPLATED, v.TEMPLATED_SUBJECT, v.texts("{", "<", "", "{{", "é"), v.texts("}", ">", "", "}}", "é")],
    "rego.parse_module": [v.texts("a.rego", "", "é"), v.REGO],
    "replace": [v.STRINGS, v.NEEDLES, v.NEEDLES], "strings.count": STRING_ARGS, "strings.replace_n": [REPLACEMENTS, v.STRINGS],
    "semver.compare": [v.SEMVERS, v.SEMVERS], "semver.is_valid": [v.SEMVERS],
    "split": STRING_ARGS, "strings.split_n": [v.STRINGS, v.NEEDLES, v.SMALL],
    "sprintf": [v.FORMATS, ["[]", "[1]", "[-5]", "[1.5]", '["a"]', '["é\\u0000"]', "[null]", "[true]", "[[1, \"a\"]]", "[{1, 2}]", '[{"a": 1}]', "[123456789012345678901234567890]", "[1e400]", "[1, 2]", '[5, "x", 2.5]', "[1.0]", "[65]", "[1114112]", "[-0.0]", "[1e21]", "[0.1]", "[9223372036854775807]", 'base64x', "[3, 3.14159]"]],
    "strings.any_prefix_match": [STRING_LISTS, STRING_LISTS], "strings.any_suffix_match": [STRING_LISTS, STRING_LISTS],
    "strings.render_template": [v.TEMPLATES, v.TEMPLATE_DATA],
    "substring": [v.STRINGS, v.SMALL, v.SMALL + ["100"]],
    "time.add_date": [v.NS, v.SMALL + ["300", "-300", "1000000000"], v.SMALL + ["12", "-13", "100000"], v.SMALL + ["31", "365", "1e2"]],
    "time.clock": [TIME], "time.date": [TIME], "time.weekday": [TIME], "time.diff": [TIME, TIME], "time.format": [FORMATTED],
    "time.parse_duration_ns": [v.DURATIONS], "time.parse_ns": [v.LAYOUTS, v.TIMES], "time.parse_rfc3339_ns": [v.TIMES],
    "to_number": [NUMBER_TEXTS],
    "trim": STRING_ARGS, "trim_left": STRING_ARGS, "trim_right": STRING_ARGS, "trim_prefix": STRING_ARGS, "trim_suffix": STRING_ARGS,
    "units.parse": [v.SIZES], "units.parse_bytes": [v.SIZES], "uri.is_valid": [v.URLS], "uri.parse": [v.URLS],
    "urlquery.decode": [v.QUERIES], "urlquery.decode_object": [v.QUERIES], "urlquery.encode_object": [ENCODED_OBJECTS],
    "uuid.parse": [v.UUIDS], "yaml.is_valid": [v.YAMLS], "yaml.unmarshal": [v.YAMLS],
    "crypto.hmac.equal": [v.texts("", "a", "b", "ab"), v.texts("", "a", "b", "ab")],
}
BY_FUNCTION["sprintf"][1] = [x for x in BY_FUNCTION["sprintf"][1] if x != "base64x"] + [f"[{b}]" for b in v.BYTES[:2]]
for name in ("md5", "sha1", "sha256", "sha512"):
    BY_FUNCTION[f"crypto.hmac.{name}"] = [v.STRINGS, KEY]
for name in ("hs256", "hs384", "hs512", "rs256", "rs384", "rs512", "ps256", "ps384", "ps512", "es256", "es384", "es512", "eddsa"):
    BY_FUNCTION[f"io.jwt.verify_{name}"] = [JWTS, KEYS]

# what kills or occupies OPA, or takes what this machine does not have
DEADLY = [
    (r"^json\.patch", r'"op": "remove", "path": ("")|"path": \[\]'),
    (r"^time\.(format|date|clock|weekday|diff)", r'"Local"'),
    (r"^semver\.compare", r"99999999999999999999"),
    (r"^numbers\.range", r"\d{9}"),
    (r"^bits\.lsh", r", \d{7}"),
]


def split_types(declaration):
    """The declared types of the arguments."""
    head = declaration.split("=>")[0].strip()
    parts, depth, part = [], 0, ""
    for c in head:
        depth += (c in "<[") - (c in ">]")
        if c == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += c
    parts += [part] if part.strip() else []
    names = re.compile(r"^\s*[\w ]+:(?!.*\bobject<)")
    return [re.sub(r"^\s*[a-zA-Z_0-9 ]+:\s*", "", part).strip() for part in parts]


def pool(declared):
    """Arguments of a type."""
    if declared in v.BY_TYPE:
        return v.BY_TYPE[declared]
    kind = re.match(r"\w+", declared).group()
    if kind == "any":
        inner = declared[4:-1]
        found, depth, part = [], 0, ""
        for c in inner + ",":
            depth += (c in "<[") - (c in ">]")
            if c == "," and depth == 0:
                found += pool(part.strip())
                part = ""
            else:
                part += c
        return found
    return {"array": v.ARRAYS, "set": v.SETS, "object": v.OBJECTS}[kind]


def calls(name, declaration):
    """The generated calls of one function."""
    chance = random.Random(name)
    pools = BY_FUNCTION.get(name) or [pool(declared) for declared in split_types(declaration)]
    arity = len(split_types(declaration))
    pools = pools[:arity]
    if not pools:
        return [()]
    wanted = min(110, 12 + max(len(p) for p in pools) if arity == 1 else 40 + 20 * arity)
    found = []
    if arity == 1:
        found = [(x,) for x in pools[0]][:wanted]
        found += [(chance.choice(v.ANY),) for _ in range(12)]
    else:
        # every argument that is there, and then combinations
        longest = max(len(p) for p in pools)
        for at in range(min(longest, 60)):
            found.append(tuple(p[at % len(p)] if len(p) == longest else chance.choice(p) for p in pools))
        for _ in range(wanted):
            found.append(tuple(chance.choice(p) for p in pools))
        for _ in range(14):
            args = [chance.choice(p) for p in pools]
            args[chance.randrange(arity)] = chance.choice(v.ANY)
            found.append(tuple(args))
    found = list(dict.fromkeys(found))
    for function, argument in DEADLY:
        if re.search(function, name):
            found = [args for args in found if not re.search(argument, ", ".join(args))]
    return found


def record(oracle, name, arguments):
    answers = [oracle.ask([request(name, hidden(arguments), strict)])[0] for strict in (True, False)]
    if None in answers:
        print(f"no answer: {name}{arguments}", file=sys.stderr)
        return None
    strict, lax = map(outcome, answers)
    if isinstance(strict, list) and not strict[0].startswith("eval_"):
        print(f"{strict[0]}: {name}{arguments}: {strict[1]}", file=sys.stderr)
        return None
    if name in EFFECTS and (not isinstance(strict, list) or strict[0] != "eval_type_error"):
        return None
    # conversions.json has what cannot be read again
    return None if is_unreadable(name, strict) else case(arguments, strict, lax)


def main():
    oracle, families, total = Peer(os.environ["OPA"], PATIENCE), {}, 0
    wanted = tuple(sys.argv[1:])
    for name, declaration in functions(wanted):
        cases = [record(oracle, name, arguments) for arguments in calls(name, declaration)]
        cases = [case for case in cases if case]
        total += len(cases)
        path = HERE / f"{family(name)}.json"
        recorded = families.setdefault(path, {})
        recorded[name] = cases
        # functions that were not asked stay as they were
        write(path, known(path) | recorded if wanted else recorded)
        print(f"{name}: {len(cases)}", file=sys.stderr)
    print(f"{total} calls")


if __name__ == "__main__":
    main()
