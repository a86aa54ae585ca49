#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Profiles for compilers from made-up counts agree with an oracle that asks
# llvm-symbolizer, and the compilers' tools read them.
. "$srcdir/t/tap.sh"
need python3
case $(uname -m) in
x86_64 | aarch64) ;;
*) skip_all "no decoder for $(uname -m)" ;;
esac

# Inlining, loops that are unrolled, conditions on one line, templates, static functions
# of one name in two files, sections of functions, a call through a pointer.
cat >shared.h <<'END'
template <typename T> static inline T mix(T a, T b)
{
	return a > b ? (a ^ (b >> 3)) + 7 : (b - a) * 5;
}
unsigned other(const unsigned *a, unsigned n);
END
cat >one.cc <<'END'
#include "shared.h"
#include <stdio.h>
#include <stdlib.h>
static unsigned step(unsigned x)
{
	if (x % 7 == 0) return mix<unsigned>(x, 77); else if (x == 12345) return puts("never");
	unsigned s = 0;
	for (int i = 0; i < 16; i++) s += x >> i & 1 ? mix<unsigned>(s, x) : i;
	return s;
}
__attribute__((noinline)) static unsigned same(unsigned x) { return step(x) + 1; }
__attribute__((noinline)) static unsigned two(unsigned x) { return step(x * 3) ^ step(x + 1); }
__attribute__((noinline)) unsigned sum(const unsigned *a, unsigned n)
{
	unsigned s = 0;
	for (unsigned i = 0; i < n; i++)
		s += a[i] * 3;
	return s;
}
typedef unsigned (*fn)(unsigned);
fn volatile table[2] = { same, two };
int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? atoi(argv[1]) : 1000000, v = 1;
	unsigned a[64] = { 1, 2, 3 };
	for (unsigned i = 0; i < n; i++) {
		v += table[(v & 7) == 0](v ^ i);
		a[v & 63] = v;
		if ((i & 15) == 0) v += sum(a, 64) + other(a, 64);
	}
	printf("%u\n", v);
}
END
cat >two.cc <<'END'
#include "shared.h"
unsigned long long total;

__attribute__((noinline)) static unsigned same(unsigned x)
{
	return mix<unsigned>(x, 99);
}

unsigned other(const unsigned *a, unsigned n)
{
	unsigned s = 0;
	for (unsigned i = 0; i < n; i++)
		if (a[i] & 3) s += same(a[i]); else total += a[i] ? mix<unsigned>(s, a[i]) : 2;
	return s;
}
END
flags='-O2 -ffunction-sections -gline-tables-only -fdebug-info-for-profiling'

dump()
{
	"$builddir/t/feedback_dump" "$@"
}

# has COMMAND NUMBER: skips NUMBER tests if the command is missing.
has()
{
	command -v "$1" >/dev/null && return
	skip "$2" "no $1"
	return 1
}

plan 35
for v in 14 19; do
	has clang++-$v 11 || continue
	# shellcheck disable=SC2086 # words
	clang++-$v $flags -o prog$v one.cc two.cc || bail "clang++-$v failed"
	dump prog$v 7 llvm-sample counts >text.prof
	ok $? "clang $v: cpi writes a text profile"
	if has llvm-symbolizer-19 1; then
		python3 "$srcdir/t/feedback_oracle.py" llvm-symbolizer-19 prog$v counts \
			>oracle.prof
		# Two functions have the name same: one of them is in the profile.
		without_same()
		{
			awk '/^[^ ]/ { same = /same/ } !same' "$1" |
				sed 's/ _ZL4samej:[0-9]*//' >"$1.without"
		}
		without_same oracle.prof
		without_same text.prof
		try "clang $v: the text profile is that of the oracle" \
			cmp text.prof.without oracle.prof.without
	fi
	is "$(grep -c '^_ZL4samej:' text.prof)" 1 \
		"clang $v: of two functions with one name the profile has one"
	dump prog$v 7 llvm-sample-binary counts >binary.prof
	ok $? "clang $v: cpi writes a binary profile"
	if has llvm-profdata-$v 2; then
		accepts "llvm-profdata-$v reads the binary profile" \
			llvm-profdata-$v merge --sample --text binary.prof -o from_binary
		llvm-profdata-$v merge --sample --text text.prof -o from_text
		try "llvm-profdata-$v reads the same from text and binary" cmp from_binary from_text
	fi
	for form in text binary; do
		# shellcheck disable=SC2086
		accepts "clang $v reads the $form profile" clang++-$v $flags -Wall \
			-fprofile-sample-use=$form.prof -o fast one.cc two.cc
	done
	is "$(./fast 1000 2>&1)" "$(./prog$v 1000 2>&1)" \
		"clang $v: the optimised program has the same output"
	if has llvm-profgen-19 2 && has llvm-profdata-19 2; then
		dump prog$v 7 llvm-unsymbolized counts >addresses
		accepts "clang $v: llvm-profgen reads counts by address" llvm-profgen-19 \
			--unsymbolized-profile=addresses --use-offset=0 \
			--binary=prog$v --format=text -o generated.prof
		llvm-profdata-19 overlap --sample text.prof generated.prof >overlap
		overlap=$(sed -n 's/.*profile similarity: \([0-9]*\).*/\1/p' overlap)
		[ "${overlap:-0}" -ge 95 ]
		ok $? "clang $v: both ways agree by at least 95 % (${overlap:-?} %)"
	fi
