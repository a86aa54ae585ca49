#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi prof --inlines and cpi list --inlines on a database whose every count is known.
. "$srcdir/t/tap.sh"
need cc

# All of target_hot but its return is step(), into which twice() was inlined.
cat >inlined.c <<'END'
#define INLINE static inline __attribute__((always_inline))

INLINE unsigned int twice(unsigned int n)
{
	return n * n + (n >> 3);
}

INLINE unsigned int step(unsigned int n)
{
	return twice(n) + twice(n ^ 5);
}

__attribute__((noinline)) unsigned int target_hot(unsigned int n)
{
	return step(n);
}

__attribute__((noinline)) unsigned int target_cold(unsigned int n)
{
	return target_hot(n) ^ n;
}

int main(int argc, char **argv)
{
	return (int)target_cold((unsigned int)argc) & !argv;
}
END
cc -O2 -g -fcf-protection=none -o target inlined.c 2>log || cc -O2 -g -o target inlined.c ||
	bail "cc failed"
target=$tmp/target
"$builddir/t/mkdb" known.db "$target" || bail "mkdb failed"
CPI_DB=known.db
export CPI_DB

prof()
{
	cpi prof --epoch full --event cpu-clock --image '*target' "$@" 2>err
}

echo "1..15"
# The compiler decides which instruction is sampled; it belongs to one of the two.
prof --inlines >text
like "$(cat text)" "[a-z] (inlined into target_hot) *$target" \
	"a row names the innermost function and its procedure"
like "$(cat text)" "^ *300[.]0 .*  target_cold *$target" "a row without inlining names the procedure"
prof --inlines --format=csv >rows.csv
is "$(head -n 1 rows.csv | cut -d, -f5-)" "inlined,procedure,image,build_id" \
	"CSV has a column for the inlined function"
is "$(awk -F, '$6 == "target_hot" { n += $1 } END { print n }' rows.csv)" 600 \
	"the rows of a procedure add up to its samples"
inlined=$(awk -F, '$5 == "step" || $5 == "twice" { n += $1 } END { print n }' rows.csv)
[ "$inlined" -gt 0 ]
ok $? "some samples are in inlined functions"
is "$(for name in step twice; do
	prof --inlines --procedure $name --format=csv | tail -n +2
done | awk -F, '{ n += $1 } END { print n }')" "$inlined" \
	"--procedure finds an inlined function"
is "$(prof --inlines --by line --format=csv |
	awk -F, '$8 == "target_hot" { n += $1 } END { print n }')" 600 \
		"rows by line and inlined function add up"
for by in image comm; do
	prof --inlines --by $by >text
	is "$?" 2 "--inlines with --by $by is a usage error"
done

cpi list --epoch full --inlines target_hot >text 2>err
is "$(grep -n 'inlined step called at inlined.c:15' text | head -n 1 | sed 's/[^:]*://')" \
	"  inlined step called at inlined.c:15:9" "the listing shows where a function was inlined"
like "$(cat text)" "^    inlined twice called at inlined.c:10:" \
	"the listing shows a function inlined within another"
like "$(cat text)" "^target_hot$" "the listing shows where the procedure's own code continues"
cpi list --epoch full --inlines --source target_hot >text 2>err
is "$(grep -c 'inlined twice called at inlined.c:10:' text)" 2 \
	"a line that was inlined twice is listed for each call"
is "$(cpi list --epoch full --inlines --source --format=csv --event cpu-clock target_hot |
	awk -F, 'NR > 1 { n += $1 } END { print n }')" 600 \
		"the samples of a line that was inlined twice are not doubled"
if command -v python3 >/dev/null; then
	cpi list --epoch full --inlines --format=json target_hot | python3 -c '
import json, sys
chain = max((i["inlined"] for i in json.load(sys.stdin)["instructions"]), key=len)
print([(c["name"], c["file"].rsplit("/")[-1], c["line"]) for c in chain])' >json
	is "$(cat json)" "[('twice', 'inlined.c', 10), ('step', 'inlined.c', 15)]" \
		"JSON has the chain of inlined calls"
else
	skip 1 "no python3 to read JSON with"
fi
