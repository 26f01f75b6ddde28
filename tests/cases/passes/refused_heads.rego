package a

p contains x if input
