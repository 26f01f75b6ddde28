package constraints.host_network

import data.lib.core
import data.lib.workload

violation contains {"msg": msg, "details": {}} if {
	workload.pod_spec.hostNetwork
	not data.parameters.host_network.allowed
	msg := sprintf("The specified hostNetwork is not allowed, pod: %v", [core.resource.metadata.name])
}
