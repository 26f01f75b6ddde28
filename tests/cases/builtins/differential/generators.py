"""Arguments made by chance, near the edges of what each function takes: which generator for which function."""

import vocabulary as v
from gen_documents import *  # noqa: F403
from gen_languages import *  # noqa: F403
from gen_texts import *  # noqa: F403
from gen_values import *  # noqa: F403


def parts_of(r):
    """A string and one likely to occur in it."""
    whole = string(r, 10, 0.3, 0.06)
    if whole and r.random() < 0.6:
        at = r.randrange(len(whole))
        return raw(whole), raw(whole[at:at + r.randint(0, 3)])
    return raw(whole), raw(string(r, 3, 0.3, 0.06))


def string_lists(r):
    kind = r.randrange(5)
    if kind < 2:
        return raw(string(r, 3))
    return collection(r, lambda r: raw(string(r, 3)) if r.random() < 0.97 else few(r), 3)


def graph(r):
    node = lambda: r.choice(['"a"', '"b"', '"c"', '"d"', "1", '["a"]', "null"]) if r.random() < 0.3 else r.choice(['"a"', '"b"', '"c"', '"d"'])
    edges = lambda: r.choice(["null", "5", '"a"', "{}"]) if r.random() < 0.05 else collection(r, lambda r: node(), 3)
    return "{" + ", ".join(f"{node()}: {edges()}" for _ in range(r.randint(0, 5))) + "}"


def yaml_value(r):
    return value(r, 3, "aoxx") if r.random() < 0.5 else r.choice([v.text(text) for text in YAML_SCALARS] + ['{"a": ' + v.text(r.choice(YAML_SCALARS)) + "}"])


def member(r):
    return [few(r), r.choice([few_array, few_set, few_object, few])(r)]


def pair(make):
    return lambda r: [make(r), make(r)]


def one(make):
    return lambda r: [make(r)]


