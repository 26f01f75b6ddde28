# An example, to replace. POST /v1/data/authz/allow evaluates it.
package authz

default allow := false
