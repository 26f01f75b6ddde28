package constraints.secrets_in_env

import data.lib.containers
import data.lib.core
import data.lib.workload

parameters := data.parameters.secrets_in_env

violation contains {"msg": msg, "details": {}} if {
	some container in workload.all_containers
	not containers.is_exempt(container, parameters)
	some variable in container.env
	core.has_field(variable, "value")
	is_secret(variable.name)
	msg := sprintf("container <%v> holds a secret in plain text: <%v>", [container.name, variable.name])
}

is_secret(name) if {
	some pattern in parameters.patterns
	regex.match(pattern, name)
}
