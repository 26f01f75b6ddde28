"""Templates, GraphQL, tokens, keys, modules and requests, made by chance."""

import base64
import hashlib
import hmac
import json
import re
from pathlib import Path

import vocabulary as v
from gen_values import *  # noqa: F403

HERE = Path(__file__).parent


# templates

def action(r, depth=2):
    term = lambda: r.choice([".", ".a", ".s", ".l", ".o", ".o.b", ".o.c.d", ".n", ".e", ".missing", "1", "-1", "1.5", "0x1F", "1e3", "'c'", "'\\n'", "\"x\"", "`r`", "true", "nil", "$", "$.a", "$x", "(len .l)", "(index .l 0)", "(.o)", ".f", ".t", ".a.b", ".u", "1i", "0b1", "1_000", "\"\\u00e9\"", "(print 1 2).x", ".l.x", "(index .o \"b\")"])
    call = lambda: r.choice(["len", "index", "slice", "print", "printf \"%v\"", "printf \"%d|%s\"", "println", "html", "js", "urlquery", "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not", "call", "nofunc", "printf", "index .l", "index .o", "slice .s", "slice .l", "printf \"%5.2f\"", "printf \"%q\"", "printf \"%T\""]) + "".join(" " + term() for _ in range(r.randint(0, 3)))
    pipe = lambda: r.choice([term, call])() + (" | " + r.choice(["len", "html", "js", "urlquery", "print", "printf \"%q\"", "not", "eq 1", "nofunc", "index .l", "printf \"%v-%v\" 1"]) if r.random() < 0.3 else "")
    body = lambda: template_text(r, depth - 1) if depth else r.choice(["x", "", "{{.}}", "{{.a}}", "{{break}}", "{{continue}}"])
    left, right = r.choice(["{{", "{{", "{{", "{{- ", "{{-"]), r.choice(["}}", "}}", "}}", " -}}", "-}}"])
    kind = r.randrange(14)
    if kind < 6:
        return left + pipe() + right
    if kind == 6:
        return f"{left}if {pipe()}{right}{body()}" + (r.choice(["{{else}}", "{{else if .a}}", "{{else with .o}}"]) + body() if r.random() < 0.5 else "") + "{{end}}"
    if kind == 7:
        return f"{left}range {r.choice(['', '', '$e := ', '$i, $e := ', '$i, $e = ', '$i := '])}{pipe()}{right}{body()}" + ("{{else}}" + body() if r.random() < 0.4 else "") + "{{end}}"
    if kind == 8:
        return f"{left}with {r.choice(['', '$x := '])}{pipe()}{right}{body()}" + ("{{else}}" + body() if r.random() < 0.3 else "") + "{{end}}"
    if kind == 9:
        return f"{left}$x {r.choice([':=', '='])} {pipe()}{right}" + r.choice(["{{$x}}", "", "{{$x.b}}"])
    if kind == 10:
        return "{{define \"T\"}}" + body() + "{{end}}{{template \"T\" " + pipe() + "}}"
    if kind == 11:
        return r.choice(["{{block \"B\" .}}b{{end}}", "{{template \"none\"}}", "{{end}}", "{{else}}", "{{/* c */}}", "{{/* c", "{{- /* c */ -}}", "{{break}}", "{{", "}}", "{{}}", "{{ }}", "{{\n.a}}", "{{.a", "{{\"", "{{'ab'}}", "{{.a.}}", "{{..a}}", "{{. a}}", "{{.a .b}}", "{{1.a}}", "{{|}}", "{{.a|}}", "{{(}}", "{{)}}", "{{()}}", "{{$}}", "{{$y}}", "{{nil}}", "{{.é}}", "{{.1}}", "{{a}}", "{{true.x}}", "{{\"a\".x}}", "{{1 2}}", "{{define}}", "{{define \"x\"}}", "{{range}}x{{end}}", "{{if}}x{{end}}", "{{len}}", "{{template}}", "{{else if .a}}", "{{.a | 1}}", "{{.a | .b}}", "{{continue}}", "{{$x, $y := .l}}", "{{09}}", "{{0x}}", "{{1e}}", "{{9999999999999999999}}", "{{#}}", "{{.a,.b}}", "{{.a := 1}}"])
    return left + term() + right


def template_text(r, depth=2):
    return "".join(r.choice([lambda: action(r, depth), lambda: r.choice(["a", " ", "\n", "é", "<b>", "", "x y"])])() for _ in range(r.randint(1, 3)))


