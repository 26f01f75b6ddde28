package constraints.run_as_non_root

import data.lib.containers
import data.lib.core
import data.lib.workload

parameters := data.parameters.run_as_non_root

violation contains {"msg": msg, "details": {}} if {
	some container in workload.all_containers
	not containers.is_exempt(container, parameters)
	not is_non_root(container)
	msg := sprintf("Container %v is attempting to run as root, user %v", [container.name, containers.run_as_user(container)])
}

is_non_root(container) if containers.security(container).runAsNonRoot

is_non_root(container) if containers.run_as_user(container) > 0

is_non_root(container) if {
	not core.has_field(containers.security(container), "runAsNonRoot")
	workload.pod_spec.securityContext.runAsNonRoot
}
