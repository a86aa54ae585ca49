#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Exact counts make exact frequencies. A compiler gains nearly as much from them as from
# instrumentation. One small program is tried; t/fdo/run measures more.
. "$srcdir/t/tap.sh"

out=$("$srcdir/t/fdo/run" --short --keep "$tmp/keep" --tools "$builddir" 2>&1)
status=$?
printf '%s\n' "$out" | sed 's/^/# /'
if [ $status -eq 77 ]; then
	skip_all "${out#SKIP: }"
fi
plan 2
is "$status" 0 'a small program gets faster by an exported profile'

# A sample of t/fdo/exact is an instruction.
is "$("$builddir/tools/cpi" calc --db "$tmp/keep/clang-19/small/exact-train.db" \
	--format=csv main | awk -F, 'NR == 1 { next }
		{ n++; if ($1 != $5 + 0) print "executed " $1 ", estimated " $5 }
		END { if (n < 50) print "only " n " instructions" }')" '' \
	'each instruction of an exact profile has its exact frequency'
