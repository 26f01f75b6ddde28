# Who may do what: sets of thousands of names.
package algebra

staff := {name | some name in data.staff}

contractors := {name | some name in data.contractors}

trained := {name | some name in data.trained}

answer := {
	"both": count(staff & contractors),
	"all": count(staff | contractors),
	"trained": count((staff | contractors) & trained),
	"untrained": count((staff | contractors) - trained),
	"ready": trained - contractors == trained - (contractors & trained),
}

# what lists of granted rights come to
granted := union({{right | some right in role.rights} | some role in data.roles})

missing := count({right | some right in data.needed} - granted)

common := count(intersection({{right | some right in role.rights} | some role in data.roles}))
