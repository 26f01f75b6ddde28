# Texts from templates.
package rendering

letter := `Dear {{ .name }},
{{ range $i, $item := .items }}{{ if $i }}, {{ end }}{{ $item.title }} ({{ $item.count }}){{ end }}
{{ if .paid }}Thank you for {{ .total }}.{{ else }}Please pay {{ .total | printf "%.2f" }} by {{ .due }}.{{ end }}
`

letters := [text | some customer in data.customers; text := strings.render_template(letter, customer)]

answer := sum([count(text) | some text in letters])

greetings := sum([count(text) |
	some customer in data.customers
	text := strings.render_template("Hello {{.name}}, order {{.order}} is due {{.due}}", customer)
])
