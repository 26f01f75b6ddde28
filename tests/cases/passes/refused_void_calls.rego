package a

p := print(1)
