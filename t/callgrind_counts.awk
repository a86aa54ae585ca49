# SPDX-License-Identifier: GPL-2.0-or-later
# callgrind_counts.awk - counts of a callgrind.out, by object
#
# Writes lines "i ADDRESS COUNT" of executed instructions and "j FROM TO COUNT" of jumps
# into counts/NUMBER, and lines "NUMBER PATH" into objects.
/^ob=/ {
	object = substr($0, 4)
	if (!(object in number)) {
		number[object] = ++n
		print n, object >"objects"
	}
	out = "counts/" number[object]
}
# The next line has the cost of the callee.
/^calls=/ { getline; next }
/^(jump|jcnd)=/ {
	split(substr($1, 6), count, "/")
	to = substr($2, 3)
	getline
	print "j", substr($1, 3), to, count[1] >out
	next
}
/^0x/ { print "i", substr($1, 3), $3 >out }
