"""Arguments made by chance, near the edges of what each function takes. A generator gives Rego texts."""

import base64
import hashlib
import hmac
import json
import re
from pathlib import Path

import vocabulary as v

HERE = Path(__file__).parent
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
    was_text = isinstance(text, str)
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
    del was_text
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


# regular expressions

CLASS = ["a-z", "0-9", "a", "b", "\\d", "\\w", "\\s", "\\D", "\\S", "\\W", "[:alpha:]", "[:^digit:]", "[:word:]", "[:foo:]", "\\pL", "\\p{Lu}", "\\P{Greek}", "\\p{^Han}", "-", "^", "]", "\\]", "\\-", "\\x41-\\x43", "é-ü", "z-a", "\\b", "\\n", "&&", "[", "\\Q", "\\x{1F600}", "\\07", "a-\\d", ".", "$", "\\pN", "--", "\\E"]
ATOMS = ["a", "b", "c", "ab", ".", "é", "😀", " ", "\\d", "\\w", "\\s", "\\D", "\\W", "\\S", "\\pL", "\\p{Latin}", "\\PL", "\\p{^L}", "\\p{Nope}", "\\x41", "\\x{e9}", "\\x{110000}", "\\x4", "\\101", "\\0", "\\00", "\\012", "\\1", "\\8", "\\a", "\\f", "\\t", "\\n", "\\r", "\\v", "\\.", "\\*", "\\_", "\\é", "\\<", "\\Qa+b\\E", "\\Q*", "\\E", "\\C", "\\X", "\\K", "\\h", "\\R", "\\u0041", "\\G", "\\cA", "]", "}", "{", "{,2}", "{a}", "\\/", "-", "\\-", "\\p", "\\p{", "\\pé", "\\e", "\\o{101}", "\\N", "\\ ", "#", "\\y", "\\j"]
ANCHORS = ["^", "$", "\\A", "\\z", "\\Z", "\\b", "\\B", "\\b{start}", "\\<", "(?i)", "(?s)", "(?m)", "(?U)", "(?-i)", "(?im-s)", "(?x)", "(?i-)", "(?-)", "(?)", "(?ii)", "(?--i)", "(?R)"]
QUANTIFIERS = ["*", "+", "?", "*?", "+?", "??", "{2}", "{0}", "{1,}", "{1,2}", "{2,1}", "{,2}", "{1001}", "{1000}", "{2}?", "**", "++", "{1}{2}", "*+", "{01}", "{1,2", "{ 1}", "{-1}", "{999999999999}", "{0,0}", "{0,1}?"]


def regex(r, depth=2):
    out = ""
    for _ in range(r.choice([0, 1, 1, 2, 2, 3])):
        kind = r.randrange(12)
        if kind < 5:
            out += r.choice(ATOMS[:16]) if r.random() < 0.6 else r.choice(ATOMS)
        elif kind < 7:
            out += "[" + r.choice(["", "", "^"]) + "".join(r.choice(CLASS) for _ in range(r.randint(1, 3))) + "]"
        elif kind < 9 and depth:
            opening = r.choice(["(", "(", "(?:", "(?P<n>", "(?<m>", "(?i:", "(?s-i:", "(?m:", "(?U:", "(?P<>", "(?P<1a>", "(?P<é>", "(?P=n)", "(?=", "(?!", "(?<=", "(?>", "(?#", "(?'n'", "(?P<n", "(?i", "(*"])
            out += opening + regex(r, depth - 1) + ")"
        elif kind == 9:
            out += r.choice(ANCHORS)
        elif kind == 10:
            out += "|"
        else:
            out += r.choice(ATOMS)
        if r.random() < 0.35:
            out += r.choice(QUANTIFIERS[:8]) if r.random() < 0.7 else r.choice(QUANTIFIERS)
    return out


def pattern(r):
    return near(r, regex(r), 0.08)


def subject(r):
    return raw(b"".join(r.choice(["a", "b", "c", "ab", "A", "é", "É", "😀", "1", "0", " ", "\n", "\t", "-", "_", ".", "]", "k", "K", "s", "ſ", "+", "*"]).encode() if r.random() > 0.03 else r.choice(BAD) for _ in range(r.randint(0, 9))))


def replacement(r):
    return raw("".join(r.choice(["x", "$1", "$2", "$0", "${1}", "${n}", "$n", "$nx", "$$", "$", "${", "}", "$10", "${é}", "$é", "${1", "$-1", "\\1", "é", "${ n}", "$1x", "$_"]) for _ in range(r.randint(0, 4))).encode())


