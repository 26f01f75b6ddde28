# Checks of a plan of changes to an infrastructure.
package terraform.plan

weights := {
	"aws_autoscaling_group": {"delete": 100, "create": 10, "update": 1},
	"aws_instance": {"delete": 10, "create": 1, "update": 1},
	"aws_s3_bucket": {"delete": 50, "create": 5, "update": 2},
	"aws_security_group": {"delete": 5, "create": 5, "update": 5},
}

report := {
	"authorised": authorised,
	"score": score,
	"violations": count(violations),
	"changes": {type: counts | some type, counts in changes},
}

default authorised := false

authorised if {
	score < 30
	count(violations) == 0
}

score := sum([points |
	some type, counts in changes
	some action, number in counts
	points := weights[type][action] * number
])

changes[type] := counts if {
	some type in object.keys(weights)
	counts := {action: number |
		some action in ["create", "update", "delete"]
		number := count([resource |
			some resource in input.resource_changes
			resource.type == type
			action in resource.change.actions
		])
	}
}

violations contains msg if {
	some resource in input.resource_changes
	some tag in ["owner", "cost_center", "stage"]
	not resource.change.after.tags[tag]
	not "delete" in resource.change.actions
	msg := sprintf("%s: tag %s is missing", [resource.address, tag])
}

violations contains msg if {
	some resource in input.resource_changes
	resource.type == "aws_s3_bucket"
	not resource.change.after.server_side_encryption_configuration
	msg := sprintf("%s: is not encrypted", [resource.address])
}

violations contains msg if {
	some resource in input.resource_changes
	resource.type == "aws_security_group"
	some rule in resource.change.after.ingress
	"0.0.0.0/0" in rule.cidr_blocks
	not rule.from_port in {80, 443}
	msg := sprintf("%s: port %d is open to the world", [resource.address, rule.from_port])
}

violations contains msg if {
	some resource in input.resource_changes
	resource.type == "aws_instance"
	not startswith(resource.change.after.instance_type, "t3.")
	msg := sprintf("%s: instances of type %s need a review", [resource.address, resource.change.after.instance_type])
}
