package constraints.proc_mount

import data.lib.containers
import data.lib.workload

parameters := data.parameters.proc_mount

violation contains {"msg": msg, "details": {}} if {
	some container in workload.all_containers
	not containers.is_exempt(container, parameters)
	not allowed(object.get(containers.security(container), "procMount", "Default"))
	msg := sprintf("ProcMount type is not allowed, container: %v. Allowed procMount types: %v", [container.name, parameters.allowed])
}

allowed(kind) if lower(kind) == lower(parameters.allowed)

allowed(_) if lower(parameters.allowed) == "unmasked"