def template_data(r):
    data = {"a": lambda: few(r), "s": lambda: raw(string(r)), "l": lambda: few_array(r), "o": lambda: r.choice(['{"b": 1, "c": {"d": [1]}}', few_object(r)]), "n": lambda: "null", "e": lambda: '""', "f": lambda: number(r), "t": lambda: "true", "u": lambda: few_set(r)}
    return "{" + ", ".join(f'"{k}": {make()}' for k, make in data.items() if r.random() < 0.85) + "}"


# GraphQL

SDL_TYPES = ["Int", "Int!", "[Int]", "[Int!]!", "String", "Boolean", "ID", "Float", "B", "I", "U", "E", "N", "Nope", "Query", "D", "[[Int]]", "Int!!"]
SDL = ["type B { c: Int d: B e(x: Int = 1, y: [Int!]): E }", "interface N { a: Int }", "type M implements N { a: Int b: Int }", "union U = B | M", "enum E { X Y @deprecated }", "input I { a: Int = 1 b: [I] c: String! }", "scalar D @specifiedBy(url: \"x\")", "directive @d(x: Int!) repeatable on FIELD | QUERY | FRAGMENT_SPREAD", "directive @o on OBJECT", "extend type B { z: Int }", "schema { query: Query mutation: M }", "type Subscription { s: Int t: Int }", "type Mutation { m(i: I!): B }", "\"\"\"doc\"\"\" type Z { \"x\" a: Int }", "extend schema @o", "enum E { X }", "union V = Int", "type W implements Nope { a: Int }", "type X { a: I }", "input J { a: J! }", "directive @d on FIELD", "type B @o { q: Int }", "enum F { true }", "type __A { a: Int }", "interface P implements N { a: Int }", "type Q1 implements N { b: Int }", "input K { a: B }", "type L { a(x: B): Int }", "extend type Nope { a: Int }", "type Empty", "type R { }"]


def sdl(r):
    fields = " ".join(r.choice(["a" + r.choice(["", "(x: Int)", "(x: Int!, y: String = \"s\")", "(i: I)", "(x: [Int])", "(e: E = X)"]) + ": " + r.choice(SDL_TYPES), f"b: {r.choice(SDL_TYPES)}", "u: U", "n: N", "e: E", "old: Int @deprecated(reason: \"x\")", "l: [B!]!", "f(i: I!, e: E): B"]) for _ in range(r.randint(1, 4)))
    parts = [f"type Query {{ {fields} }}"] + [part for part in r.sample(SDL, r.randint(0, 6))]
    if r.random() < 0.6:
        parts += SDL[:8]
    if r.random() < 0.7:
        seen, kept = set(), []
        for part in parts:
            name = " ".join(part.split()[:2]).split("(")[0]
            if name not in seen:
                seen.add(name)
                kept.append(part)
        parts = kept
    return near(r, " ".join(parts), 0.05)


def selection(r, depth=2):
    fields = []
    for _ in range(r.randint(1, 3)):
        args = r.choice(["", "", "", "(x: 1)", "(x: $v)", "(i: {a: 1, c: \"s\"})", "(x: \"s\")", "(x: [1])", "(e: X)", "(e: NOPE)", "(x: null)", "(i: {z: 1})", "(x: 1, x: 2)", "(nope: 1)", "(x: 1.5)", "(x: 99999999999)", "(i: {c: $v})"])
        directive = r.choice(["", "", "", "", " @include(if: true)", " @skip(if: $v)", " @d(x: 1)", " @d", " @nope", " @include", " @deprecated"])
        name = r.choice(["a", "b", "u", "n", "e", "l", "c", "d", "f", "old", "__typename", "__schema", "x: a", "a: b", "nope", "z"])
        inner = f" {{ {selection(r, depth - 1)} }}" if depth and r.random() < 0.5 else ""
        fields.append(r.choice([f"{name}{args}{directive}{inner}", f"{name}{args}{directive}{inner}", f"... on {r.choice(['B', 'M', 'N', 'U', 'Query', 'Nope', 'Int'])}{directive} {{ {selection(r, depth - 1) if depth else 'a'} }}", f"...F{directive}", "...G", "... { a }"]))
    return " ".join(fields)


def graphql_query(r):
    kind = r.choice(["", "", "query ", "query Q ", "query Q($v: Int) ", "query ($v: Boolean!, $w: Int = 1) ", "mutation ", "subscription ", "subscription S ", "query Q($v: B) ", "query Q($v: [Int!]! = [1]) @d(x: 1) ", "query Q($v: Int, $v: Int) ", "query Q($v: I = {a: 1}) "])
    text = f"{kind}{{ {selection(r)} }}"
    if r.random() < 0.4:
        text += f" fragment F on {r.choice(['Query', 'B', 'M', 'Nope', 'U'])} {{ {selection(r, 1)} }}"
    if r.random() < 0.1:
        text += " fragment G on Query { a ...F }"
    if r.random() < 0.1:
        text += " { a }"
    return near(r, text, 0.05)


