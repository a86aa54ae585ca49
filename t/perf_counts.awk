# SPDX-License-Identifier: GPL-2.0-or-later
# perf_counts.awk - samples of perf script by image and symbol
#
# perf script -F pid,ip,sym,dso | awk -f perf_counts.awk IDLE -
#
# Prints lines of image, symbol and count, separated by tabs. IDLE names the procedures
# of the idle loop. Samples of the idle task in these are left out.
FILENAME != "-" {
	idle[$1] = 1
	next
}
$1 == 0 && $3 in idle {
	next
}
{
	image = $0
	sub(/^[^(]*\(/, "", image)
	sub(/\)$/, "", image)
	n[image "\t" $3]++
}
END {
	for (key in n)
		print key "\t" n[key]
}