def small(r):
    return r.choice(["0", "1", "2", "3", "-1", "-2", "10", "1.0", "1.5", "1e0", "100", "9223372036854775808", "-0", "0.0", "2e1", "4294967296", "9223372036854775807", "-9223372036854775808"]) if r.random() < 0.4 else str(r.randint(-2, 5))


# globs

def glob(r, depth=2):
    out = ""
    for _ in range(r.randint(0, 4)):
        kind = r.randrange(11)
        if kind < 3:
            out += r.choice(["a", "b", "ab", ".", "/", ":", "é", "-", "c"])
        elif kind == 3:
            out += r.choice(["*", "**", "?", "***", "*?", "?*"])
        elif kind == 4:
            out += r.choice(["[ab]", "[!ab]", "[a-c]", "[!a-c]", "[^a]", "[]", "[!]", "[-]", "[a-]", "[-a]", "[a-b-c]", "[é-ü]", "[a\\]]", "[", "[!", "[a", "[a-", "[c-a]", "[ab-d]", "[a,b]", "[*]", "[{]", "[.]", "[a-a]", "[\\a]"])
        elif kind < 7 and depth:
            out += "{" + ",".join(glob(r, depth - 1) for _ in range(r.randint(0, 3))) + "}"
        elif kind == 7:
            out += r.choice(["\\*", "\\\\", "\\", "\\{", "\\a", "\\,", "\\é"])
        elif kind == 8:
            out += r.choice([",", "{", "}", "]", "!", "^"])
        else:
            out += r.choice(["*.com", "a*", "*b", "a.*.b", "a:**:b", "x", "aa"])
    return out


def glob_subject(r):
    return raw("".join(r.choice(["a", "b", "c", "ab", ".", "/", ":", "é", "-", "x", ".com", "", "*", "aa", "\\", "{", "]", ","]) for _ in range(r.randint(0, 5))).encode())


def delimiters(r):
    return r.choice(["[]", "null", '["."]', '[":"]', '["/"]', '[".", ":"]', '["é"]', '[""]', '["ab"]', "[1]", '["a"]', '["*"]', '["."  , ""]', '[","]', "[null]", '["\\u0000"]', '["😀"]'])


# time

LAYOUT_PARTS = [("2006", ["2023", "0001", "9999", "0", "20233", "-001", "2262", "1677"]), ("06", ["23", "69", "68", "7", "00"]), ("01", ["11", "1", "13", "00", "02"]), ("1", ["11", "1", "13", "0", "2"]), ("Jan", ["Nov", "nov", "NOV", "Xxx", "May", "Feb"]), ("January", ["November", "november", "May", "Nov", "February"]), ("02", ["14", "29", "31", "32", "4", "00", " 4"]), ("2", ["14", "4", "31", "0", " 4"]), ("_2", [" 4", "14", "4", "  4"]), ("002", ["318", "366", "000", "060", "18"]), ("__2", ["318", " 60", "  1", "366"]), ("15", ["22", "24", "0", "05", "5"]), ("03", ["10", "12", "13", "00", "1"]), ("3", ["10", "12", "13", "0", "1"]), ("04", ["13", "60", "5"]), ("4", ["13", "60", "5"]), ("05", ["20", "59", "60", "5", "20.5", "20,25"]), ("5", ["20", "60", "7"]), ("PM", ["PM", "AM", "pm", "XM", "P"]), ("pm", ["pm", "am", "PM", "x"]), ("MST", ["UTC", "EST", "CEST", "GMT+5", "GMT", "+03", "ABCDE", "utc", "WITA", "GMT-24", "ChST", "AB", "-0330"]), ("Z0700", ["Z", "+0100", "-0930", "+01:00", "+2500", "0100"]), ("Z07:00", ["Z", "+01:00", "-09:30", "+24:00", "+23:60", "z"]), ("Z07", ["Z", "+01", "-9"]), ("-0700", ["+0100", "Z", "-0000", "+0160"]), ("-07:00", ["+01:00", "-14:00", "+1:00"]), ("-07", ["+01", "-12", "+25"]), ("Z070000", ["Z", "+010203"]), ("Z07:00:00", ["Z", "+01:02:03"]), ("-07:00:00", ["+01:02:03"]), ("-070000", ["+010203"]), (".000", [".123", ".12", ",123", ".1234"]), (".999", [".123", "", ".12", ".1234567890"]), (",000", [",123", ".123"]), (".000000000", [".123456789"]), (".0", [".1", ".12"]), (".9", [".1", ""]), ("Mon", ["Tue", "tue", "Xxx", "Sunday"]), ("Monday", ["Tuesday", "Tue", "sunday"])]
SEPARATORS = ["-", " ", ":", "T", "/", "", "", ", ", ".", "é", "x", "Z", "_", "0", "  "]
NAMED_LAYOUTS = ["RFC3339", "RFC3339Nano", "RFC822", "RFC822Z", "RFC850", "RFC1123", "RFC1123Z", "ANSIC", "UnixDate", "RubyDate", "Kitchen", "Stamp", "DateTime", "DateOnly", "TimeOnly"]
ZONES = ["UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe", "Nope/Zone", "EST", "EST5EDT", "utc", "", "America/St_Johns", "Pacific/Apia", "Pacific/Kiritimati", "Africa/Monrovia", "Europe/Dublin", "Asia/Kathmandu", "Antarctica/Troll", "Africa/Casablanca", "America/Sao_Paulo", "GMT0", "Etc/GMT-14", "US/Pacific", "Europe/Amsterdam", "europe/berlin", "Asia/Gaza", "Zulu", "PST8PDT", "CET", "America/Argentina/Buenos_Aires", "Europe/Kyiv", "Asia/Tehran", "Pacific/Chatham"]