# tokens

def b64(data):
    return base64.urlsafe_b64encode(data if isinstance(data, bytes) else data.encode()).rstrip(b"=").decode()


def token(r):
    algorithm = r.choice(["HS256", "HS256", "HS384", "HS512", "none", "RS256", "ES256", "nope", "", "PS256", "EdDSA", "hs256"])
    header = json.dumps({"alg": algorithm, **r.choice([{}, {"typ": "JWT"}, {"kid": "k"}, {"typ": 5}, {"enc": "x"}, {"cty": "JWT"}, {"crit": ["x"]}, {"crit": ["exp"], "exp": 1}, {"cty": "x"}, {"alg": 5}, {"kid": 5}, {"b64": False}])})
    claims = {k: make() for k, make in {"iss": lambda: r.choice(["a", "b", 5]), "aud": lambda: r.choice(["a", ["a", "b"], 5, [], [5]]), "exp": lambda: r.choice([0, 1, 99999999999, "x", 1.5, 1e18, -1]), "nbf": lambda: r.choice([0, 99999999999, "x", 1.5]), "sub": lambda: "é"}.items() if r.random() < 0.4}
    payload = json.dumps(claims) if r.random() < 0.9 else r.choice(["[]", "5", "x", "", "null", "{\"a\":1e400}", "{\"exp\":1e400}"])
    if r.random() < 0.1:
        header = r.choice(["", "[]", "{}", "x", "null", "5", "{\"alg\":null}"])
    start = f"{b64(header)}.{b64(payload)}"
    digest = {"HS384": hashlib.sha384, "HS512": hashlib.sha512}.get(algorithm, hashlib.sha256)
    secret = r.choice([b"secret", b"secret", b"s", b""])
    text = f"{start}.{b64(hmac.new(secret, start.encode(), digest).digest())}"
    return near(r, text, 0.08)


def constraints(r):
    fields = {k: make() for k, make in {"secret": lambda: r.choice(['"secret"', '"secret"', '"s"', "5"]), "cert": lambda: r.choice(['"x"', "5", '"{}"', '"{\\"keys\\":[{\\"kty\\":\\"oct\\",\\"k\\":\\"c2VjcmV0\\",\\"kid\\":\\"k\\"}]}"', "\"{\\\"kty\\\":\\\"oct\\\",\\\"k\\\":\\\"c2VjcmV0\\\"}\""]), "alg": lambda: r.choice(['"HS256"', '"HS384"', '"nope"', "5", '"none"']), "iss": lambda: r.choice(['"a"', "5"]), "aud": lambda: r.choice(['"a"', '["a"]', "5", '"z"']), "time": lambda: r.choice(["0", "1", "1e18", '"x"', "-1", "1.5", "99999999999999999999"]), "nope": lambda: "1"}.items() if r.random() < {"secret": 0.8, "cert": 0.15, "nope": 0.03}.get(k, 0.25)}
    return "{" + ", ".join(f'"{k}": {x}' for k, x in fields.items()) + "}"


JWKS = ['{"kty": "oct", "k": "c2VjcmV0"}', '{"kty": "oct", "k": "!"}', '{"kty": "oct"}', "{}", '{"kty": "nope"}', '{"k": "AA"}', '{"kty": "RSA"}', '{"kty": "EC", "crv": "P-256"}', '{"kty": "OKP", "crv": "Ed25519", "x": "AA"}', '{"kty": 5}', '{"kty": "oct", "k": 5}', '{"kty": "oct", "k": "c2VjcmV0", "alg": "HS256", "use": "sig", "key_ops": ["sign"]}', '{"kty": "oct", "k": "c2VjcmV0", "kid": 5}', '{"kty":"RSA","n":"AQAB","e":"AQAB"}', '{"kty":"RSA","n":"AQAB","e":"AQAB","d":"AQAB"}', '{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}', '{"kty":"EC","crv":"P-999","x":"AA","y":"AA"}', '{"kty":"OKP","crv":"X25519","x":"AA"}', '{"kty":"oct","k":"c2VjcmV0","x5u":"x"}', '{"kty":"oct","k":"c2VjcmV0","x5c":["x"]}']
JOSE = ['{"alg": "HS256"}', '{"alg": "HS384", "typ": "JWT"}', '{"alg": "HS512", "kid": "k"}', '{"alg": "none"}', "{}", '{"alg": "nope"}', '{"alg": 5}', '{"alg": "RS256"}', '{"typ": "JWT"}', '{"alg": "HS256", "typ": "x"}', '{"alg": "HS256", "typ": 5}', '{"alg": "HS256", "crit": ["x"]}', '{"alg": "HS256", "b64": false}', '{"alg": "ES256"}', '{"alg": "HS256", "jwk": 5}', '{"alg": "HS256", "x": {"é": [1.50]}}', '{"alg": "HS256", "cty": "JWT"}', '{"alg": "HS256", "x5c": 5}', '{"alg": "EdDSA"}', '{"alg": "HS256", "kid": 5}']
SOURCES = None


