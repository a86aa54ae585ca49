# SPDX-License-Identifier: GPL-2.0-or-later
# cfg_covers.awk - how much of what ran do control-flow graphs have?
#
# awk -f cfg_covers.awk insns blocks COUNTS
#
# insns and blocks are dumps of t/cfg_dump, COUNTS is of callgrind_counts.awk. Prints
# "EXECUTED KNOWN JUMPS KNOWN", and writes what is not known into the file "lost".
FILENAME == "insns" { insn[$1]; next }
$1 == "p" { p = $2 }
$1 == "b" { of_block[$2] = of_block[$2] " " p " " }
$1 == "e" { edge[$2 " " $3] }
$1 == "l" { leaves[$2] = leaves[$2] " " p " " }
$1 == "i" { executed += $3; if ($2 in insn) known += $3; else print "insn", $2, $3 >"lost" }
# A string instruction that repeats is a loop to callgrind.
$1 == "j" && $2 == $3 && !(($2 " " $3) in edge) { next }
$1 == "j" {
	jumps += $4
	# Out of the procedure, to another one.
	if (($2 " " $3) in edge || (($2 in leaves) && !inside($2, $3)))
		found += $4
	else
		print "jump", $2, $3, $4 >"lost"
}
function inside(from, to, n, list, i) {
	n = split(leaves[from], list, " ")
	for (i = 1; i <= n; i++)
		if (index(of_block[to], " " list[i] " "))
			return 1
	return 0
}
END { printf "%.0f %.0f %.0f %.0f\n", executed, known, jumps, found }
