package constraints.read_only_root

import data.lib.containers
import data.lib.workload

parameters := data.parameters.read_only_root

violation contains {"msg": msg, "details": {}} if {
	some container in workload.all_containers
	not containers.is_exempt(container, parameters)
	not containers.security(container).readOnlyRootFilesystem == true
	msg := sprintf("only read-only root filesystem container is allowed: %v", [container.name])
}
