package constraints.volume_types

import data.lib.core
import data.lib.workload

violation contains {"msg": msg, "details": {}} if {
	fields := {field | some volume in workload.volumes; some field, _ in volume; field != "name"}
	allowed := {kind | some kind in data.parameters.volume_types.allowed}
	bad := fields - allowed
	count(bad) > 0
	msg := sprintf("One of the volume types %v is not allowed, pod: %v. Allowed volume types: %v", [bad, core.resource.metadata.name, data.parameters.volume_types.allowed])
}
