#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A program is recorded, its profile is exported, and compilers build with it: also with
# profiles of older builds and of stripped programs. Warnings say what a profile lacks.
. "$srcdir/t/tap.sh"

need_record
for v in 19 14; do
	command -v clang-$v >/dev/null && break
done
need clang-$v objcopy strip readelf
case $(uname -m) in
x86_64 | aarch64) ;;
*) skip_all "no decoder for $(uname -m)" ;;
esac

cat >old.c <<'END'
#include <stdio.h>

static inline unsigned mix(unsigned a, unsigned b)
{
	return a > b ? (a ^ b >> 3) + 7 : (b - a) * 5;
}

__attribute__((noinline)) unsigned renamed(unsigned n)
{
	unsigned s = 1;

	for (unsigned i = 0; i < n; i++)
		s += i % 3 ? mix(s, i) : 0;
	return s;
}

__attribute__((noinline)) unsigned moved(unsigned n)
{
	unsigned s = 1;

	for (unsigned i = 0; i < n; i++)
		s ^= i % 5 ? mix(i, s) : i;
	return s;
}

int main(void)
{
	unsigned s = 0;

	for (int i = 0; i < 1000; i++)
		s += renamed(300000 + i) + moved(300000 + i);
	printf("%u\n", s);
	return 0;
}
END
{
	printf '/* A comment.\n *\n * Lines.\n */\n'
	sed 's/renamed/called_so/' old.c
} >new.c
flags='-O2 -gline-tables-only -fdebug-info-for-profiling'
profiling='-gline-tables-only -fdebug-info-for-profiling'

# build SOURCE: builds it as prog, stripped; its debug file is in debug.
build()
{
	cp "$1" prog.c
	# shellcheck disable=SC2086 # words
	clang-$v $flags -Wl,--build-id -o whole prog.c || bail "clang-$v failed"
	id=$(readelf -n whole | sed -n 's/.*Build ID: //p')
	mkdir -p "debug/.build-id/$(echo "$id" | cut -c1-2)"
	objcopy --only-keep-debug whole "debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" |
		cut -c3-).debug"
	rm -f prog
	strip -o prog whole
}

record_program()
{
	cpi record -F 2000 -o t.db -- "$@" >/dev/null 2>log || bail "$(cat log)"
}

profile()
{
	cpi export --db t.db --epoch all --image "$tmp/prog" "$@" 2>all
	status=$?
	grep 'is not known to within' all >scale
	grep -v 'is not known to within' all >err
	return $status
}

plan 36
build old.c
record_program sh -c './prog; awk "BEGIN { while (i < 3000000) i++ }"'
cpi export --db t.db --format=llvm-sample -o none 2>err
is "$?" 1 "an export of several programs without --image is an error"
like "$(cat err)" 'say which program with --image: there are .*/' \
	"the message lists some of the programs"
profile --format=llvm-sample -o none
is "$? $(cat none 2>/dev/null)" "1 " "an export without debug information writes no profile"
like "$(cat err)" '100 % of what ran has no debug information' \
	"the message says how much lacks debug information"
profile --debug-dir=debug --format=llvm-sample -o first.prof
is "$? $(cat err)" "0 " "--debug-dir finds the debug file"
like "$(cat first.prof)" '^moved:[1-9][0-9]*:[0-9]' "the profile has the functions that ran"
like "$(cat first.prof)" '^ 4\.[0-9]*: mix:[1-9]\|^ 5[.0-9]*: mix:[1-9]' \
	"the profile has inlined calls"
# shellcheck disable=SC2086
accepts "clang reads the text profile" clang-$v -O2 -Wall $profiling \
	-fprofile-sample-use=first.prof -o fast prog.c
is "$(./fast)" "$(./prog)" "the optimised program has the same output"
profile --debug-dir=debug --format=llvm-sample-binary -o first.binary
# shellcheck disable=SC2086
accepts "clang reads the binary profile" clang-$v -O2 -Wall $profiling \
	-fprofile-sample-use=first.binary -o fast prog.c
profile --debug-dir=debug --format=bolt -o first.fdata
is "$? $(cat err)" "0 " "the BOLT profile is written without warnings"
like "$(cat first.fdata)" '^1 moved [0-9a-f]* 1 moved [0-9a-f]* 0 [1-9]' \
	"the BOLT profile has jumps relative to symbols"

profile --debug-dir=debug --check >report
is "$? $(cat err)" "0 " "--check writes a report"
like "$(cat report)" 'samples, [89][0-9.]* % of them in code\|samples, 100.0 % of them in code' \
	"the report says which share of the samples is in code"
