package constraints.image_digests

import data.lib.containers
import data.lib.workload

parameters := data.parameters.image_digests

violation contains {"msg": msg, "details": {}} if {
	some container in workload.all_containers
	not containers.is_exempt(container, parameters)
	not regex.match(`@[a-z0-9]+([+._-][a-z0-9]+)*:[a-zA-Z0-9=_-]+`, container.image)
	parameters.enforced
	msg := sprintf("container <%v> uses an image without a digest <%v>", [container.name, container.image])
}
