package constraints.host_path_writes

import data.lib.containers
import data.lib.workload

parameters := data.parameters.host_path_writes

violation contains {"msg": msg, "details": {}} if {
	some container in workload.all_containers
	not containers.is_exempt(container, parameters)
	some volume in workload.volumes
	volume.hostPath
	containers.mounts(container, volume)
	some mount in container.volumeMounts
	mount.name == volume.name
	not mount.readOnly
	not allowed(volume.hostPath.path)
	msg := sprintf("HostPath volume %v is not allowed, container: %v. Allowed path: %v", [json.marshal(volume), container.name, parameters.paths])
}

allowed(path) if {
	some prefix in parameters.paths
	is_below(trim_suffix(prefix, "/"), path)
}

is_below(prefix, path) if path == prefix

is_below(prefix, path) if startswith(path, concat("", [prefix, "/"]))
