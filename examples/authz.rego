package authz

# METADATA
# title: Who may do what
# description: Administrators may do everything, others what their roles grant.
default allow := false

allow if "admin" in roles

allow if {
	some grant in grants
	grant.action == input.action
	grant.resource == input.resource
}

roles contains role if some role in data.users[input.user].roles

grants contains grant if {
	some role in roles
	some grant in data.grants[role]
}

reasons contains sprintf("%s lacks %s on %s", [input.user, input.action, input.resource]) if not allow
