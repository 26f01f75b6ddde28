package constraints.container_requests

import data.lib.containers
import data.lib.core
import data.lib.workload

parameters := data.parameters.container_requests

violation contains {"msg": msg, "details": {}} if {
	some container in workload.all_containers
	not containers.is_exempt(container, parameters)
	some resource in parameters.required
	core.missing(containers.requests(container), resource)
	msg := sprintf("container <%v> has no %v request", [container.name, resource])
}
