#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Random registers, packets and data sources are decoded as perf decodes them.
. "$srcdir/t/tap.sh"
command -v python3 >/dev/null || skip_all 'no python3 to make files'
command -v perf >/dev/null || skip_all 'no perf to compare with'
seed=${SEED:-1}
plan 8

# make KIND: writes a file of perf, KIND.data, and our text of the same records, KIND.ours.
make()
{
	python3 "$srcdir/t/records_perf.py" "$1" "$seed" "$1.data" >"$1.lines" || bail "$1"
	"$builddir/t/records_dump" <"$1.lines" >"$1.ours" || bail "$1"
	[ -s "$1.ours" ] || bail "$1: nothing was decoded"
}

# fields_agree KIND: a test that KIND.perf and KIND.ours are the same; notes some differing lines.
fields_agree()
{
	diff "$1.perf" "$1.ours" >"$1.diff"
	ok $? "$1: all lines are those of perf"
	head -n 6 "$1.diff" | sed 's/^/# /'
}

# Versions of perf name the data sources of Zen 4 differently. The numbers are compared.
for kind in op op-zen3 op-zen4 fetch fetch-zen3 fetch-zen4; do
	make $kind
	perf report -D -i $kind.data 2>/dev/null | grep -E '^(ibs_|Ibs|ic_ibs)' |
		sed '/^ibs_op_data2/s/=[^0-9].*//' >$kind.perf
	sed -i '/^ibs_op_data2/s/=[^0-9].*//' $kind.ours
	fields_agree $kind
done

make spe
perf report -D -i spe.data 2>/dev/null |
	sed -n 's/^\.  [0-9a-f]\{8\}:  \([0-9a-f][0-9a-f] \)* *//p' |
	sed 's/ *$//; s/ GP-REG//' >spe.perf
fields_agree spe

# perf cuts its text off, and its versions spell a fill buffer differently.
make source
perf script -F data_src -i source.data 2>/dev/null |
	sed 's/^ *[0-9a-f]* //; s/ *$//; s,LFB\(/MAB\)*,LFB/MAB,g' >source.cut
awk 'NR == FNR { ours[NR] = $0; nr = NR; next }
	{ print index(ours[FNR], substr($0, 1, 70)) == 1 ? ours[FNR] : $0 }' \
	source.ours source.cut >source.perf
fields_agree source
