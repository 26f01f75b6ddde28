package constraints.required_labels

import data.lib.core

violation contains {"msg": msg, "details": {"missing_labels": missing}} if {
	provided := {label | some label, _ in core.labels}
	required := {label | label := data.parameters.required_labels.labels[_].key}
	missing := required - provided
	count(missing) > 0
	msg := sprintf("you must provide labels: %v", [missing])
}

violation contains {"msg": msg, "details": {}} if {
	some label, value in core.labels
	expected := data.parameters.required_labels.labels[_]
	expected.key == label
	expected.allowedRegex != ""
	not regex.match(expected.allowedRegex, value)
	msg := sprintf("Label <%v: %v> does not satisfy allowed regex: %v", [label, value, expected.allowedRegex])
}
