package constraints.container_limits

import data.lib.containers
import data.lib.core
import data.lib.quantities
import data.lib.workload

parameters := data.parameters.container_limits

violation contains {"msg": msg, "details": {}} if {
	some container in workload.all_containers
	not containers.is_exempt(container, parameters)
	some resource in parameters.required
	core.missing(containers.limits(container), resource)
	msg := sprintf("container <%v> has no %v limit", [container.name, resource])
}

violation contains {"msg": msg, "details": {}} if {
	some container in workload.all_containers
	not containers.is_exempt(container, parameters)
	amount := quantities.cpu(containers.limits(container).cpu)
	most := quantities.cpu(parameters.cpu)
	amount > most
	msg := sprintf("container <%v> cpu limit <%v> is higher than the maximum allowed of <%v>", [container.name, containers.limits(container).cpu, parameters.cpu])
}

violation contains {"msg": msg, "details": {}} if {
	some container in workload.all_containers
	not containers.is_exempt(container, parameters)
	amount := quantities.memory(containers.limits(container).memory)
	most := quantities.memory(parameters.memory)
	amount > most
	msg := sprintf("container <%v> memory limit <%v> is higher than the maximum allowed of <%v>", [container.name, containers.limits(container).memory, parameters.memory])
}
