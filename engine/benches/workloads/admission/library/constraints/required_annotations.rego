package constraints.required_annotations

import data.lib.core

violation contains {"msg": msg, "details": {"missing_annotations": missing}} if {
	provided := {annotation | some annotation, _ in core.annotations}
	required := {annotation | annotation := data.parameters.required_annotations.annotations[_].key}
	missing := required - provided
	count(missing) > 0
	msg := sprintf("you must provide annotation(s): %v", [missing])
}
