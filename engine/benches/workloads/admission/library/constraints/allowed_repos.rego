package constraints.allowed_repos

import data.lib.containers
import data.lib.workload

parameters := data.parameters.allowed_repos

violation contains {"msg": msg, "details": {}} if {
	some container in workload.all_containers
	not containers.is_exempt(container, parameters)
	satisfied := [good | some repo in parameters.repos; good := startswith(container.image, repo)]
	not any_true(satisfied)
	msg := sprintf("container <%v> has an invalid image repo <%v>, allowed repos are %v", [container.name, container.image, parameters.repos])
}

any_true(list) if true in list
