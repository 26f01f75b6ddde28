"""Documents, paths, schemas, addresses and encoded texts, made by chance."""

import base64
import json

import vocabulary as v
from gen_values import *  # noqa: F403


# documents

def json_text(r):
    kind = r.randrange(4)
    plain = lambda depth: json.dumps(plain_value(r, depth), ensure_ascii=r.random() < 0.5, indent=r.choice([None, None, 1]))
    if kind == 0:
        return near(r, plain(3), 0.1)
    if kind == 1:
        return near(r, plain(2), 0.7)
    if kind == 2:
        return near(r, r.choice(["1", "-1", "1.5", "1e5", "0", "-0", "0.0", "1E+5", "1e-5", "12345678901234567890"]), 0.6)
    inside = "".join(r.choice(["\\u0041", "\\ud83d\\ude00", "\\ud800", "\\udc00\\ud800", "\\n", "\\/", "\\x", "\\u12", "a", "é", "\t", "\u2028", "\\\"", "\\u0000", "\\uD83D", "\\b", "\\"]) for _ in range(r.randint(0, 4)))
    return raw(f'"{inside}"'.encode() + r.choice([b"", b"", b" ", b"x", b",", b"\xff"]))


def plain_value(r, depth):
    kind = r.randrange(9) if depth else r.randrange(6)
    if kind < 2:
        return r.choice([0, 1, -1, 1.5, 2**53, 2**64, -0.0, 1e21, 1e-7, 123456789.123, 10**25])
    if kind < 4:
        return string(r, 4, 0.3, 0).decode()
    if kind == 4:
        return r.choice([None, True, False])
    if kind < 7:
        return [plain_value(r, depth - 1) for _ in range(r.randint(0, 3))]
    return {string(r, 3, 0.2, 0).decode(): plain_value(r, depth - 1) for _ in range(r.randint(0, 3))}


YAML_SCALARS = ["1", "a", "null", "~", "true", "yes", "0x1F", "0o17", "017", "1_000", "1e3", ".5", ".inf", "-.inf", ".nan", "2001-01-01", "2001-01-01T00:00:00Z", "2001-12-14t21:59:43.10-05:00", "12:30:45", "1:2", "'a''b'", "\"\\x41\\u00e9\"", "\"a\\\n  b\"", "<<", "=", "!!str 1", "!!int '5'", "!!int 1.5", "!!float 1", "!!float x", "!!bool true", "!!bool yes", "!!null ''", "!!binary aGk=", "!!binary '*'", "!!timestamp 2001-01-01", "!!map {}", "!!seq []", "!!set {a}", "!!omap [a: 1]", "!foo bar", "!!foo bar", "!<tag:yaml.org,2002:str> 5", "! 5", "é", "😀", "", "0b101", "-0b1", "0o8", "08", "-017", "+1", "1.", "1e", "-", "?", ":", "a: b", "0x", "+.5", "1e400", "99999999999999999999", "-9223372036854775809", "0xFFFFFFFFFFFFFFFFF", "\"\\/\"", "\"\\z\"", "'", "\"", "a #b", "a#b", "@x", "%x", "*a", "&a 1", "*nope", "|\n  x\n  y", ">-\n  x\n  y", "|2\n   x", "|+\n  x\n\n", "on", "off", "n", "Y", "NULL", "Null", "TRUE", "True", "tRUE", "_1", "1_", "0_7", "1__2", "1.5_0", ".5e1", "1e+3", "1E-3", "0.0", "-0", "-0.0", "1,000", "NaN", ".NaN", "Inf", "+.INF", "{}", "[]", "1 2", "a,b", "\t", "a\tb", "\u0085", "\ufeff", "!!str", "!!int", "&b", "0777", "0o777"]


