# Who may do what with the items of the control plane.
#
# input.principal   the number of whoever asks
# input.role        their role
# input.permission  what they ask for: `bundles.view`, `sources.data.write`, `secrets.use`, …
# input.items       the row of the item: `owner_id` is the number of its owner, null where nobody owns it or it is not there
# input.grants      the row of what they were granted on it: `permission` is what they ask for, null where it was not granted
#
# Lists ask with both rows unknown, and what is left of the policy becomes a condition of the database.
package control.access

default allow := false

# administrators may do everything
allow if input.role == "administrator"

# viewers see everything
allow if {
	input.role == "viewer"
	input.permission in seen
}

# whoever owns an item may do everything with it
allow if {
	input.items.owner_id == input.principal
	not input.permission in administration
}

# others may do with it what they were granted
allow if {
	input.grants.permission == input.permission
	not input.permission in administration
}

# what is new belongs to whoever makes it
allow if input.permission in made[input.role]

seen := {
	"bundles.view",
	"bundles.statuses.view",
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
