# METADATA
# title: Role-based access control
# description: >-
#   Decides by roles. `roles` maps each role to its permissions, an array of objects with `action` and `resource`, where `*`
#   means any. `inherits` maps a role to the roles that it includes. `bindings` maps a user to an array of roles.
package solon.rbac

# Returns the roles of a user, with the roles that they include.
roles_of(user, config) := graph.reachable(_inheritance(config), bound) if {
	bound := {role | some role in object.get(config.bindings, user, [])}
}

# Returns the included roles of each role. Roles that include none have no entry in `inherits`.
_inheritance(config) := {role: object.get(inherits, role, []) | some role in roles} if {
	inherits := object.get(config, "inherits", {})
	included := {role | some role in inherits[_]}
	bound := {role | some role in config.bindings[_]}
	roles := ((object.keys(config.roles) | object.keys(inherits)) | included) | bound
}

# Returns the permissions of a user.
permissions_of(user, config) := {permission |
	some role in roles_of(user, config)
	some permission in object.get(config.roles, role, [])
}

# Is true if a role of the user permits the action on the resource.
allow(user, action, resource, config) if {
	some permission in permissions_of(user, config)
	_covers(permission.action, action)
	_covers(permission.resource, resource)
}

_covers("*", _) := true

_covers(granted, wanted) if granted == wanted
