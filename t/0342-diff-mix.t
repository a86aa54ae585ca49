#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi diff on real runs of a program, unchanged and with known changes planted.
# t/accuracy/compare has the longer form, and counts.
. "$srcdir/t/tap.sh"

case $(uname -m) in
x86_64 | aarch64) ;;
*) skip_all "no decoder for $(uname -m)" ;;
esac
CPI_DB=$tmp/runs.db
export CPI_DB
mix=$builddir/t/programs/mix

# record LABEL [SETTING]
record()
{
	cpi record -F 1000 -o "$CPI_DB" -l "$1" -- "$mix" 1000 ${2:+"$2"} 2>record.err
}
record warm || skip_all "cannot record here: $(tail -n 1 record.err)"
for i in 1 2 3; do
	record base && record calls calls=40000 && record base && record stall bytes=1048576 ||
		bail "cannot record: $(tail -n 1 record.err)"
done

plan 6

first()
{
	cpi diff --image mix --format=csv "$@" | awk -F, 'NR == 2 { print $12, $13, $17 }'
}
is "$(first base calls)" "1 more often mix_short" "more calls are told"
is "$(first calls base)" "1 less often mix_short" "and fewer"
is "$(first base stall)" "1 slower mix_chase" "longer stalls are told"
is "$(first stall base)" "1 faster mix_chase" "and shorter ones"
like "$(cpi diff base stall mix_chase)" '^ .* dynamic  *D-cache miss$' \
	"with what it waited for on either side"
cpi diff base stall mix_chase --format=csv >insns.csv
is "$(awk -F, 'NR > 1 && $3 > most { most = $3; text = $NF } END { print text }' insns.csv |
	grep -c .)" 1 "and the instruction that did"