def yaml_node(r, depth, indent=0):
    kind = r.randrange(9) if depth else 0
    pad = "  " * indent
    if kind < 4:
        return r.choice(["", "", "", "", "&a ", "&b ", "!!str ", "!t "]) + r.choice(YAML_SCALARS)
    keys = lambda: r.choice(["a", "b", "c", "<<", "1", "null", "true", "1.5", "\"a\"", "? x", "'1'", "é", "~", "[a]", "{a: b}", "", "y", "0x1", "0o1", ".inf", "2001-01-01", "&k a", "*a", "!!str 1", "!!int 'x'", "1.0", "-1"])
    if kind == 4:
        return "[" + ", ".join(yaml_node(r, 0) for _ in range(r.randint(0, 3))) + "]"
    if kind == 5:
        return r.choice(["", "&a ", "!!map "]) + "{" + ", ".join(f"{keys()}: {yaml_node(r, 0)}" for _ in range(r.randint(0, 3))) + "}"
    if kind == 6:
        return r.choice(["", "&a"]) + "".join(f"\n{pad}- {yaml_node(r, depth - 1, indent + 1)}" for _ in range(r.randint(1, 3)))
    return r.choice(["", "", "&a", "&b"]) + "".join(f"\n{pad}{keys()}: {yaml_node(r, depth - 1, indent + 1)}" for _ in range(r.randint(1, 3)))


def yaml_text(r):
    if r.random() < 0.15:
        return near(r, "a: &a {b: 1, c: 2}\n" + r.choice(["d: {<<: *a, b: 3}", "d:\n  <<: *a\n  <<: *a", "d:\n  <<: [*a, {b: 5, e: 6}]\n  c: 7", "<<: *a", "d: {<<: 5}", "d: {<<: [1]}", "d: [<<, *a]", "d: {'<<': *a}", "d: {!!merge <<: *a}", "d: {\"<<\": 1}", "d: {<<: {<<: *a}}", "d: *a\ne: *a", "d: {b: 0, <<: *a}"]), 0.15)
    text = r.choice(["", "", "", "--- ", "---\n", "%YAML 1.2\n---\n", "# c\n", "%TAG ! tag:x,2000:\n---\n"]) + yaml_node(r, 3).lstrip("\n") + r.choice(["", "", "", "\n", "\n...\n", "\n---\nb", " # c", "\n---\n"])
    return near(r, text, 0.12)


def pointer(r):
    if r.random() < 0.25:
        return "[" + ", ".join(r.choice(['"a"', '"b"', "0", "1", '"0"', '"-"', '["a"]', "null", '"c"', "{1}", '"a/b"', "-1", "1.0", "2"]) for _ in range(r.randint(0, 3))) + "]"
    return v.text(r.choice(["", "/", "/"]) + "/".join(r.choice(["a", "b", "c", "0", "1", "2", "-", "", "~1", "~0", "a~1b", "~2", "01", "9", "-1", "1.0", "é", "%61", "+1", "null"]) for _ in range(r.choice([0, 1, 1, 2, 3]))))


def patch(r):
    ops = []
    for _ in range(r.choice([0, 1, 1, 1, 2, 3])):
        fields = {"op": v.text(r.choice(["add", "remove", "replace", "move", "copy", "test", "add", "nope", "ADD"])), "path": pointer(r)}
        if r.random() < 0.8:
            fields["value"] = r.choice([few, few_object, few_array])(r)
        if r.random() < 0.5:
            fields["from"] = pointer(r)
        if r.random() < 0.05:
            fields.pop(r.choice(list(fields)))
        if r.random() < 0.05:
            fields[r.choice(["op", "path", "from"])] = few(r)
        ops.append("{" + ", ".join(f'"{k}": {x}' for k, x in fields.items()) + "}")
    if r.random() < 0.03:
        ops.append(few(r))
    return "[" + ", ".join(ops) + "]"


def patch_target(r):
    return r.choice([few_object, few_array, lambda r: few_object(r, 1), few_set, few])(r)


def paths(r):
    return collection(r, lambda r: pointer(r) if r.random() < 0.9 else few(r), 3)


