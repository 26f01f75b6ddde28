package a

p := 1

p contains 1
