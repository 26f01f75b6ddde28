# Authorization of actions on the items of the control plane.
#
# input.principal   the id of the caller's token
# input.role        the role of the caller
# input.permission  the requested permission: `bundles.view`, `sources.data.write`, `secrets.use`, …
# input.items       the row of the item: `owner_id` is the id of its owner, null if it has no owner or does not exist
# input.grants      the row of the grant on it: `permission` is the requested one, null if it was not granted
#
# Lists evaluate the policy partially with both rows unknown. The residual policy becomes an SQL condition.
package control.access

default allow := false

# administrators have all permissions
allow if input.role == "administrator"

# viewers can read everything
allow if {
	input.role == "viewer"
	input.permission in seen
}

# the owner of an item has all permissions on it
allow if {
	input.items.owner_id == input.principal
	not input.permission in administration
}

# other callers have the granted permissions
allow if {
	input.grants.permission == input.permission
	not input.permission in administration
}

# permissions to create items, by role
allow if input.permission in made[input.role]

seen := {
	"bundles.view",
	"bundles.statuses.view",
	"bundles.download",
	"sources.view",
	"sources.data.read",
	"stacks.view",
	"secrets.view",
	"tokens.view",
	"metrics.view",
}

administration := {
	"tokens.view",
	"tokens.manage",
	"grants.manage",
	"audit.view",
	"metrics.view",
}

made := {
	"owner": {"bundles.create", "sources.create", "secrets.create"},
	"stack_owner": {"stacks.create"},
}
