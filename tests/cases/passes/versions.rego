# v0: true
package a

import data.lib.x
import future.keywords.in

p[x] { x = input.xs[_] }

q[k] = v { v := input.q[k] }

r = input { input := 1; input == 1 }

s { x.y in [1, 2] }

t { true } { false }

u = y { y := 1 } else = [data.z] { data.z }
