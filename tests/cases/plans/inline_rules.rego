# without: InlineRules
package t

default allow := false

allow if is_admin

allow if {
	is_owner
	not is_blocked
}

is_admin if "admin" in data.roles[input.user]

default is_owner := false

is_owner if input.user == data.owner

is_owner if input.user == "root"

is_blocked if {
	some user in data.blocked
	user == input.user
}

# asked twice, and it loops: its result is kept
twice if is_large

again if is_large

is_large if {
	some item in input.items
	item.size > 10
}

# its value is asked for, not only whether it holds
value := is_owner
