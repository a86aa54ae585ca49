#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A compile, and others, 2000 short processes in all: what they did is known.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
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
bound "$(sql "$ours")" '>=' 1000 'samples are of the compile'
# What else runs here may have code without a file; it is not judged.
bound "$(sql "$ours AND image = 0" | awk '{ print 100 * $1 }')" '<=' "$(sql "$ours")" \
	'unknown: 1 % at most'
sql 'SELECT name, sum(n) FROM loss GROUP BY name' | sed 's/^/# /'
bound "$(sql "SELECT 1000 * total(n) FROM loss WHERE name = 'ambiguous'")" '<=' \
	"$(sql 'SELECT sum(received) FROM tally')" 'ambiguous: 0.1 % at most'
is "$(sql 'SELECT name FROM loss WHERE class = 1')" '' 'nothing is lost'
