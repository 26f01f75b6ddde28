package constraints.required_probes

import data.lib.containers
import data.lib.core
import data.lib.workload

parameters := data.parameters.required_probes

violation contains {"msg": msg, "details": {}} if {
	some container in workload.all_containers
	not containers.is_exempt(container, parameters)
	some probe in parameters.probes
	core.missing(container, probe)
	msg := sprintf("Container <%v> in your <%v> <%v> has no <%v>", [container.name, core.kind, core.resource.metadata.name, probe])
}
