# Patterns that are data.
package matching

answer := count([pattern | some pattern in data.patterns; regex.match(pattern, input.text)])
