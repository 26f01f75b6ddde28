# Lines with numbers.
package reports

lines := [line |
	some row in data.rows
	line := sprintf("%-12s %8.2f %6.1f%% %v", [row.name, row.amount, row.share * 100, row.rate])
]

answer := sum([count(line) | some line in lines])

plain := sum([count(text) | some row in data.rows; text := sprintf("%v of %v: %d", [row.amount, row.rate, row.units])])

scientific := sum([count(text) | some row in data.rows; text := sprintf("%e %g %.3f", [row.amount, row.rate, row.share])])
