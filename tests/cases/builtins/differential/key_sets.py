#!/usr/bin/env python3
"""Verifies signed tokens with generated key sets in OPA and Solon, and prints where the results differ.

    OPA=path/to/opa SOLON=path/to/solon ./key_sets.py SEED SETS

A set has one to four keys with random `alg`, `use`, `kid` and `key_ops`; each set is tried on ten of the tokens of
`vocabulary_keys.py`, by `io.jwt.decode_verify` and by the `io.jwt.verify_*` of the token. With RECORD=N, the first N
sets and three tokens of each are written to `../jwt_key_sets.json`.
"""

import json
import os
import random
import sys

from peer import HERE, Peer
from vocabulary_keys import KEYS, TOKENS

PATIENCE = 20
BATCH = 50
TOKENS_OF_A_SET = 10
RECORDED_TOKENS = 3
SIGNING = ["HS256", "RS256", "PS256", "PS384", "ES256", "ES384", "EdDSA"]
OTHER = ["RSA-OAEP", "RSA-OAEP-256", "RSA1_5", "ECDH-ES", "ECDH-ES+A128KW", "dir", "none", "A128KW", "A128GCM", "ES256K", "Ed25519", "PBES2-HS256+A128KW"]
INVALID = ["", "RS1", "rs256", "nope", 5, None, ["RS256"]]
USES = ["sig", "sig", "enc", "", "other", 5, None]
OPERATIONS = [["verify"], ["sign"], ["encrypt"], ["deriveKey", "wrapKey"], [], ["other"], ["verify", "verify"], "verify", None, [5]]
KIDS = ["a", "a", "b", "", "z", 5, None]


def pick(r, usual, rare):
    """One of the usual values, or seldom one of the rare ones."""
    return r.choice(rare if r.random() < 0.01 else usual)


def key(r):
    fields = dict(r.choice(KEYS))
    if r.random() < 0.7:
        fields["alg"] = pick(r, SIGNING if r.random() < 0.5 else OTHER, INVALID)
    if r.random() < 0.7:
        fields["kid"] = pick(r, KIDS[:5], KIDS)
    if r.random() < 0.5:
        fields["use"] = pick(r, USES[:3], USES)
    if r.random() < 0.5:
        fields["key_ops"] = pick(r, OPERATIONS[:7], OPERATIONS)
    names = list(fields)
    r.shuffle(names)
    return {name: fields[name] for name in names}


def key_set(r):
    keys = [key(r) for _ in range(r.randint(1, 4))]
    return keys[0] if len(keys) == 1 and r.random() < 0.3 else {"keys": keys}


def call(keys, tokens):
    """Rego text that verifies the tokens in both ways."""
    results = []
    for algorithm, token in tokens:
        results.append(f'io.jwt.decode_verify("{token}", {{"cert": k, "time": 0}})[0]')
        if not algorithm.startswith("HS"):
            results.append(f'io.jwt.verify_{algorithm.lower()}("{token}", k)')
    return f"[r | k := {json.dumps(json.dumps(keys))}; r := [{', '.join(results)}]][0]"


def outcome(answer):
    if answer is None:
        return {"crash": True}
    if answer.get("errors"):
        error = answer["errors"][0]
        return {"error": {"code": error["code"], "message": error["message"]}}
    if answer.get("bindings"):
        return {"result": json.dumps(answer["bindings"][0]["x"])}
    return {"undefined": True}


def main():
    seed, count = sys.argv[1], int(sys.argv[2])
    wanted = int(os.environ.get("RECORD", 0))
    r = random.Random(seed)
    peers = [Peer(os.environ[program], PATIENCE) for program in ("OPA", "SOLON")]
    calls, differences, errors, verified = [], 0, 0, 0
    for _ in range(count):
        keys = key_set(r)
        tokens = r.sample(TOKENS, TOKENS_OF_A_SET)
        calls.append(call(keys, tokens[:RECORDED_TOKENS] if len(calls) < wanted else tokens))
    recorded = []
    for start in range(0, count, BATCH):
        batch = calls[start:start + BATCH]
        requests = [{"query": f"x := {text}", "strict_builtin_errors": True} for text in batch]
        theirs, ours = (list(map(outcome, peer.ask(requests))) for peer in peers)
        for text, expected, found in zip(batch, theirs, ours, strict=True):
            errors += "error" in expected
            verified += "true" in expected.get("result", "")
            if expected != found:
                differences += 1
                print(json.dumps({"call": text, "opa": expected, "solon": found}), flush=True)
            if len(recorded) < wanted:
                recorded.append({"call": text, **expected})
    if wanted:
        lines = ",\n".join("  " + json.dumps(case, ensure_ascii=False) for case in recorded)
        (HERE.parent / "jwt_key_sets.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{count} sets: {differences} differ, {errors} are errors, {verified} verify a token", file=sys.stderr)
    sys.exit(differences > 0)


if __name__ == "__main__":
    main()
