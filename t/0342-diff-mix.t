#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi diff finds known changes in real runs of a program. t/accuracy/compare runs it more
# often, and counts how many changes are found.
#
# Statistic: cpi diff compares 12 unchanged runs with 6 changed ones. Four times the calls,
# or a chain of 32 MiB instead of 16 KiB, are many times the spread between runs.
. "$srcdir/t/tap.sh"
. "$srcdir/t/runs.sh"
CPI_DB=$tmp/runs.db
export CPI_DB
mix=$builddir/t/programs/mix

# record_mix LABEL [SETTING]
record_mix()
{
	record_run "$1" "$mix" 600 ${2:+"$2"}
}
record_mix warm || skip_all "cannot record here: $(tail -n 1 record.err)"
round()
{
	record_mix base && record_mix calls calls=40000 && record_mix base && record_mix stall bytes=33554432 ||
		bail "cannot record: $(tail -n 1 record.err)"
}

# first OPTION...: what the first row of a comparison says
first()
{
	cpi diff --image mix --format=csv "$@" | awk -F, 'NR == 2 { print $12, $13, $17 }'
}
for _ in 1 2 3 4 5 6; do
	round
done

plan 6

is "$(first base calls)" "1 more often mix_short" "more calls of a procedure are the first finding"
is "$(first calls base)" "1 less often mix_short" "fewer calls of a procedure are the first finding"
is "$(first base stall)" "1 slower mix_chase" "longer stalls of a procedure are the first finding"
is "$(first stall base)" "1 faster mix_chase" "shorter stalls of a procedure are the first finding"
like "$(cpi diff base stall mix_chase)" '^ .* dynamic  *D-cache miss$' \
	"the comparison of a procedure names the cache miss"
cpi diff base stall mix_chase --format=csv >insns.csv
is "$(awk -F, 'NR > 1 && $3 > most { most = $3; text = $NF } END { print text }' insns.csv |
	grep -c .)" 1 "the instruction with the largest difference has a text"
