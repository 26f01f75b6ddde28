package a

p := f(1)
