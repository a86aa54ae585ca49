#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A profile for compilers has the targets of indirect calls that windows saw.
#
# Statistics: one call in eight, drawn at random, goes to the other target. (In a fixed
# round of calls, samples would prefer some of them.) A window sees about ten calls, so
# 500 windows see 5000: sigma is 0.005, and the allowance of 0.05 is ten sigma. Half of it
# is for windows, which begin where time is spent rather than at random calls.
. "$srcdir/t/tap.sh"

for v in 19 14; do
	command -v clang-$v >/dev/null && break
done
need clang-$v
[ -x "$builddir/helpers/cpi-translate" ] || skip_all "windows are not built in"

cat >prog.c <<'END'
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static unsigned often(unsigned x)
{
	return x * 7 + 1;
}

__attribute__((noinline)) static unsigned seldom(unsigned x)
{
	return x ^ x >> 5;
}

unsigned (*volatile table[8])(unsigned) = { seldom, often, often, often,
					    often,  often, often, often };

int main(int argc, char **argv)
{
	const unsigned n = strtoul(argv[argc - 1], NULL, 10);
	unsigned s = 1, r = 1;

	for (unsigned i = 0; i < n; i++)
		s += table[(r = r * 1664525 + 1013904223) >> 29](s);
	printf("%u\n", s);
	return 0;
}
END
clang-$v -O2 -gline-tables-only -fdebug-info-for-profiling -o prog prog.c ||
	bail "clang-$v failed"
cpi record -v -F 999 --windows=499 -o t.db -- ./prog 800000000 >/dev/null 2>log ||
	skip_all "cannot record: $(tail -n 1 log)"
grep -q '499 windows/s' log || skip_all "no windows here: $(grep windows log)"

plan 2
cpi export --db t.db --epoch all --image "$tmp/prog" --format=llvm-sample >text.prof 2>err
share=$(sed -n 's/^ 6\(\.[0-9]*\)*: [0-9]* often:\([0-9]*\) seldom:\([0-9]*\)$/\2 \3/p' text.prof |
	awk '{ print $2 / ($1 + $2) }')
awk -v share="${share:-0}" 'BEGIN { exit !(share > 0.075 && share < 0.175) }'
ok $? "an indirect call has both targets, in their shares (seldom: ${share:-none}, of 0.125)"
# shellcheck disable=SC2046 # words
is "$(clang-$v -O2 -Wall -gline-tables-only -fdebug-info-for-profiling \
	-fprofile-sample-use=text.prof -S -emit-llvm -o - prog.c |
	grep -cE 'icmp eq.*@often')" 1 "clang calls the frequent target directly"
