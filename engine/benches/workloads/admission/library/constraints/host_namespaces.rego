package constraints.host_namespaces

import data.lib.core
import data.lib.workload

violation contains {"msg": msg, "details": {}} if {
	some field in ["hostPID", "hostIPC"]
	workload.pod_spec[field]
	msg := sprintf("Sharing the host namespace is not allowed: %v", [core.resource.metadata.name])
}
