#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Exact counts are exact frequencies, and give most of what instrumentation gives: one
# small program, instructions only. t/fdo/run measures what profiles are worth.
. "$srcdir/t/tap.sh"

out=$("$srcdir/t/fdo/run" --short --keep "$tmp/keep" --tools "$builddir" 2>&1)
status=$?
printf '%s\n' "$out" | sed 's/^/# /'
if [ $status -eq 77 ]; then
	skip_all "${out#SKIP: }"
fi
plan 2
is "$status" 0 'a small program gains from an exported profile'

# A sample of t/fdo/exact is an instruction.
is "$("$builddir/tools/cpi" calc --db "$tmp/keep/clang-19/small/exact-train.db" \
	--format=csv main | awk -F, 'NR == 1 { next }
		{ n++; if ($1 != $5 + 0) print "executed " $1 ", estimated " $5 }
		END { if (n < 50) print "only " n " instructions" }')" '' \
	'each instruction ran as often as its block'
