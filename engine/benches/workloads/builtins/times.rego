package functions.times

parsed := max([t | some s in data.plain; t := time.parse_ns("2006-01-02 15:04:05 -0700", s)])

long := max([t | some s in data.long; t := time.parse_ns("02 Jan 2006 15:04:05 MST", s)])

rfc3339 := max([t | some s in data.rfc3339; t := time.parse_rfc3339_ns(s)])

durations := sum([t | some s in data.durations; t := time.parse_duration_ns(s)])

dates := sum([y | some s in data.rfc3339; [y, _, _] := time.date([time.parse_rfc3339_ns(s), "Europe/Berlin"])])

formatted := sum([n |
	some s in data.rfc3339
	n := count(time.format([time.parse_rfc3339_ns(s), "America/New_York", "Mon, 02 Jan 2006 15:04:05 -0700"]))
])
