"""Patterns, layouts, formats and numbers as texts, made by chance."""

import vocabulary as v
from gen_values import *  # noqa: F403


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
ZONES = ["UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe", "Nope/Zone", "EST5EDT", "utc", "", "America/St_Johns", "Pacific/Apia", "Pacific/Kiritimati", "Africa/Monrovia", "Europe/Dublin", "Asia/Kathmandu", "Antarctica/Troll", "Africa/Casablanca", "America/Sao_Paulo", "GMT0", "Etc/GMT-14", "US/Pacific", "europe/berlin", "Asia/Gaza", "Zulu", "PST8PDT", "America/Argentina/Buenos_Aires", "Europe/Kyiv", "Asia/Tehran", "Pacific/Chatham"]


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
