#!/usr/bin/env bash
# Finds which functions the linker puts side by side; `./bless --order` calls it.
#   order.sh RAN SIZES   names them: RAN is what callgrind saw with `--demangle=no`, SIZES what `nm --print-size` tells
#   order.sh NAMES       writes the linker script for some names
set -euo pipefail

if [ $# -eq 1 ]; then
	cat <<'END'
/* The functions that a start and the first requests run. The system maps whole neighbourhoods of what is run, so they lie
   side by side: a server at rest is smaller by a quarter. A name that is gone costs nothing, one that is missing lies
   elsewhere. Written by `./bless --order`. */
SECTIONS { .text.start : {
END
	# what is mostly run comes first
	LC_ALL=C sort -u "$1" | awk '!seen[$2]++ { print $2 }'
	printf '} }\nINSERT BEFORE .text;\n'
	exit
fi
# Names stand without the hashes of types and crates, which change with each of them and with the place of the sources. So
# some name functions of many types, few of which are run: those lie behind the others, and only where all of them are less
# than the neighbourhoods of those that are run.
awk '
	function plain(name) {
		sub(/\x27[0-9]+$/, "", name)
		gsub(/Cs[0-9A-Za-z]+_/, "Cs*_", name)
		sub(/\.llvm\.[0-9]+$/, ".llvm.*", name)
		return gensub(/17h[0-9a-f]{16}E.*$/, "17h*", 1, name)
	}
	FILENAME == ARGV[1] && match($0, /^c?fn=\(([0-9]+)\) (.+)$/, part) { names[part[1]] = part[2] }
	FILENAME == ARGV[1] && match($0, /^fn=\(([0-9]+)\)/, part) { exact[names[part[1]]]; ran[plain(names[part[1]])] }
	FILENAME == ARGV[2] && NF == 4 && $3 ~ /[tTwW]/ && plain($4) in ran {
		size = strtonum("0x" $2)
		all[plain($4)] += size
		if (!($4 in exact)) next
		used[plain($4)] += size
		count[plain($4)]++
	}
	END {
		for (name in used) {
			is_dense = all[name] < 4096 || 2 * used[name] >= all[name]
			if (is_dense || all[name] < 65536 * count[name]) print (is_dense ? 1 : 2), "*(.text." name ")"
		}
	}
' "$1" "$2"
