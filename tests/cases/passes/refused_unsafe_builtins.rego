# unsafe: opa.runtime
package a

p := opa.runtime()
