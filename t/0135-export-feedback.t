#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Profiles for compilers of what really ran: recorded, exported, and built with; older
# builds, stripped ones with debug files, and what is warned of.
. "$srcdir/t/tap.sh"

[ -r /proc/sys/kernel/perf_event_paranoid ] || skip_all "the kernel has no perf events"
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
[ "$(id -u)" -eq 0 ] || [ "$paranoid" -le 2 ] ||
	skip_all "kernel.perf_event_paranoid is $paranoid and this is not root"
for v in 19 14; do
	command -v clang-$v >/dev/null && break
done
for need in clang-$v objcopy strip readelf; do
	command -v $need >/dev/null || skip_all "no $need"
done
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

	for (int i = 0; i < 200; i++)
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

record()
{
	cpi record -F 2000 -o t.db -- ./prog >/dev/null 2>log || bail "$(cat log)"
}

profile()
{
	cpi export --db t.db --epoch all --image "$tmp/prog" "$@" 2>err
}

# accepts NAME COMMAND...: it succeeds and says nothing.
accepts()
{
	accepts_name=$1
	shift
	"$@" >said 2>&1
	is "$? $(cat said)" "0 " "$accepts_name"
}

plan 34
build old.c
record
cpi export --db t.db --format=llvm-sample -o none 2>err
is "$?" 1 "a program is asked for where there are several"
like "$(cat err)" 'say which program with --image: there are .*/' "and some are named"
profile --format=llvm-sample -o none
is "$? $(cat none 2>/dev/null)" "1 " "without debug information there is no profile"
like "$(cat err)" '100 % of what ran has no debug information' "and why is said"
profile --debug-dir=debug --format=llvm-sample -o first.prof
is "$? $(cat err)" "0 " "its debug file is found"
like "$(cat first.prof)" '^moved:[1-9][0-9]*:[0-9]' "functions that ran are there"
like "$(cat first.prof)" '^ 4\.[0-9]*: mix:[1-9]\|^ 5[.0-9]*: mix:[1-9]' \
	"with what was inlined into them"
# shellcheck disable=SC2086
accepts "clang takes it" clang-$v -O2 -Wall $profiling \
	-fprofile-sample-use=first.prof -o fast prog.c
is "$(./fast)" "$(./prog)" "the program does what it did"
profile --debug-dir=debug --format=llvm-sample-binary -o first.binary
# shellcheck disable=SC2086
accepts "and the binary form" clang-$v -O2 -Wall $profiling \
	-fprofile-sample-use=first.binary -o fast prog.c
profile --debug-dir=debug --format=bolt -o first.fdata
is "$? $(cat err)" "0 " "jumps are of symbols"
like "$(cat first.fdata)" '^1 moved [0-9a-f]* 1 moved [0-9a-f]* 0 [1-9]' "and are there"

profile --debug-dir=debug --check >report
is "$? $(cat err)" "0 " "a report is written"
like "$(cat report)" 'samples, [89][0-9.]* % of them in code\|samples, 100.0 % of them in code' \
	"what could be analysed is said"
like "$(cat report)" '^matched to lines of functions: [0-9.]* % of what ran' "and matched"
like "$(cat report)" '^expected overlap with exact counts.*: [0-9]* %' "what is expected"
like "$(cat report)" '^samples still needed: ' "and what is missing"

# Sources that changed since: by checksum with DWARF 5, else by their length.
cp prog.c kept.c
sed -i 's/% 3/% 4/' prog.c
profile --debug-dir=debug --format=llvm-sample -o none
like "$(cat err; [ $v -gt 14 ] || echo prog.c is not what it was compiled)" \
	'prog.c is not what it was compiled' "another source is noticed"
head -n 12 kept.c >prog.c
profile --debug-dir=debug --format=llvm-sample -o none
like "$(cat err)" 'prog.c is not what it was compiled' "a shorter one, too"
cp kept.c prog.c

# The next build, in the place of the old one.
build new.c
record
profile --debug-dir=debug --format=llvm-unsymbolized -o none
is "$?" 1 "addresses of two builds do not mix"
like "$(cat err)" 'there are 2: say which with --to' "and that is said"
profile --debug-dir=debug --format=llvm-unsymbolized --to=whole -o addresses
is "$? $(cat err)" "0 " "but of the one that is named they are"
profile --debug-dir=debug --format=llvm-sample -o both.prof
is "$? $(cat err)" "0 " "builds are added up, the one that is gone, too"
is "$(grep -cE '^(renamed|called_so|moved):' both.prof)" 3 "with all their functions"
is "$(awk '/^[^ ]/ { on = /^moved/ } on && /^ [0-9]/ { split($1, k, "[.:]"); if (k[1] > 7) n++ }
	END { print n + 0 }' both.prof)" 0 "a function that moved has its lines once"
profile --debug-dir=debug --format=llvm-sample --to=whole -o new.prof
is "$?" 0 "they are carried to the new build"
is "$(grep -cE '^renamed:' new.prof)" 0 "without what that has not"
like "$(cat err)" 'whole has no lines for [0-9.]* % of the counts; 1 of [0-9]* functions are gone' \
	"which is counted"
like "$(cat err)" 'renamed: gone, with 100.0 % of its counts' "by name"
# shellcheck disable=SC2086
accepts "clang takes it" clang-$v -O2 -Wall $profiling \
	-fprofile-sample-use=new.prof -o fast prog.c

# What is missing in how the program was built, or recorded.
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
	"missing first lines are told"
flags='-O2 -g'
known
like "$(cat err)" 'no line has a discriminator.*-fdebug-info-for-profiling' \
	"missing discriminators are"
known --epoch half
like "$(cat err)" 'samples are few: about [0-9]* more' "and samples, with how many"

# A function's text that is of another file says nothing of its own file's length.
{
	seq -f '/* %g */' 500
	echo 's += i % 3 ? mix(s, i) : 0;'
} >body.inc
sed -i 's/^.*s += i % 3.*/#include "body.inc"/' old.c
flags='-O2 -gdwarf-4 -fdebug-info-for-profiling'
known
is "$(cat err)" "" "what is included in a function is not its file"
