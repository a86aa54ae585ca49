#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The same work is sampled by the collectors bpf and perf. Each program has the same share.
CPI_TEST_COLLECTOR=bpf
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
plan $((2 * (nr_stored_tests + 3) + 3))

# Images of this test alone: other tests may run the same programs meanwhile.
mkdir own
for name in burn_a burn_b burn_c spawn; do
	cp "$programs/$name" own
done
programs=$PWD/own

# counts: samples of our own programs, a line each.
counts()
{
	for name in burn_a burn_b burn_c; do
		sql "SELECT total(n) FROM comm c JOIN image i ON i.id = c.image
			WHERE c.comm = '$name' AND i.name = '$(realpath "$programs/$name")'"
	done
}

for collector in bpf perf; do
	db=$collector.db
	collect_start -F 1000
	try "$collector: the programs run" "$programs/spawn" 120 2 20 "$programs/burn_a" \
		"$programs/burn_b" "$programs/burn_b" "$programs/burn_c"
	collect_stop
	check_stored
	counts >$collector.counts
	is "$(sql "SELECT source FROM stream WHERE event <> 'windows'")" $collector "$collector: the stream names its source"
done
paste bpf.counts perf.counts >both
note "bpf and perf: $(tr '\n' ' ' <both)"
column=0
for name in bpf perf; do
	column=$((column + 1))
	bound "$(awk -v c=$column '{ n += $c } END { print n }' both)" '>=' 1000 \
		"$name: there are enough samples"
done
# Chi-square of a table of three rows and two columns: two degrees of freedom, p = 0.00001.
bound "$(awk '{
	for (c = 1; c <= 2; c++)
		column[c] += n[NR, c] = $c
	row[NR] = $1 + $2
} END {
	for (r = 1; r <= NR; r++)
		for (c = 1; c <= 2; c++) {
			e = row[r] * column[c] / (column[1] + column[2])
			chi += (n[r, c] - e) ^ 2 / e
		}
	print chi
}' both)" '<=' 23.0 'both collectors see the same shares, by chi-square'