def layout(r):
    parts = [r.choice(LAYOUT_PARTS) for _ in range(r.randint(1, 4))]
    shape = texted = ""
    for at, (what, samples) in enumerate(parts):
        between = r.choice(SEPARATORS) if at else ""
        shape += between + what
        texted += between + (samples[0] if r.random() < 0.75 else r.choice(samples))
    return shape, texted


def instant(r):
    kind = r.randrange(7)
    if kind == 0:
        return r.choice(v.NS)
    if kind < 4:
        return str(r.randint(-2**63, 2**63 - 1))
    if kind == 4:
        return str(r.randint(0, 2 * 10**18) // 10**9 * 10**9)
    if kind == 5:
        return str(r.choice([2**63 - 1, -(2**63)]) + r.randint(-3, 3))
    return number(r)


def zone(r):
    return v.text(r.choice(ZONES))


def moment(r):
    kind = r.randrange(6)
    if kind < 2:
        return instant(r)
    if kind < 5:
        return f"[{instant(r)}, {zone(r)}]"
    return r.choice(["[]", f"[{instant(r)}]", f"[{instant(r)}, 1]", f"[{instant(r)}, {zone(r)}, 1]", '"x"', "null", "{1}", f"[{zone(r)}, 1]", f"[{instant(r)}, {zone(r)}, \"x\", 1]"])


def formatted(r):
    if r.random() < 0.7:
        shape = layout(r)[0] if r.random() < 0.7 else r.choice(NAMED_LAYOUTS + ["", "20060102", "2006-002", "Jan _2 06", "x"])
        return f"[{instant(r)}, {zone(r)}, {v.text(shape)}]"
    return moment(r)


def parse_ns(r):
    if r.random() < 0.8:
        shape, texted = layout(r)
        return [v.text(shape), near(r, texted, 0.12)]
    samples = {"RFC3339": "2023-11-14T22:13:20+01:00", "RFC3339Nano": "2023-11-14T22:13:20.5Z", "RFC822": "14 Nov 23 22:13 UTC", "RFC822Z": "14 Nov 23 22:13 +0100", "RFC850": "Tuesday, 14-Nov-23 22:13:20 UTC", "RFC1123": "Tue, 14 Nov 2023 22:13:20 GMT", "RFC1123Z": "Tue, 14 Nov 2023 22:13:20 -0700", "ANSIC": "Tue Nov 14 22:13:20 2023", "UnixDate": "Tue Nov 14 22:13:20 EST 2023", "RubyDate": "Tue Nov 14 22:13:20 -0700 2023", "Kitchen": "3:04PM"}
    name = r.choice(list(samples))
    return [v.text(name), near(r, samples[name], 0.5)]


def rfc3339(r):
    text = f"{r.choice(['2023', '1970', '0000', '9999', '2262', '1677', '2024'])}-{r.randint(0, 13):02d}-{r.randint(0, 32):02d}{r.choice('TTTt ')}{r.randint(0, 24):02d}:{r.randint(0, 60):02d}:{r.randint(0, 60):02d}{r.choice(['', '', '.5', '.123456789', '.1234567891', ',5', '.', '.999999999999'])}{r.choice(['Z', 'Z', 'z', '+01:00', '-23:59', '+24:00', '+0100', '', '-00:00', '+1:00'])}"
    return [near(r, text, 0.1)]


def duration(r):
    text = r.choice(["", "", "", "-", "+", " ", "--"])
    for _ in range(r.randint(0, 4)):
        text += r.choice(["1", "0", "2.5", ".5", "5.", "10", "0.000000001", "9223372036854775807", "9223372036854775808", "106751", "292", "1e3", "", "00012", "0.99999999999999999999", "1.1.1"]) + r.choice(["h", "m", "s", "ms", "us", "µs", "μs", "ns", "d", "w", "y", "", "H", "x", "mo", "hm", " h"])
    return [near(r, text, 0.05)]


# numbers and units

def amount(r):
    return near(r, r.choice(["", "-", "+", "\"", " "]) * (r.random() < 0.3) + r.choice(["1", "0", "10", "1.5", ".5", "5.", "1e3", "1E-3", "1e+2", "0.0001", "100000000000000000000", "1e100", "1e5", "1e-20", "3.33333333333", "0x1", "1_0", "007", "1e1e1", "--1", "1.2.3", "1e999999", "1e99999", "1e-999999"]) + r.choice(["", "", "k", "K", "Ki", "ki", "KI", "kI", "m", "M", "Mi", "mi", "G", "g", "gI", "T", "P", "E", "e", "Ei", "ei", "kb", "KiB", "kib", "MB", "b", "B", "x", "Kx", "mb", "İ", "K", "ſ", "mib", "eb", "EB", "kk", " k"]), 0.1)


def number_text(r):
    return r.choice([lambda r: v.text(number(r)), lambda r: near(r, number(r), 0.6), scalar, lambda r: v.text(r.choice(["+", "-", " ", "", "0", "."]) + number(r) + r.choice(["", " ", "e", "e1", ".", "0", "_1", "f", "i"])), lambda r: v.text(r.choice(["inf", "Inf", "+Inf", "-inf", "INFINITY", "nan", "NaN", "0x1p4", "0X.8p1", "0b1", "0o7", "1__0", "_1", "1_", "1e1_0", "0x_1p0", "1e+", "1e-400", "1e309"]))])(r)


def range_end(r):
    return r.choice(["0", "1", "-1", "5", "10", "1.0", "1.5", "1e1", "-0", "20", "100", "9007199254740993"]) if r.random() < 0.6 else str(r.randint(-15, 15))


def range_pair(r):
    base = r.choice([0, 0, 0, 2**63 - 3, -(2**63), 10**30, 2**53])
    return [range_end(r) if base == 0 else str(base + r.randint(-3, 3)), range_end(r) if base == 0 else str(base + r.randint(-3, 3))]


# sprintf

def directive(r):
    out = "%"
    for _ in range(r.choice([0, 0, 1, 2])):
        out += r.choice("+-# 0")
    out += r.choice(["", "", "", "[1]", "[2]", "[0]", "[3]", "[-1]", "[x]", "[", "[1", "[]", "[99999999999]"])
    out += r.choice(["", "", "", "1", "5", "10", "*", "010", "1000001", "-5"])
    out += r.choice(["", "", "", ".", ".0", ".1", ".3", ".10", ".*", ".-1", ".[1]*", ".20"])
    out += r.choice(["", "", "", "", "[1]", "[2]"])
    return out + r.choice(list("vvdsqxXobBOcUeEfFgGtTpw%z!é") + [""])


def format_text(r):
    out = b""
    for _ in range(r.randint(0, 3)):
        out += r.choice([b"", b"", b"a", "é".encode(), b" ", b"%%", b"\xff" if r.random() < 0.1 else b"|"]) + directive(r).encode()
    return raw(out)


def format_args(r):
    element = lambda r: r.choice([number, number, integer, lambda r: raw(string(r)), few, value, small])(r)
    return "[" + ", ".join(element(r) for _ in range(r.choice([0, 1, 1, 1, 2, 2, 3]))) + "]"


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
    "crypto.parse_private_keys": lambda r: [pem(r, "PRIVATE")], "crypto.x509.parse_certificates": lambda r: [pem(r, "CERTIFICATE")], "crypto.x509.parse_and_verify_certificates": lambda r: [pem(r, "CERTIFICATE")], "crypto.x509.parse_and_verify_certificates_with_options": lambda r: [pem(r, "CERTIFICATE"), r.choice(["{}", '{"DNSName": "a"}', '{"CurrentTime": 1700000000000000000}', '{"MaxConstraintComparisons": 1}', '{"KeyUsages": ["KeyUsageAny"]}', '{"KeyUsages": ["x"]}', '{"KeyUsages": 5}', '{"nope": 1}', '{"DNSName": 5}', '{"CurrentTime": "x"}'])],
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
