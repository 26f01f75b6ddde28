# A few point look-ups in large base data.
package accounts_access

default allow := false

allow if {
	account := data.accounts[input.account]
	account.active
	some role in account.roles
	data.roles[role].grants[input.action]
	account.region == data.regions[input.region].name
}