like "$(cat report)" '^matched to lines of functions: [0-9.]* % of what ran' \
	"the report says which share of the samples has lines"
like "$(cat report)" '^expected overlap with exact counts.*: [0-9]* %' \
	"the report says which overlap is expected"
known=$(sed -n 's/^functions whose scale is known: \([0-9]*\) %.*/\1/p' report)
profile --debug-dir=debug --format=bolt >/dev/null
warned=$(grep -c 'is not known to within' scale)
# 95 may be rounded from either side of the limit.
is "$warned" "$([ "$known" -eq 95 ] && echo "$warned" || echo $((known < 95)))" \
	"a warning says so if scales are not known"
like "$(cat report)" '^functions whose scale is known: [0-9]* % of what ran' \
	"the report says how much is in functions whose counts others' compare with"
like "$(cat report)" '^samples still needed: ' "the report says how many samples are missing"

# Sources that changed after the build are noticed by their checksum (DWARF 5) or by their
# length.
cp prog.c kept.c
sed -i 's/% 3/% 4/' prog.c
profile --debug-dir=debug --format=llvm-sample -o none
like "$(cat err; [ $v -gt 14 ] || echo prog.c is not what it was compiled)" \
	'prog.c is not what it was compiled' "a source that changed is reported"
head -n 12 kept.c >prog.c
profile --debug-dir=debug --format=llvm-sample -o none
like "$(cat err)" 'prog.c is not what it was compiled' "a source that became shorter is reported"
cp kept.c prog.c

# The next build takes the place of the old one.
build new.c
record_program ./prog
profile --debug-dir=debug --format=llvm-unsymbolized -o none
is "$?" 1 "counts by address of two builds are refused"
like "$(cat err)" 'there are 2: name one with --to' "the message says to choose a build with --to"
profile --debug-dir=debug --format=llvm-unsymbolized --to=whole -o addresses
is "$? $(cat err)" "0 " "--to exports counts by address of one build"
profile --debug-dir=debug --format=llvm-sample -o both.prof
is "$? $(cat err)" "0 " "the profiles of two builds are added up, also if one is gone"
is "$(grep -cE '^(renamed|called_so|moved):' both.prof)" 3 \
	"the profile of two builds has all their functions"
is "$(awk '/^[^ ]/ { on = /^moved/ } on && /^ [0-9]/ { split($1, k, "[.:]"); if (k[1] > 7) n++ }
	END { print n + 0 }' both.prof)" 0 "a function that moved has its lines once"
profile --debug-dir=debug --format=llvm-sample --to=whole -o new.prof
is "$?" 0 "--to carries the counts to the new build"
is "$(grep -cE '^renamed:' new.prof)" 0 "a function that the new build lacks is left out"
like "$(cat err)" 'whole has no lines for [0-9.]* % of the counts; 1 of [0-9]* functions are gone' \
	"the warning counts the functions that are gone"
like "$(cat err)" 'renamed: gone, with 100.0 % of its counts' \
	"the warning names the function that is gone"
# shellcheck disable=SC2086
accepts "clang reads the profile of the new build" clang-$v -O2 -Wall $profiling \
	-fprofile-sample-use=new.prof -o fast prog.c

# Builds and recordings that lack something.
sed -i 's/renamed/target_hot/; s/moved/target_cold/' old.c
known()
{
	build old.c
	mv whole prog
	rm t.db
	"$builddir/t/mkdb" t.db "$tmp/prog" || bail "no database"
	profile --format=llvm-sample -o none "$@"
}

flags='-O2 -gline-tables-only'
known
like "$(cat err)" 'whose first line is not known: compile with -fdebug-info-for-profiling' \
	"the warning says that first lines are missing"
flags='-O2 -g'
known
like "$(cat err)" 'no line has a discriminator.*-fdebug-info-for-profiling' \
	"the warning says that discriminators are missing"
known --epoch half
like "$(cat err)" 'samples are few: about [0-9]* more' \
	"the warning says how many samples are missing"

# A text that is included in a function does not give the length of the function's file.
{
	seq -f '/* %g */' 500
	echo 's += i % 3 ? mix(s, i) : 0;'
} >body.inc
sed -i 's/^.*s += i % 3.*/#include "body.inc"/' old.c
flags='-O2 -gdwarf-4 -fdebug-info-for-profiling'
known
is "$(cat err)" "" "text included in a function is not taken for its source file"
