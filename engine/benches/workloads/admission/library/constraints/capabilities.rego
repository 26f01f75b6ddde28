package constraints.capabilities

import data.lib.containers
import data.lib.workload

parameters := data.parameters.capabilities

violation contains {"msg": msg, "details": {}} if {
	some container in workload.all_containers
	not containers.is_exempt(container, parameters)
	some capability in containers.security(container).capabilities.add
	not allowed(capability)
	msg := sprintf("container <%v> has a disallowed capability <%v>. Allowed capabilities are %v", [container.name, capability, parameters.allowed])
}

allowed(capability) if lower(capability) in {lower(name) | some name in parameters.allowed}

allowed(_) if "*" in parameters.allowed
