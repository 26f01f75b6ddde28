"""Values made by chance: strings, numbers, collections. A generator gives Rego texts."""

import vocabulary as v


ODD = ["\u0000", "\u007f", "é", "日", "😀", "\u0301", "ß", "İ", "ǅ", "\u2028", "\u00a0", "\ufeff", "\ufffd", "\t", "\n", "\r", "\x0b", "\x85", "\\", "\"", "'", "<", ">", "&", "%", "{", "}", "$", " "]
LETTERS = list("abcABC019xyz._-/:,;+*=@#!?~")
BAD = [b"\xff", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xf0\x9f\x98", b"\xc0\xaf", b"\x80", b"\xf4\x90\x80\x80"]


def raw(data):
    """Bytes as Rego text."""
    try:
        return v.text(data.decode())
    except UnicodeDecodeError:
        return f'hex.decode("{data.hex()}")'


def string(r, longest=8, odd=0.25, bad=0.04):
    """A string of letters and odd characters, now and then no UTF-8."""
    out = b""
    for _ in range(r.choice([0, 1, 1, 2, 3, r.randint(0, longest)])):
        if r.random() < bad:
            out += r.choice(BAD)
        else:
            out += r.choice(ODD if r.random() < odd else LETTERS).encode()
    return out


def mutate(r, text, often=0.5):
    """A text (or bytes), and half the time something near it."""
    data = list(text.encode("utf-8", "surrogatepass").decode("latin-1"))
    while r.random() < often:
        at = r.randint(0, len(data))
        what = r.randrange(5)
        if what == 0 and data:
            del data[min(at, len(data) - 1)]
        elif what == 1:
            data.insert(at, r.choice(LETTERS + [" ", "0", "-", "+", "%", "(", "[", "]", ")", "{", "}", "\\", "\""]))
        elif what == 2 and data:
            data[min(at, len(data) - 1)] = r.choice(LETTERS)
        elif what == 3 and data:
            data[at:at] = data[max(0, at - 2):at]
        elif what == 4 and r.random() < 0.2:
            data[at:at] = list(r.choice(ODD).encode().decode("latin-1"))
        often *= 0.7
    return "".join(data).encode("latin-1")


def near(r, text, often=0.5):
    """A mutated text as Rego text."""
    return raw(mutate(r, text, often))


def integer(r):
    kind = r.randrange(6)
    if kind < 3:
        return str(r.randint(-12, 20))
    if kind == 3:
        return str(r.choice([1, -1]) * (2 ** r.choice([7, 8, 15, 16, 31, 32, 52, 53, 62, 63, 64, 65, 127, 128]) + r.randint(-2, 2)))
    if kind == 4:
        return str(r.choice([1, -1]) * 10 ** r.randint(0, 40) + r.randint(-1, 1))
    return str(r.randint(-10**6, 10**12))


def number(r):
    kind = r.randrange(8)
    if kind < 3:
        return integer(r)
    if kind == 3:
        return f"{r.choice(['', '-'])}{r.randint(0, 30)}.{r.randint(0, 999):0{r.randint(1, 5)}d}"
    if kind == 4:
        return f"{r.choice(['', '-'])}{r.randint(0, 9)}{r.choice(['', '.5', '.0', '.25', '.999999999999999999', '.10'])}{r.choice('eE')}{r.choice(['', '+', '-'])}{r.choice([0, 1, 2, 5, 6, 7, 15, 16, 17, 18, 19, 20, 21, 22, 30, 100, 308, 309, 324, 400])}"
    if kind == 5:
        return f"{r.randint(0, 10**20)}.{r.randint(0, 10**20)}"
    if kind == 6:
        return f"{r.choice(['', '-'])}{r.randint(0, 99)}.{r.choice(['5', '50', '0', '00', '49999999999999999999', '50000000000000000001', '9999999999999999999999'])}"
    return r.choice(v.NUMBERS)


def scalar(r):
    kind = r.randrange(8)
    if kind == 0:
        return r.choice(["null", "true", "false"])
    if kind < 4:
        return number(r)
    return raw(string(r))


def value(r, depth=3, kinds="aosx"):
    """Any value."""
    kind = r.choice(kinds) if depth else "x"
    count = r.choice([0, 1, 2, 2, 3, 5])
    if kind == "a":
        return "[" + ", ".join(value(r, depth - 1) for _ in range(count)) + "]"
    if kind == "s":
        return "{" + ", ".join(value(r, depth - 1) for _ in range(count)) + "}" if count else "set()"
    if kind == "o":
        pairs = {(value(r, depth - 2) if depth > 1 and r.random() < 0.2 else raw(string(r, 3))): value(r, depth - 1) for _ in range(count)}
        return "{" + ", ".join(f"{k}: {x}" for k, x in pairs.items()) + "}"
    return scalar(r)


def array(r, element=None, most=5):
    element = element or value
    return "[" + ", ".join(element(r) for _ in range(r.randint(0, most))) + "]"


def collection(r, element=None, most=5):
    items = [(element or value)(r) for _ in range(r.randint(0, most))]
    if r.random() < 0.5:
        return "[" + ", ".join(items) + "]"
    return "{" + ", ".join(items) + "}" if items else "set()"


def few(r):
    """A value of few, so that equal ones meet."""
    return r.choice(['"a"', '"b"', '"c"', "1", "2", "1.0", "null", "true", '["a"]', "{1}", '{"a": 1}', "[]", '"é"', "-1", "0"])


def few_object(r, depth=3):
    keys = r.sample(['"a"', '"b"', '"c"', "1", "null", '["a"]', '"0"', '"a/b"', '""', "2.5"], r.randint(0, 4))
    return "{" + ", ".join(f"{k}: {few_object(r, depth - 1) if depth and r.random() < 0.5 else few_array(r, depth - 1) if depth and r.random() < 0.3 else few(r)}" for k in keys) + "}"


def few_array(r, depth=2):
    return "[" + ", ".join(few_object(r, depth - 1) if depth > 0 and r.random() < 0.4 else few(r) for _ in range(r.randint(0, 4))) + "]"


def few_set(r):
    return "{" + ", ".join(few(r) for _ in range(r.randint(1, 4))) + "}"


def any_value(r):
    return r.choice([value, few, few_object, few_array, lambda r: r.choice(v.ANY)])(r)
