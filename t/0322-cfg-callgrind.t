#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The control-flow graphs have at least 995 of 1000 executed instructions and jumps, by
# callgrind's exact counts.
. "$srcdir/t/tap.sh"
command -v valgrind >/dev/null || skip_all "valgrind is not installed"

plan 12

# Counts by object, into counts/NUMBER; objects has the path of each number.
split_counts() {
	awk -f "$srcdir/t/callgrind_counts.awk" "$1"
}

# Compares counts with a dump: "executed known jumps known" on one line.
compare() {
	awk -f "$srcdir/t/cfg_covers.awk" insns blocks "$1"
}

# agree NAME COMMAND...
agree() {
	name=$1
	shift
	if ! command -v "$1" >/dev/null; then
		skip 2 "$1 is not installed"
		return
	fi
	rm -rf counts objects result
	mkdir counts
	valgrind --tool=callgrind --dump-instr=yes --collect-jumps=yes --compress-pos=no \
		--compress-strings=no --callgrind-out-file=callgrind.out "$@" >out 2>&1 </dev/null
	if ! [ -s callgrind.out ]; then
		ok 1 "$name: callgrind failed"
		ok 1 "$name: callgrind failed"
		sed 's/^/# /' out
		return
	fi
	split_counts callgrind.out
	while read -r number object; do
		[ -f "$object" ] && [ -f "counts/$number" ] || continue
		"$builddir/t/cfg_dump" insns "$object" >insns || continue
		"$builddir/t/cfg_dump" blocks "$object" >blocks || continue
		: >lost
		result=$(compare "counts/$number")
		echo "$result" >>result
		echo "# $object: $result"
		awk '{ print $NF, $0 }' lost | sort -nr | head -n 3 | sed 's/^[0-9]* /#    lost: /'
	done <objects
	awk '
		{ for (i = 1; i <= 4; i++) n[i] += $i }
		END {
			printf "%.3f %.3f\n", 100 * n[2] / n[1], 100 * n[4] / n[3]
		}' result >share
	read -r insns jumps <share
	echo "# $name: $insns % of the instructions, $jumps % of the jumps"
	try "$name: at least 99.5 % of the executed instructions are in the graphs" at_least "$insns"
	try "$name: at least 99.5 % of the executed jumps are in the graphs" at_least "$jumps"
}

at_least() {
	awk -v share="$1" 'BEGIN { exit !(share >= 99.5) }'
}

awk 'BEGIN { for (i = 0; i < 20000; i++) print i * i % 9973, "text", i }' >data
printf 'int f(int x) { switch (x) { case 1: return 3; case 2: return 5; case 3: return 9;
case 4: return 1; case 5: return 12; } return 0; }\n' >program.c

agree sqlite3 sqlite3 :memory: "create table t(a, b); with recursive c(x) as (select 1
	union all select x + 1 from c where x < 2000) insert into t select x, x * x % 77 from c;
	create index i on t(b); select b, count(*), group_concat(a) from t group by b order by 2;
	select count(*) from t x, t y where x.b = y.b and x.a > y.a;"
agree python3 /usr/bin/python3 -c 'import json, re
d = {str(i): [i, i * 1.5, "x" * (i % 7)] for i in range(2000)}
s = json.dumps(d, sort_keys=True)
print(len(re.findall(r"[0-9]+\.[05]", s)), sorted(d.items())[3])'
agree gzip gzip -9 -c data
agree awk awk '{ n[$1 % 100] += length($2) } END { for (i in n) s += n[i]; print s }' data
agree openssl openssl sha256 data
agree cc "$(cc -print-prog-name=cc1)" -quiet -O2 program.c -o program.s
