# Small decisions through several helper rules and functions.
package helpers

default allow := false

allow if {
	is_admin
	not is_locked(subject)
}

allow if {
	permitted(input.action, input.resource.kind)
	same_tenant(subject, input.resource)
	not is_locked(subject)
	not too_large
}

subject := data.users[input.user]

is_admin if has_role(subject, "admin")

has_role(user, role) if role in user.roles

permitted(action, kind) if {
	some role in subject.roles
	some grant in data.roles[role].grants
	grant.kind == kind
	action in grant.actions
}

same_tenant(user, resource) if user.tenant == resource.tenant

same_tenant(user, resource) if resource.tenant in object.get(user, "guest_of", [])

is_locked(user) if user.locked

is_locked(user) if user.failures > 5

too_large if {
	input.action == "write"
	input.size > limit(subject)
}

limit(user) := data.limits[user.plan]

reason := "granted" if allow

reason := message if {
	not allow
	message := sprintf("%s may not %s %s", [input.user, input.action, label(input.resource)])
}

label(resource) := concat("/", [resource.tenant, resource.kind, resource.id])

# normalised first, then compared
default route := "none"

route := name if {
	path := clean(input.path)
	method := lower(input.method)
	some name, rule in data.routes
	rule.method == method
	starts(path, rule.prefix)
}

clean(path) := trim_suffix(lower(path), "/")

starts(path, prefix) if startswith(path, clean(prefix))
