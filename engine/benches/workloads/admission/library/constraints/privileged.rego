package constraints.privileged

import data.lib.containers
import data.lib.workload

parameters := data.parameters.privileged

violation contains {"msg": msg, "details": {}} if {
	some container in workload.all_containers
	not containers.is_exempt(container, parameters)
	containers.security(container).privileged
	msg := sprintf("Privileged container is not allowed: %v, securityContext: %v", [container.name, containers.security(container)])
}
