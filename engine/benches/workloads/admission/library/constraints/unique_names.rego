package constraints.unique_names

import data.lib.core
import data.lib.workload

violation contains {"msg": msg, "details": {}} if {
	some container in workload.all_containers
	others := [other.name | some other in workload.all_containers; other.image == container.image; other != container]
	count(others) > 0
	msg := sprintf("containers <%v> and %v share the image <%v>", [container.name, sort(others), container.image])
}