done

# The program has discriminators, copies and inlined calls, so the oracle checks them.
if has clang++-19 4; then
	like "$(cat text.prof)" '^ *[0-9]*\.[0-9]*: [1-9]' \
		"statements on one line have discriminators"
	like "$(cat text.prof)" '^ *[0-9]*: 0$' "a line that did not run has count 0"
	like "$(cat text.prof)" '^  *[0-9.]*: _ZL4stepj:[1-9]' \
		"inlined lines are listed below their call"
	is "$(sed -n 's/.*: \([0-9]*\)\( .*\)*$/\1/p' text.prof | sort -n | tail -n 1 |
		awk '{ print ($1 > 1e8 && $1 <= 1e9) }')" 1 \
			"the largest count is between 1e8 and 1e9"
fi

vectoriser=-fvect-cost-model=very-cheap
if has g++ 6; then
	g++ -O2 -g -o gprog one.cc two.cc || bail "g++ failed"
	dump gprog 7 gcov counts >gcov.afdo
	ok $? "cpi writes a profile for GCC"
	accepts "GCC reads the profile" g++ -O2 -g -Wall -fauto-profile=gcov.afdo $vectoriser \
		-o gfast one.cc two.cc
	is "$(./gfast 1000 2>&1)" "$(./gprog 1000 2>&1)" \
		"GCC: the optimised program has the same output"
	# No function may have the first name of the table: GCC 12 crashes on a function 0.
	is "$(od -An -tu4 -j24 -N4 gcov.afdo | tr -d ' ') $(od -An -tu1 -j28 -N1 gcov.afdo |
		tr -d ' ')" "1 0" "GCC: name 0 of the profile is empty"
	# GCC expects no more calls of a function than entries.
	python3 "$srcdir/t/gcov_text.py" gcov.afdo >gcov.text
	is "$(awk '$1 == "entered" { n++; if ($4 > $3) print } END { if (!n) print "no calls" }' \
		gcov.text)" "" "GCC: no function has more calls than entries"
	# Without $vectoriser, GCC's vectoriser divides by zero here.
	cat >choose.cc <<-'END'
	int a[1000], b[1000];
	int main(int argc, char **argv)
	{
		int i = 0;
		do {
			a[i] = b[i] ? 1 : argc;
			i++;
		} while (i < argc);
		return a[argc];
	}
	END
	g++ -O2 -g -o choose choose.cc || bail "g++ failed"
	dump choose 1 gcov counts >choose.afdo
	accepts "GCC reads the profile of a loop with a conditional store" \
		g++ -O2 -Wall -fauto-profile=choose.afdo $vectoriser -o choose choose.cc
fi

if has llvm-bolt-19 3 && has clang++-19 3; then
	# shellcheck disable=SC2086
	clang++-19 $flags -Wl,--emit-relocs -o bprog one.cc two.cc
	dump bprog 7 bolt counts >fdata
	llvm-bolt-19 bprog -data=fdata -o bfast -reorder-blocks=ext-tsp \
		-update-debug-sections >said 2>&1
	is "$? $(grep -E 'WARNING|ERROR|stale' said)" "0 " "BOLT reads the jumps without warnings"
	like "$(cat said)" 'BOLT-INFO: profile for 1 objects was ignored' \
		"BOLT finds every function except the one of another object"
	if has merge-fdata-19 1; then
		merge-fdata-19 fdata fdata >merged 2>/dev/null
		is "$(awk '{ n += $NF } END { print n }' merged)" \
			"$(awk '{ n += 2 * $NF } END { print n }' fdata)" \
			"merge-fdata adds up two profiles"
	fi
fi
