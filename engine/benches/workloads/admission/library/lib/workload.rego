# What constraints ask of the object under review.
package lib.workload

import data.lib.core

is_pod if core.kind == "Pod"

pod_spec := core.resource.spec if is_pod

pod_spec := core.resource.spec.template.spec if not is_pod

all_containers contains container if some container in pod_spec.containers

all_containers contains container if some container in pod_spec.initContainers

all_containers contains container if some container in pod_spec.ephemeralContainers

volumes contains volume if some volume in pod_spec.volumes

pods_metadata := core.resource.metadata