STRINGS = lambda r: raw(string(r, 10, 0.4, 0.08))
BY_NAME = {
    "sprintf": lambda r: [format_text(r), format_args(r)],
    "glob.match": lambda r: [near(r, glob(r), 0.05), delimiters(r), glob_subject(r)], "glob.quote_meta": lambda r: [near(r, glob(r), 0.3)],
    "regex.match": lambda r: [pattern(r), subject(r)], "re_match": lambda r: [pattern(r), subject(r)], "regex.is_valid": one(pattern), "regex.split": lambda r: [pattern(r), subject(r)],
    "regex.find_n": lambda r: [pattern(r), subject(r), small(r)], "regex.find_all_string_submatch_n": lambda r: [pattern(r), subject(r), small(r)], "regex.replace": lambda r: [subject(r), pattern(r), replacement(r)],
    "regex.globs_match": pair(lambda r: near(r, "".join(r.choice(["a", "b", ".", "[ab]", "[a-c]", "[^a]", "é", "\\*", "1", "[]", "]", "[", "-"]) + r.choice(["", "", "*", "+"]) for _ in range(r.randint(0, 4))), 0.1)),
    "regex.template_match": lambda r: [near(r, "".join(r.choice(["a", "urn:", "{.*}", "{[0-9]+}", "{a|b}", "{", "}", "{{a}}", "<b+>", "é", "{(}"]) for _ in range(r.randint(0, 4))), 0.1), subject(r), r.choice(v.texts("{", "<", "", "{{", "é")), r.choice(v.texts("}", ">", "", "}}"))],
    "time.format": one(formatted), "time.clock": one(moment), "time.date": one(moment), "time.weekday": one(moment), "time.diff": pair(moment),
    "time.add_date": lambda r: [instant(r)] + [r.choice([small(r), str(r.randint(-400, 400)), number(r)]) for _ in range(3)], "time.parse_ns": parse_ns, "time.parse_rfc3339_ns": rfc3339, "time.parse_duration_ns": duration,
    "units.parse": one(amount), "units.parse_bytes": one(amount), "to_number": one(number_text),
    "numbers.range": range_pair, "numbers.range_step": lambda r: range_pair(r) + [r.choice(["1", "2", "3", "0", "-1", "1.5", "100", "10000000000000000000", "1.0"])],
    "format_int": lambda r: [number(r), r.choice(["2", "8", "10", "16", "16", "3", "36", "0", "2.0", "1e1", "16.0", '"2"'])],
    "json.unmarshal": one(json_text), "json.is_valid": one(json_text), "json.marshal": one(any_value), "json.marshal_with_options": lambda r: [any_value(r), r.choice(v.OPTIONS + ['{"indent": "\\t", "prefix": "é"}', '{"pretty": true, "indent": ""}', '{"indent": null}', '{"pretty": 1, "nope": 2}'])],
    "yaml.unmarshal": one(yaml_text), "yaml.is_valid": one(yaml_text), "yaml.marshal": one(yaml_value),
    "json.patch": lambda r: [patch_target(r), patch(r)], "json.filter": lambda r: [few_object(r), paths(r)], "json.remove": lambda r: [few_object(r), paths(r)],
    "json.match_schema": lambda r: [document(r), schema_argument(r)], "json.verify_schema": one(schema_argument),
    "object.get": lambda r: [few_object(r), r.choice([few, few_array, lambda r: "[" + few(r) + ", " + few(r) + "]"])(r), few(r)], "object.filter": lambda r: [few_object(r), r.choice([few_array, few_set, few_object])(r)], "object.remove": lambda r: [few_object(r), r.choice([few_array, few_set, few_object])(r)],
    "object.keys": one(few_object), "object.union": pair(few_object), "object.union_n": lambda r: [array(r, lambda r: few_object(r) if r.random() < 0.97 else few(r), 4)], "object.subset": pair(lambda r: r.choice([few_object, few_array, few_set, lambda r: few_object(r, 1)])(r)),
    "net.cidr_contains": lambda r: [r.choice([close_cidrs, cidr_or_ip])(r), r.choice([close_cidrs, cidr_or_ip])(r)], "net.cidr_overlap": lambda r: [r.choice([close_cidrs, cidr_or_ip])(r), r.choice([close_cidrs, cidr_or_ip])(r)], "net.cidr_intersects": lambda r: [r.choice([close_cidrs, cidr_or_ip])(r), r.choice([close_cidrs, cidr_or_ip])(r)],
    "net.cidr_contains_matches": pair(matches), "net.cidr_merge": lambda r: [collection(r, lambda r: r.choice([close_cidrs, close_cidrs, cidr_or_ip])(r) if r.random() < 0.98 else few(r), 5)], "net.cidr_is_valid": one(cidr_or_ip),
    "net.cidr_expand": lambda r: [near(r, f"{ip4(r)}/{r.choice([28, 30, 31, 32, 33, 29])}" if r.random() < 0.6 else f"{ip6(r)}/{r.choice([125, 126, 127, 128, 129])}", 0.04)],
    "uri.parse": one(url), "uri.is_valid": one(url), "urlquery.decode": one(query_text), "urlquery.decode_object": one(query_text), "urlquery.encode_object": one(encoded_object), "urlquery.encode": one(STRINGS),
    "base64.decode": one(base64_text), "base64.is_valid": one(base64_text), "base64url.decode": one(lambda r: base64_text(r, True)), "hex.decode": one(hex_text),
    "semver.compare": pair(semver), "semver.is_valid": lambda r: [semver(r) if r.random() < 0.95 else few(r)], "uuid.parse": one(uuid),
    "strings.render_template": lambda r: [near(r, template_text(r), 0.04), template_data(r)],
    "graphql.is_valid": lambda r: [graphql_query(r), sdl(r)], "graphql.parse": lambda r: [graphql_query(r), sdl(r)], "graphql.parse_and_verify": lambda r: [graphql_query(r), sdl(r)], "graphql.parse_query": one(graphql_query), "graphql.parse_schema": one(sdl), "graphql.schema_is_valid": one(sdl),
    "io.jwt.decode": one(token), "io.jwt.decode_verify": lambda r: [token(r), constraints(r)], "io.jwt.encode_sign": lambda r: [r.choice(JOSE), few_object(r), r.choice(JWKS)],
    "io.jwt.encode_sign_raw": lambda r: [near(r, r.choice(JOSE), 0.05), near(r, r.choice(['{"a": 1}', "x", "", "[]", "{}"]), 0.1), near(r, r.choice(JWKS), 0.05)],
    "crypto.parse_private_keys": lambda r: [pem(r, "PRIVATE")], "crypto.x509.parse_certificates": lambda r: [pem(r, "CERTIFICATE")], "crypto.x509.parse_and_verify_certificates": lambda r: [pem(r, "CERTIFICATE")], "crypto.x509.parse_and_verify_certificates_with_options": lambda r: [pem(r, "CERTIFICATE"), r.choice(['{"CurrentTime": 1700000000000000000}', '{"CurrentTime": 1700000000000000000, "DNSName": "a"}', '{"CurrentTime": 1700000000000000000, "MaxConstraintComparisons": 1}', '{"CurrentTime": 1700000000000000000, "KeyUsages": ["KeyUsageAny"]}', '{"KeyUsages": ["x"]}', '{"KeyUsages": 5}', '{"nope": 1}', '{"DNSName": 5}', '{"CurrentTime": "x"}', '{"CurrentTime": 1.5}'])],
    "crypto.x509.parse_certificate_request": lambda r: [pem(r, "REQUEST")], "crypto.x509.parse_keypair": lambda r: [pem(r, "CERTIFICATE"), pem(r, "PRIVATE")], "crypto.x509.parse_rsa_private_key": lambda r: [pem(r, "RSA")],
    "rego.parse_module": lambda r: [r.choice(v.texts("a.rego", "", "é/b")), rego(r)],
    "graph.reachable": lambda r: [graph(r), r.choice(v.STARTS + ['{"a", "d"}', '["b", 1]'])], "graph.reachable_paths": lambda r: [graph(r), r.choice(v.STARTS + ['{"a", "d"}', '["b", 1]'])],
    "http.send": one(request), "providers.aws.sign_req": lambda r: [aws_request(r), aws_config(r), instant(r)],
    "internal.member_2": member, "internal.member_3": lambda r: [few(r)] + member(r), "internal.template_string": lambda r: [array(r, lambda r: r.choice([raw(string(r)), few_set(r), "set()", "{" + value(r, 2) + "}", few(r)]), 3)],
    "strings.any_prefix_match": pair(string_lists), "strings.any_suffix_match": pair(string_lists), "concat": lambda r: [raw(string(r, 2)), collection(r, lambda r: raw(string(r)) if r.random() < 0.95 else few(r), 4)],
    "replace": lambda r: [*parts_of(r), raw(string(r, 3))], "strings.split_n": lambda r: [*parts_of(r), small(r)], "substring": lambda r: [STRINGS(r), small(r), small(r)],
    "strings.replace_n": lambda r: ["{" + ", ".join(f"{raw(string(r, 2, 0.1))}: {raw(string(r, 2))}" for _ in range(r.randint(0, 3))) + "}", STRINGS(r)],
    "walk": one(any_value), "count": one(any_value), "sort": one(collection), "max": one(collection), "min": one(collection), "any": one(lambda r: collection(r, few)), "all": one(lambda r: collection(r, few)),
    "sum": one(lambda r: collection(r, number)), "product": one(lambda r: collection(r, number, 4)), "bits.lsh": lambda r: [number(r), small(r)], "bits.rsh": lambda r: [number(r), small(r)],
    "array.slice": lambda r: [few_array(r), small(r), small(r)], "array.flatten": one(lambda r: array(r, lambda r: value(r, 3, "aaas"))), "rand.intn": lambda r: [raw(string(r)), number(r)],
    "union": one(lambda r: "{" + ", ".join(few_set(r) if r.random() < 0.9 else few(r) for _ in range(r.randint(1, 4))) + "}"), "intersection": one(lambda r: "{" + ", ".join(few_set(r) if r.random() < 0.9 else few(r) for _ in range(r.randint(1, 4))) + "}"),
    "net.lookup_ip_addr": one(lambda r: r.choice(["1", "null", "[]", "{1}", "true", "{}"])),
}
for name in ("indexof", "indexof_n", "contains", "startswith", "endswith", "split", "strings.count", "trim", "trim_left", "trim_right", "trim_prefix", "trim_suffix"):
    BY_NAME[name] = lambda r: list(parts_of(r))
