package a

p := 1 + "a"
