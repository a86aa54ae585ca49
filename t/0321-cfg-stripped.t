#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A program and its stripped copy have the same blocks in 99 % of the code.
. "$srcdir/t/tap.sh"

programs="tools/cpi daemon/cpid t/programs/split"
plan "$(echo "$programs" | wc -w)"

blocks_agree() {
	awk -f "$srcdir/t/hex.awk" -f /dev/stdin stripped.blocks full.blocks <<'END'
$1 != "b" { next }
FILENAME == "stripped.blocks" { known[$2 " " $3]; next }
{
	n = hex_value($3) - hex_value($2)
	all += n
	if (($2 " " $3) in known)
		same += n
	else
		print "block", $2, $3, "is not in the stripped copy"
}
END {
	print same + 0, "of", all + 0, "bytes"
	exit !(all && same >= 0.99 * all)
}
END
}

for program in $programs; do
	if ! strip -o stripped "$builddir/$program" 2>err; then
		skip 1 "strip failed: $(head -n 1 err)"
		continue
	fi
	for copy in full stripped; do
		file=stripped
		[ $copy = full ] && file=$builddir/$program
		"$builddir/t/cfg_dump" blocks "$file" >$copy.blocks
	done
	try "$program has the same blocks with and without symbols" blocks_agree
done