def pems():
    """PEM texts of the recorded cases."""
    global SOURCES
    if SOURCES is None:
        found = set()
        for file in ("crypto", "chains", "jwt"):
            for case in json.loads((HERE.parent / f"{file}.json").read_text()):
                found.update(re.findall(r"-----BEGIN [A-Z0-9 ]+-----\\n.*?-----END [A-Z0-9 ]+-----(?:\\n)?", case["call"]))
        SOURCES = sorted(json.loads(f'"{text}"') for text in found if "\\\\" not in text)
    return SOURCES


def pem(r, wanted=""):
    pool = [text for text in pems() if wanted in text.split("\n")[0]] or pems()
    text = r.choice(pool)
    kind = r.randrange(8)
    if kind < 3:
        return raw(text.encode())
    if kind == 3:
        return raw((text + r.choice(pool)).encode())
    if kind == 4:
        return near(r, text, 0.6)
    if kind == 5:
        return v.text(base64.b64encode(text.encode()).decode())
    header, *lines, footer = text.strip().split("\n")
    try:
        der = bytearray(base64.b64decode("".join(lines)))
    except ValueError:
        return raw(text.encode())
    for _ in range(r.randint(0, 2)):
        at = r.randrange(max(1, min(len(der), r.choice([8, 40, len(der)]))))
        what = r.randrange(3)
        if what == 0:
            der[at:at + 1] = bytes([r.randrange(256)])
        elif what == 1:
            del der[at:at + 1]
        else:
            der = der[:max(1, at)]
    body = base64.b64encode(bytes(der)).decode()
    if kind == 6:
        return v.text(body)
    return v.text("\n".join([header] + [body[i:i + 64] for i in range(0, len(body), 64)] + [footer, ""]))


# Rego

REGO = ["p := 1", "p if input.x", "default q := {}", "f(x) := x + 1", "p contains x if some x in [1, {\"a\": 2}]", "p[x].y := z if { x := 1; z := [i | i = x] }", "p := x if { not input.a.b[c]; x := {a: b | a = 1; b = 2} }", "p if every k, v in input { v > k }", "p := 1 else := 2 if input.y", "p if { x := input with input.a as 1 with data.b as {} }", "import input.a as b", "import data.x.y", "import rego.v1", "import future.keywords", "import future.keywords.in", "# METADATA\n# title: t\n# custom: {a: 1}\np2 := 1", "p := `r\\n`", "p := \"\\u00e9\"", "p := -1.5e3", "p := {1, 2, set()}", "p := (1 + 2) * 3 % 4 - 5 / 6", "p := a & b | c", "p if 1 == 1; 2 != 3", "p if { 1 in [1]; a, b in {} }", "p[\"a\"] { x }", "p = x { x = 1 } { x = 2 }", "p.q.r := 1", "p :=", "q(", "p := {", "p if { x := ", "p := \"", "p := 01", "import x", "package b", "p := $\"a {input.x} b\"", "_ := 1", "p := _", "p := [_, x]", "default f(_) := 1", "p := startswith(\"a\", \"b\")", "f([x, {\"a\": y}]) := y", "p if some x", "p if some x, y in z", "with := 1", "p := null", "p := é", "p := .5", "p := a.b[\"c d\"].e[0]", "x if\ty", "p := input[\"a\"].b", "# METADATA\n# scope: nope\np3 := 1", "# METADATA\n# schemas:\n#  - input: schema.x\np4 := 1", "# METADATA\n#  bad: [\np5 := 1"]


def rego(r):
    text = r.choice(["package a", "package a.b[\"c\"]", "package", "# c\npackage a # d", "", "package a.1", "package é"]) if r.random() < 0.25 else "package a"
    return near(r, text + "\n\n" + "\n\n".join(r.choice(REGO) for _ in range(r.randint(0, 3))), 0.06)