for name in ("and", "or", "set_diff"):
    BY_NAME[name] = pair(few_set)
BY_NAME["minus"] = lambda r: [few_set(r), few_set(r)] if r.random() < 0.3 else [number(r), number(r)]
for name in ("plus", "mul", "div", "rem", "bits.and", "bits.or", "bits.xor"):
    BY_NAME[name] = pair(number)
for name in ("equal", "neq", "lt", "lte", "gt", "gte"):
    BY_NAME[name] = pair(lambda r: r.choice([number, few, few_array, few_object, few_set, value])(r))
for name in ("hs256", "hs384", "hs512", "rs256", "rs384", "rs512", "ps256", "ps384", "ps512", "es256", "es384", "es512", "eddsa"):
    BY_NAME[f"io.jwt.verify_{name}"] = lambda r: [token(r), near(r, r.choice(JWKS + ['{"keys": [{"kty": "oct", "k": "c2VjcmV0"}]}', "secret", "", "s"]), 0.1) if r.random() < 0.7 else pem(r)]


def by_type(declared):
    """A generator for what a declaration names."""
    kind = declared.split("<")[0].split("[")[0]
    return {"number": number, "string": STRINGS, "boolean": lambda r: r.choice(["true", "false"]), "array": array, "set": lambda r: few_set(r) if r.random() < 0.5 else value(r, 2, "s"), "object": few_object}.get(kind, any_value)


def arguments(r, name, types):
    """The arguments of one call; now and then one is of any kind."""
    make = BY_NAME.get(name)
    made = list(make(r)) if make else [by_type(declared)(r) for declared in types]
    if made and r.random() < 0.04:
        made[r.randrange(len(made))] = any_value(r)
    return made
