#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# 2000 short processes, most of them of a compiler: nearly all samples have an image.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
. "$srcdir/t/shares.sh"
need gcc xargs
plan $((nr_stored_tests + 6))

cat >tiny.c <<'END'
#include <stdio.h>
int main(void) { return printf("%d\n", NUMBER) < 0; }
END
collect_start -F 1000
# Each is gcc, cc1, as, collect2 and ld.
seq 120 | xargs -P 2 -I @ gcc -DNUMBER=@ -o tiny.@ tiny.c
try 'all programs were built' test "$(ls tiny.*[0-9] | wc -l)" -eq 120
"$programs/spawn" 1400 2 0 /bin/true >/dev/null
collect_stop
check_stored

ours="SELECT total(n) FROM comm WHERE comm IN
	('gcc', 'cc1', 'as', 'collect2', 'ld', 'true', 'spawn', 'xargs')"
bound "$(sql "$ours")" '>=' 1000 'the programs have samples'
# Other programs on this machine may have code without a file. They are not judged.
share_at_most "$(sql "$ours AND image = 0")" "$(sql "$ours")" 0.01 \
	'at most 1 % of their samples have no image'
sql 'SELECT name, sum(n) FROM loss WHERE kind = 0 GROUP BY name' | sed 's/^/# /'
share_at_most "$(sql "SELECT total(n) FROM loss WHERE kind = 0 AND name = 'ambiguous'")" \
	"$(sql 'SELECT sum(received) FROM tally WHERE kind = 0')" 0.001 \
	'at most 0.1 % of all samples are ambiguous'
is "$(sql 'SELECT name FROM loss WHERE kind = 0 AND class = 1')" '' 'no sample is lost'
