# query: y > data.a.p
package a

p := 1
