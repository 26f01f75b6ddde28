package a

p if x > 1
