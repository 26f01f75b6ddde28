# strict: true
package a

input := 1
