package photos

default allow := false

# the owner of a photo may do everything with it
allow if input.user == data.library[input.photo].owner

# everybody may look at public photos
allow if {
	input.method == "GET"
	data.library[input.photo].public
}