def schema(r, depth=2):
    out = {}
    for _ in range(r.choice([0, 1, 1, 2, 3])):
        inner = lambda: schema(r, depth - 1) if depth else r.choice([{}, {"type": "string"}, {"minimum": 1}])
        n = lambda: r.choice([0, 1, 2, 3, 1.5, -1, 2.0, "a", True, 10**20])
        word = lambda: r.choice(["a", "b", "c", "1", "", "é"])
        key, make = r.choice([
            ("type", lambda: r.choice(["object", "array", "string", "number", "integer", "boolean", "null", "nope", ["string", "null"], ["object", "object"], [], 5, ["integer", "number"]])),
            ("minimum", n), ("maximum", n), ("exclusiveMinimum", n), ("exclusiveMaximum", n), ("multipleOf", lambda: r.choice([1, 2, 0.1, 0, -1, "a", 0.5, 1.5])),
            ("minLength", n), ("maxLength", n), ("minItems", n), ("maxItems", n), ("minProperties", n), ("maxProperties", n),
            ("pattern", lambda: r.choice(["^a", "a+$", "[", "\\d", "", "(?=a)", "é", 5])), ("format", lambda: r.choice(["date", "time", "date-time", "email", "hostname", "ipv4", "ipv6", "uri", "uri-reference", "uuid", "regex", "iri", "json-pointer", "relative-json-pointer", "uri-template", "nope", 5, "idn-email", "duration"])),
            ("enum", lambda: r.choice([[1], ["a", 1, None], [], [1, 1], [1, 1.0], [{"a": 1}], 5, [[1], {}]])), ("const", lambda: r.choice([1, "a", None, {"a": 1}, [1], 1.0, True])),
            ("required", lambda: r.choice([["a"], ["a", "b"], [], ["a", "a"], "a", [1]])), ("properties", lambda: {word(): inner() for _ in range(r.randint(0, 3))} if r.random() < 0.9 else 5),
            ("patternProperties", lambda: {r.choice(["^a", "b", "[", ".*"]): inner()} if r.random() < 0.9 else []), ("additionalProperties", lambda: r.choice([True, False, inner(), 5])),
            ("items", lambda: r.choice([inner(), [inner()], [inner(), inner()], 5, True, False, []])), ("additionalItems", lambda: r.choice([True, False, inner(), 5])), ("contains", inner), ("uniqueItems", lambda: r.choice([True, False, 5])),
            ("dependencies", lambda: r.choice([{"a": ["b"]}, {"a": inner()}, {"a": [1]}, {"a": 5}, 5, {"a": []}])), ("propertyNames", inner),
            ("allOf", lambda: r.choice([[inner()], [inner(), inner()], [], 5])), ("anyOf", lambda: r.choice([[inner()], [inner(), inner()], [], 5])), ("oneOf", lambda: r.choice([[inner()], [inner(), inner()], [], {}])),
            ("not", lambda: r.choice([inner(), 5, True])), ("if", inner), ("then", inner), ("else", inner), ("$ref", lambda: r.choice(["#/definitions/x", "#/nope", "#/properties/a", "x", "", 5, "#/definitions/%78", "#x"])),
            ("definitions", lambda: {"x": r.choice([{"type": "string"}, {"minimum": 2}, True, {}]), "y": {"$id": "#x", "type": "integer"}}), ("$id", lambda: r.choice(["http://a/b", "#x", 5, ""])), ("id", lambda: r.choice(["http://a/b", 5])), ("title", lambda: r.choice(["t", 5])), ("description", lambda: r.choice(["t", 5])), ("$schema", lambda: r.choice(["http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-06/schema#", "nope", 5])), ("readOnly", lambda: r.choice([True, 5])), ("default", lambda: 1), ("examples", lambda: r.choice([[1], 5])),
        ])
        out[key] = make()
    return out


def schema_argument(r):
    made = schema(r) if r.random() < 0.95 else r.choice([True, False, [], 5, None, "x"])
    text = json.dumps(made)
    if r.random() < 0.3 or not isinstance(made, dict):
        return v.text(text) if r.random() < 0.97 else near(r, text, 0.5)
    return text


