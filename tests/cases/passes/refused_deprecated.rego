# strict: true
# v0: true
package a

p { any([true]) }
