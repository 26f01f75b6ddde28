package functions.lines

found := sum([n | some line in data.lines; n := count(regex.find_n(`[0-9a-f]{8}|[0-9]+ms`, line, -1))])

groups := sum([n |
	some line in data.lines
	n := count(regex.find_all_string_submatch_n(`(\w+)@(\w+)\.com`, line, 1))
])

replaced := sum([n | some line in data.lines; n := count(regex.replace(line, `(\w+)@(\w+)\.com`, "$2: $1"))])

parts := sum([n | some line in data.lines; n := count(regex.split(`\s+`, line))])

words := sum([n | some line in data.lines; n := count(split(line, " "))])

strings := count([line |
	some line in data.lines
	startswith(line, "GET /")
	not endswith(line, "7ms")
	contains(lower(line), "by ada@")
	indexof(replace(line, "example", "internal"), "internal") > 10
	count(trim_suffix(upper(substring(line, 0, 12)), " ")) > 5
])