SCHEMA_TEXTS = ["2023-11-14", "2023-02-30", "12:30:45Z", "12:30:45", "2023-11-14T12:30:45Z", "a@b.c", "@", "a.b", "-a.b", "1.2.3.4", "1.2.3", "::1", "::g", "http://a/b", "/a", "a b", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "[", "a+", "/a/~0", "/a/~2", "1/a", "{x}", "{x", "aaa", "", "é"]


def document(r):
    plain = lambda depth: r.choice([1, 2, 3.0, 1.5, 0, -1, "a", "ab", "aab", None, True, False, 10**20, r.choice(SCHEMA_TEXTS), r.choice(SCHEMA_TEXTS)]) if not depth or r.random() < 0.35 else [plain(depth - 1) for _ in range(r.randint(0, 3))] if r.random() < 0.4 else {r.choice(["a", "b", "c", "1", ""]): plain(depth - 1) for _ in range(r.randint(0, 3))}
    made = plain(3)
    if isinstance(made, dict) and r.random() < 0.6:
        return json.dumps(made)
    return v.text(json.dumps(made)) if r.random() < 0.97 else any_value(r)


# networks

def ip4(r):
    return ".".join(str(r.choice([0, 1, 10, 127, 128, 192, 255, r.randint(0, 255)])) for _ in range(4))


def ip6(r):
    groups = [r.choice(["0", "1", "ffff", "2001", "db8", "fe80", f"{r.randrange(65536):x}"]) for _ in range(8)]
    text = ":".join(groups)
    if r.random() < 0.7:
        at = r.randint(0, 6)
        text = ":".join(groups[:at]) + "::" + ":".join(groups[at + r.randint(1, 7):])
    if r.random() < 0.15:
        text = r.choice(["::ffff:", "::", "64:ff9b::", "1:2:3:4:5:6:"]) + ip4(r)
    return text + (r.choice(["%eth0", "%", "%25x"]) if r.random() < 0.05 else "")


def cidr(r, six=None):
    six = r.random() < 0.4 if six is None else six
    length = r.choice([0, 1, 8, 16, 24, 30, 31, 32] if not six else [0, 32, 64, 96, 104, 120, 126, 127, 128])
    if r.random() < 0.05:
        length = r.choice([33, 129, -1, "", "08", "+8", "x", "8 ", 999999999999])
    return f"{ip6(r) if six else ip4(r)}/{length}"


def cidr_or_ip(r):
    return near(r, cidr(r) if r.random() < 0.6 else ip6(r) if r.random() < 0.4 else ip4(r), 0.05)


def close_cidrs(r):
    """Blocks that touch."""
    base = r.choice(["10.0.{}.{}", "192.168.{}.{}", "255.255.{}.{}"])
    return v.text(base.format(r.choice([0, 1, 2, 255]), r.choice([0, 64, 128, 192, 255, 1])) + r.choice(["", "/24", "/25", "/26", "/32", "/31", "/23", "/16"])) if r.random() < 0.7 else v.text(r.choice(["2001:db8::", "2001:db8:0:1::", "::", "::1", "fe80::8000:0:0:0", "2001:db8:8000::", "ffff::"]) + r.choice(["", "/32", "/33", "/64", "/65", "/128", "/0", "/1"]))


def matches(r):
    element = lambda r: r.choice([close_cidrs, close_cidrs, cidr_or_ip, lambda r: f"[{close_cidrs(r)}, {few(r)}]", few])(r) if r.random() < 0.3 else close_cidrs(r)
    kind = r.randrange(4)
    if kind == 0:
        return element(r)
    if kind == 1:
        return "{" + ", ".join(f"{few(r)}: {element(r)}" for _ in range(r.randint(0, 3))) + "}"
    return collection(r, element, 3)


