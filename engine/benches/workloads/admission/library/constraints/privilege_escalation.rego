package constraints.privilege_escalation

import data.lib.containers
import data.lib.core
import data.lib.workload

parameters := data.parameters.privilege_escalation

violation contains {"msg": msg, "details": {}} if {
	some container in workload.all_containers
	not containers.is_exempt(container, parameters)
	allows_escalation(container)
	msg := sprintf("Privilege escalation container is not allowed: %v", [container.name])
}

allows_escalation(container) if not core.has_field(container, "securityContext")

allows_escalation(container) if containers.security(container).allowPrivilegeEscalation == true

allows_escalation(container) if {
	core.has_field(container, "securityContext")
	not core.has_field(container.securityContext, "allowPrivilegeEscalation")
}
