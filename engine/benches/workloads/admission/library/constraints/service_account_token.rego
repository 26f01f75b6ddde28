package constraints.service_account_token

import data.lib.core
import data.lib.workload

violation contains {"msg": msg, "details": {}} if {
	mounts_token(workload.pod_spec)
	msg := sprintf("Automounting service account token is disallowed, pod: %v", [core.resource.metadata.name])
}

mounts_token(spec) if not core.has_field(spec, "automountServiceAccountToken")

mounts_token(spec) if spec.automountServiceAccountToken
