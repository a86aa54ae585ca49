#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Random registers, packets and data sources, word for word as perf has them.
. "$srcdir/t/tap.sh"
command -v python3 >/dev/null || skip_all 'no python3 to make files'
command -v perf >/dev/null || skip_all 'no perf to compare with'
seed=${SEED:-1}
plan 8

# make KIND: a file of perf's, KIND.data; what is read of the same records, KIND.ours.
make()
{
	python3 "$srcdir/t/records_perf.py" "$1" "$seed" "$1.data" >"$1.lines" || bail "$1"
	"$builddir/t/records_dump" <"$1.lines" >"$1.ours" || bail "$1"
	[ -s "$1.ours" ] || bail "$1: nothing was decoded"
}

# same KIND: KIND.perf and KIND.ours are, and one or the other line is shown where not.
same()
{
	diff "$1.perf" "$1.ours" >"$1.diff"
	ok $? "$1: $(wc -l <"$1.perf") lines are as perf has them"
	head -n 6 "$1.diff" | sed 's/^/# /'
}

# Which perf names the sources of Zen 4 how has changed; the numbers are compared.
for kind in op op-zen3 op-zen4 fetch fetch-zen3 fetch-zen4; do
	make $kind
	perf report -D -i $kind.data 2>/dev/null | grep -E '^(ibs_|Ibs|ic_ibs)' |
		sed '/^ibs_op_data2/s/=[^0-9].*//' >$kind.perf
	sed -i '/^ibs_op_data2/s/=[^0-9].*//' $kind.ours
	same $kind
done

make spe
perf report -D -i spe.data 2>/dev/null |
	sed -n 's/^\.  [0-9a-f]\{8\}:  \([0-9a-f][0-9a-f] \)* *//p' |
	sed 's/ *$//; s/ GP-REG//' >spe.perf
same spe

# perf cuts its text off, and spells a fill buffer as its age is.
make source
perf script -F data_src -i source.data 2>/dev/null |
	sed 's/^ *[0-9a-f]* //; s/ *$//; s,LFB\(/MAB\)*,LFB/MAB,g' >source.cut
awk 'NR == FNR { ours[NR] = $0; nr = NR; next }
	{ print index(ours[FNR], substr($0, 1, 70)) == 1 ? ours[FNR] : $0 }' \
	source.ours source.cut >source.perf
same source
