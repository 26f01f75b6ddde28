package constraints.seccomp

import data.lib.containers
import data.lib.workload

parameters := data.parameters.seccomp

violation contains {"msg": msg, "details": {}} if {
	some container in workload.all_containers
	not containers.is_exempt(container, parameters)
	not allowed(profile(container))
	msg := sprintf("Seccomp profile <%v> is not allowed for container <%v>. Found at: container securityContext", [profile(container), container.name])
}

profile(container) := containers.security(container).seccompProfile.type

profile(container) := workload.pod_spec.securityContext.seccompProfile.type if {
	not containers.security(container).seccompProfile
}

profile(container) := "not configured" if {
	not containers.security(container).seccompProfile
	not workload.pod_spec.securityContext.seccompProfile
}

allowed(kind) if kind in parameters.allowed
