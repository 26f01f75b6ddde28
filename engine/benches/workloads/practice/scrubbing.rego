# Secrets and personal data taken out of texts.
package scrubbing

scrubbed := [clean |
	some line in data.lines
	a := regex.replace(line, `[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}`, "<mail>")
	b := regex.replace(a, `\b(?:\d{4}[ -]?){3}\d{4}\b`, "<card>")
	c := regex.replace(b, `(?i)(password|token|secret)=\S+`, "$1=<hidden>")
	clean := regex.replace(c, `\b\d{1,3}(\.\d{1,3}){3}\b`, "<address>")
]

answer := sum([count(line) | some line in scrubbed])

# patterns that are data
tainted := count([line |
	some line in data.lines
	some pattern in data.patterns
	regex.match(pattern, line)
])
