package constraints.resource_ratio

import data.lib.containers
import data.lib.quantities
import data.lib.workload

parameters := data.parameters.resource_ratio

violation contains {"msg": msg, "details": {}} if {
	some container in workload.all_containers
	not containers.is_exempt(container, parameters)
	limit := quantities.cpu(containers.limits(container).cpu)
	request := quantities.cpu(containers.requests(container).cpu)
	limit > request * parameters.ratio
	msg := sprintf("container <%v> cpu limit <%v> is higher than the maximum allowed ratio of <%v>", [container.name, containers.limits(container).cpu, parameters.ratio])
}
