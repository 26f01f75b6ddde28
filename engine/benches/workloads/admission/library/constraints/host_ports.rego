package constraints.host_ports

import data.lib.containers
import data.lib.core
import data.lib.workload

parameters := data.parameters.host_ports

violation contains {"msg": msg, "details": {}} if {
	some container in workload.all_containers
	not containers.is_exempt(container, parameters)
	some port in container.ports
	outside(port.hostPort)
	msg := sprintf("The specified hostNetwork and hostPort are not allowed, pod: %v. Allowed values: %v", [core.resource.metadata.name, parameters])
}

outside(port) if port < parameters.min

outside(port) if port > parameters.max
