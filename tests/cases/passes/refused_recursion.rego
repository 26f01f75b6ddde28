package a

p if q

q if p
