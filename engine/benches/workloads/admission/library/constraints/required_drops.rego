package constraints.required_drops

import data.lib.containers
import data.lib.workload

parameters := data.parameters.required_drops

violation contains {"msg": msg, "details": {}} if {
	some container in workload.all_containers
	not containers.is_exempt(container, parameters)
	some capability in parameters.required
	not containers.drops(container, capability)
	msg := sprintf("container <%v> is not dropping <%v>", [container.name, capability])
}
