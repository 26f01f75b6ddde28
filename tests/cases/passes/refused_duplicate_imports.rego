package a

import data.b.c
import data.d.c

p := c
