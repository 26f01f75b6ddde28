package constraints.disallowed_tags

import data.lib.containers
import data.lib.workload

parameters := data.parameters.disallowed_tags

violation contains {"msg": msg, "details": {}} if {
	some container in workload.all_containers
	not containers.is_exempt(container, parameters)
	some tag in parameters.tags
	containers.tag(container.image) == tag
	msg := sprintf("container <%v> uses a disallowed tag <%v>; disallowed tags are %v", [container.name, container.image, parameters.tags])
}

violation contains {"msg": msg, "details": {}} if {
	some container in workload.all_containers
	not containers.is_exempt(container, parameters)
	not contains(container.image, ":")
	not contains(container.image, "@")
	msg := sprintf("container <%v> didn't specify an image tag <%v>", [container.name, container.image])
}
