#!/usr/bin/env python3
"""Asks OPA and Solon the same generated calls, and tells where they differ.

    OPA=path/to/opa SOLON=path/to/solon ./explore.py SEED CALLS [NAME…]

CALLS calls of each function whose name starts with a NAME, or of all. Each is asked strictly and not with operands that
nobody knows before, and once with constants. A difference is a line of JSON: the call, the form, what both said.
With RECORD=N, N calls of each function on which both agree are added to `edges/`, in the form of `record.py`.
"""

import json
import os
import random
import re
import sys
import threading

import generators
from peer import EFFECTS, HERE, Peer, case, family, functions, hidden, is_unreadable, known, outcome, request, write
from record import DEADLY, split_types

BATCH = 24
PATIENCE = 20
# depends on the clock, which `lines` of the two set differently
CLOCK = {"crypto.x509.parse_and_verify_certificates"}


def requests(name, arguments):
    forms = ((hidden(arguments), True), (hidden(arguments), False), (arguments, True))
    return [request(name, form, strict) for form, strict in forms]


def said(answer):
    return "no answer" if answer is None else outcome(answer)


def keep(name, cases, wanted):
    """Adds cases to the record."""
    path = HERE / "edges" / f"{family(name)}.json"
    path.parent.mkdir(exist_ok=True)
    recorded = known(path)
    seen = {json.dumps(case[0]) for case in recorded.get(name, [])}
    fresh = [case for case in cases if json.dumps(case[0]) not in seen]
    recorded[name] = recorded.get(name, []) + fresh[:wanted]
    write(path, recorded)


def explore(peers, name, types, seed, count, wanted):
    chance = random.Random(f"{seed} {name}")
    asked, differences, agreed = set(), 0, []
    while len(asked) < count:
        batch = []
        for _ in range(min(BATCH, count - len(asked))):
            arguments = generators.arguments(chance, name, types)
            written = ", ".join(arguments)
            asked.add(len(asked))
            if any(re.search(function, name) and re.search(argument, written) for function, argument in DEADLY):
                continue
            batch.append(arguments)
        lines = [request for arguments in batch for request in requests(name, arguments)]
        answers = [None, None]
        threads = [threading.Thread(target=lambda at=at: answers.__setitem__(at, peers[at].ask(lines))) for at in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for at, arguments in enumerate(batch):
            theirs, ours = ([said(answer) for answer in side[3 * at:3 * at + 3]] for side in answers)
            if is_unreadable(name, theirs[0]):
                continue
            if name in EFFECTS and not isinstance(theirs[0], list) and not isinstance(ours[0], list):
                continue
            same = True
            for form, wanted_, found in zip(("strict", "lax", "constant"), theirs, ours):
                if wanted_ != found:
                    same = False
                    print(json.dumps({"call": f"{name}({', '.join(arguments)})", "form": form, "opa": wanted_, "solon": found}, ensure_ascii=False), flush=True)
                    break
            differences += not same
            if same and not (isinstance(theirs[0], list) and not theirs[0][0].startswith("eval_")):
                agreed.append(case(arguments, theirs[0], theirs[1]))
    if wanted and name not in EFFECTS:
        keep(name, agreed, wanted)
    return len(asked), differences


def main():
    seed, count, names = sys.argv[1], int(sys.argv[2]), tuple(sys.argv[3:])
    wanted = int(os.environ.get("RECORD", 0))
    peers = [Peer(os.environ[program], PATIENCE) for program in ("OPA", "SOLON")]
    total = [0, 0]
    for name, declaration in functions(names):
        types = split_types(declaration)
        if name in CLOCK or not types:
            continue
        asked, differences = explore(peers, name, types, seed, count, wanted)
        total = [total[0] + asked, total[1] + differences]
        print(f"{name}: {asked} calls, {differences} differ", file=sys.stderr)
    print(f"{total[0]} calls, {total[1]} differ", file=sys.stderr)


if __name__ == "__main__":
    main()