# requests

def request(r):
    fields = {"method": lambda: r.choice(['"get"', '"post"', '"GET"', '""', '"BAD METHOD"', "5", '"é"']), "url": lambda: r.choice(['"http://127.0.0.1:1"', '"127.0.0.1:1"', '""', '"http://"', '"http://[::1]:1"', "5", '"ftp://127.0.0.1:1"', '"http://127.0.0.1:1 x"', '"http://%zz"', '"http://127.0.0.1:1/%zz"', '"://"', '"http://127.0.0.1:99999"'])}
    optional = {"body": lambda: few(r), "raw_body": lambda: few(r), "headers": lambda: r.choice(['{"a": "b"}', "5", '{"a": 5}', '{"a b": "c"}', '{"a": "b\\n"}', '{"host": "x"}', "{1: 2}", "[]"]), "timeout": lambda: r.choice(['"1s"', "1000000000", '"x"', "-1", '"1"', "1.5", "null", "{}"]), "enable_redirect": lambda: few(r), "force_json_decode": lambda: few(r), "force_yaml_decode": lambda: few(r), "force_cache": lambda: few(r), "force_cache_duration_seconds": lambda: few(r), "raise_error": lambda: r.choice(["true", "false", "false", "5"]), "caching_mode": lambda: r.choice(['"serialized"', '"deserialized"', '"x"', "5"]), "cache": lambda: few(r), "max_retry_attempts": lambda: r.choice(["0", '"x"', "1.5", "-1"]), "tls_use_system_certs": lambda: few(r), "tls_ca_cert": lambda: few(r), "tls_ca_cert_file": lambda: r.choice(['"/nope"', "5"]), "tls_client_cert": lambda: few(r), "tls_client_key": lambda: few(r), "tls_client_cert_file": lambda: '"/nope"', "tls_client_key_file": lambda: '"/nope"', "tls_client_cert_env_variable": lambda: '"NOPE"', "tls_client_key_env_variable": lambda: '"NOPE"', "tls_ca_cert_env_variable": lambda: '"NOPE"', "tls_insecure_skip_verify": lambda: few(r), "tls_server_name": lambda: few(r), "cache_ignored_headers": lambda: r.choice(['["a"]', "5", "[5]", "null", "{}"]), "nope": lambda: "1"}
    chosen = {k: make() for k, make in fields.items() if r.random() < 0.95}
    for k in r.sample(list(optional), r.choice([0, 1, 1, 2, 3])):
        chosen[k] = optional[k]()
    if chosen.get("cache_ignored_headers") and not chosen.get("headers", "{").startswith("{"):
        chosen.pop("headers")
    return "{" + ", ".join(f'"{k}": {x}' for k, x in chosen.items()) + "}"


def aws_request(r):
    return r.choice(['{"method": "get", "url": "https://s3.amazonaws.com/a b/c?x=y&a=b"}', '{"method": "post", "url": "http://a.b:80/p?q", "body": {"a": 1}, "headers": {"X-A": "b  c", "host": "z"}}', '{"url": "http://a"}', '{"method": "get"}', "{}", '{"method": "put", "url": "https://h/é%20?é", "raw_body": "x"}', '{"method": "get", "url": 5}', '{"method": "get", "url": "http://%zz"}', '{"method": "get", "url": "http://a", "headers": {"a": 5}}', '{"method": "get", "url": "http://a", "headers": 5}', '{"method": 5, "url": "http://a"}', '{"method": "get", "url": "http://a//b/../c?b=2&a=1&a=0"}', '{"method": "get", "url": "http://a", "body": "s", "raw_body": 5}', '{"method": "get", "url": "http://a?x=%2F+%20&é"}', '{"method": "delete", "url": "http://a/$+,;=:@", "headers": {"b": ["x"], "A": "é"}}'])


def aws_config(r):
    fields = {"aws_service": lambda: r.choice(['"s3"', '"s3"', '"ec2"', '"glacier"', "5", '""']), "aws_region": lambda: r.choice(['"us-east-1"', "5", '""']), "aws_access_key": lambda: r.choice(['"AK"', "5"]), "aws_secret_access_key": lambda: r.choice(['"SK"', '""', "5"]), "aws_session_token": lambda: r.choice(['"T"', "5"]), "disable_payload_signing": lambda: r.choice(["true", "false", "5"]), "payload": lambda: "1"}
    return "{" + ", ".join(f'"{k}": {make()}' for k, make in fields.items() if r.random() < (0.97 if k in ("aws_service", "aws_region", "aws_access_key", "aws_secret_access_key") else 0.3)) + "}"
