# without: FuseSets
package t

allow if {
	some grant in granted
	input.action == grant.action
	input.type == grant.type
}

granted contains grant if {
	some role in data.user_roles[input.user]
	some grant in data.role_grants[role]
}

granted contains input.grant

# asked for twice: it is made
first if {
	some x in shared
	x == 1
}

second if {
	some x in shared
	x == 2
}

shared contains x if some x in input.items

# what follows prints, and sees each member once
prints if {
	some x in printed
	print(x)
}

printed contains x if some x in input.items
