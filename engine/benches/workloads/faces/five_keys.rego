package authz

default allow := false

allow if input.role == "admin"

allow if {
	input.action == "read"
	input.resource == data.public[_]
}

allow if {
	input.user == input.owner
	input.action in {"read", "write"}
}