def url(r):
    text = r.choice(["http", "https", "HTTP", "a+b", "1a", "", "mailto", "urn", "x-y.z", "é", ":"]) + r.choice([":", ":", "", "::"]) + r.choice(["//", "//", "/", "", "///"]) + r.choice(["", "", "u@", "u:p@", "u:p:q@", "%41@", "u%zz@", "@", "é@", "[@", "u p@", "a/b@"]) + r.choice(["h", "a.b", "[::1]", "[::1%25en0]", "[::1%en0]", "[fe80::1", "::1]", "1.2.3.4", "", "é", "h%41", "h%20", "a b", "[x]", "[]", "h_", "a<b", "a|b", "h%zz", "H", "[::1]x", "[::1%25]"]) + r.choice(["", "", ":80", ":", ":x", ":-1", ":99999999", ":80:80", ":８"]) + r.choice(["", "/", "/a", "/a%2Fb", "/a%zz", "/é", "/a b", "/%41", "/..", "//", "/a;b", "a", "/*", "/\x01", "/\x7f", "/a\\b", "/%", "/[x]", "/!$&'()*+,;=:@", "/\"<>^`{|}"]) + r.choice(["", "", "?", "?a=b", "?a b", "?%zz", "?é", "??", "?a#", "?\x00", "?a=%"]) + r.choice(["", "", "#", "#f", "#%zz", "#é", "#a#b", "# ", "#%41"])
    return near(r, text, 0.05)


def query_text(r):
    return near(r, "".join(r.choice(["a", "b", "=", "=", "&", "&", ";", "+", "%20", "%zz", "%", "%4", "%C3%A9", "%FF", "é", " ", "?", "#", "1", "%00", "%2b", "[]", "\t"]) for _ in range(r.randint(0, 8))), 0.05)


def encoded_object(r):
    item = lambda r: r.choice([lambda r: raw(string(r, 4, 0.4)), lambda r: collection(r, lambda r: raw(string(r, 4, 0.4)), 3), lambda r: few(r)])(r) if r.random() < 0.3 else raw(string(r, 4, 0.4))
    return "{" + ", ".join(f"{raw(string(r, 3, 0.3)) if r.random() < 0.97 else few(r)}: {item(r)}" for _ in range(r.randint(0, 4))) + "}"


def base64_text(r, url_safe=False):
    encode = base64.urlsafe_b64encode if url_safe ^ (r.random() < 0.15) else base64.b64encode
    text = encode(bytes(r.randrange(256) for _ in range(r.randint(0, 9)))).decode()
    if r.random() < 0.3:
        text = text.rstrip("=")
    if r.random() < 0.2:
        at = r.randint(0, len(text))
        text = text[:at] + r.choice(["\n", "\r\n", " ", "=", "==", "é", "\t", "\r"]) + text[at:]
    return near(r, text, 0.3)


def hex_text(r):
    return near(r, bytes(r.randrange(256) for _ in range(r.randint(0, 6))).hex(), 0.4)


def semver(r):
    n = lambda: r.choice(["0", "1", "2", "10", "01", "", "x", "9223372036854775807", "9223372036854775808", "00", "+1", "1e1", "é"]) if r.random() < 0.25 else str(r.randint(0, 3))
    tail = lambda: ".".join(r.choice(["a", "b", "alpha", "1", "2", "10", "01", "0", "", "-", "a-b", "A", "1a", "é", "_", "00", "18446744073709551615", "9223372036854775808"]) for _ in range(r.randint(1, 3)))
    text = r.choice(["", "", "", "", "v", " ", "V"]) + ".".join(n() for _ in range(r.choice([3, 3, 3, 3, 2, 4, 1]))) + (f"-{tail()}" if r.random() < 0.4 else "") + (f"+{tail()}" if r.random() < 0.3 else "")
    return near(r, text, 0.05)


def uuid(r):
    digits = "".join(r.choice("0123456789abcdefABCDEF") for _ in range(32))
    if r.random() < 0.7:
        digits = digits[:12] + r.choice("12345678") + digits[13:16] + r.choice("89abcdef07") + digits[17:]
    text = "-".join([digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]])
    return near(r, r.choice([text, text, text, digits, "{" + text + "}", "urn:uuid:" + text, "URN:UUID:" + text, "urn:UUID:" + text, "[" + text + "]", "(" + text + ")", "{" + digits + "}", "urn:uuid:" + digits, text.replace("-", "_")]), 0.15)
