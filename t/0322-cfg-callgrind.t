#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What programs execute is in the control-flow graphs: of 1000 executed instructions
# and jumps, 995 at least, by callgrind's exact counts.
. "$srcdir/t/tap.sh"
command -v valgrind >/dev/null || skip_all "valgrind is not installed"

plan 12

# Counts by object: "i ADDRESS COUNT" and "j FROM TO COUNT" into counts/NUMBER, whose
# path is in objects. A line behind "calls=" has the callee's cost.
split_counts() {
	awk '
		/^ob=/ {
			object = substr($0, 4)
			if (!(object in number)) {
				number[object] = ++n
				print n, object >"objects"
			}
			out = "counts/" number[object]
		}
		/^calls=/ { getline; next }
		/^(jump|jcnd)=/ {
			split(substr($1, 6), count, "/")
			to = substr($2, 3)
			getline
			print "j", substr($1, 3), to, count[1] >out
			next
		}
		/^0x/ { print "i", substr($1, 3), $3 >out }
	' "$1"
}

# Compares counts with a dump: "executed known jumps known" on one line.
compare() {
	awk '
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
	' insns blocks "$1"
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
	try "$name: $insns % of the executed instructions" at_least "$insns"
	try "$name: $jumps % of the executed jumps" at_least "$jumps"
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
