# Time windows: when something is open, valid or due.
package windows

now := time.parse_rfc3339_ns(input.time)

# one decision: office hours, a certificate, a freeze
default allow := false

allow if {
	office_hours
	valid(input.certificate)
	not frozen
}

office_hours if {
	[hour, _, _] := time.clock([now, "Europe/Berlin"])
	hour >= 8
	hour < 18
	not time.weekday([now, "Europe/Berlin"]) in {"Saturday", "Sunday"}
}

valid(certificate) if {
	time.parse_rfc3339_ns(certificate.not_before) <= now
	now < time.parse_rfc3339_ns(certificate.not_after)
}

frozen if {
	some freeze in data.freezes
	time.parse_rfc3339_ns(freeze.from) <= now
	now < time.add_date(time.parse_rfc3339_ns(freeze.from), 0, 0, freeze.days)
}

# many grants, each with its window
active := count([grant.id |
	some grant in data.grants
	time.parse_rfc3339_ns(grant.from) <= now
	now < time.parse_rfc3339_ns(grant.from) + time.parse_duration_ns(grant.length)
])

# ages of keys
old_keys := count([key.id |
	some key in data.keys
	now - time.parse_ns("2006-01-02 15:04:05", key.created) > time.parse_duration_ns("2160h")
])
