#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi diff of two builds of a program, the second in the place of the first: what was
# renamed, changed a little or split is found by its code, with symbols or without.
. "$srcdir/t/tap.sh"

case $(uname -m) in
x86_64 | aarch64) ;;
*) skip_all "no decoder for $(uname -m)" ;;
esac
CPI_DB=$tmp/builds.db
export CPI_DB
old=$builddir/t/programs/builds_old
new=$builddir/t/programs/builds_new

# record LABEL BUILD [strip]: the program is always the same file
record()
{
	rm -f prog
	cp "$2" prog
	if [ "${3:-}" ]; then
		strip prog || return 1
	fi
	cpi record -F 1000 -o "$CPI_DB" -l "$1" -- ./prog 40000 >/dev/null 2>record.err
}
record old "$old" || skip_all "cannot record here: $(tail -n 1 record.err)"
record new "$new" || bail "cannot record: $(tail -n 1 record.err)"

# Where procedures begin in the file, which is what those of a stripped one are called.
name_of()
{
	name_of_base=$(readelf -lW "$1" | awk '$1 == "LOAD" { print $3; exit }')
	name_of_start=$(nm "$1" | awk -v name="$2" '$3 == name { print $1 }')
	printf '[0x%x]' $((0x$name_of_start - name_of_base))
}

# rows FROM TO: of the program
rows()
{
	cpi diff --image prog --history=none --format=csv "$1" "$2" 2>/dev/null
}
plan 18

# pair A: how A's row ended
pair()
{
	rows "$from" "$to" |
		awk -F, -v a="$1" '$17 == a { print $14, $18 }'
}
from=old to=new
is "$(pair blend)" "both mix_colours" "a procedure that was renamed"
is "$(pair count)" "both tally_bits" "one that was renamed, and changed a little"
is "$(pair keep)" "both keep" "one that is the same"
is "$(pair chain)" "both chain" "one that was split keeps its name"
is "$(pair walk)" "new walk" "and what came out of it is new"
is "$(pair old)" "gone old" "what has no like is gone"
is "$(pair fresh)" "new fresh" "or new"
cpi diff --image prog --history=none old new >text
like "$(cat text)" 'blend = mix_colours' "text shows both names"
from=new to=old
is "$(pair mix_colours)" "both blend" "the other way round"
is "$(pair tally_bits)" "both count" "too"

is "$(rows old new | awk -F, '$17 == "blend" { print ($15 >= 0.9) }')" 1 \
	"renamed code is nearly all alike"

if ! command -v strip >/dev/null || ! command -v nm >/dev/null ||
	! command -v readelf >/dev/null; then
	skip 7 "no binutils"
	exit 0
fi
# By its build id a stripped program is the one that is not: not in the same database.
CPI_DB=$tmp/bare.db
record bare_old "$old" strip || bail "cannot record: $(tail -n 1 record.err)"
record bare_new "$new" strip || bail "cannot record: $(tail -n 1 record.err)"
from=bare_old to=bare_new
for names in keep:keep blend:mix_colours count:tally_bits; do
	is "$(pair "$(name_of "$old" ${names%:*})")" \
		"both $(name_of "$new" ${names#*:})" "stripped: ${names%:*}"
done
halves()
{
	printf '%s\n' "$(name_of "$new" walk)" "$(name_of "$new" chain)" | sort | tr '\n' ' '
}
chain=$(name_of "$old" chain)
is "$(pair "$chain" | sed -n 's/^both //p' | sed 's/ + /\n/' | sort | tr '\n' ' ')" "$(halves)" \
	"stripped: both halves of what was split"
from=bare_new to=bare_old
is "$(rows bare_new bare_old | awk -F, -v b="$chain" '$14 == "both" && $18 == b { print $17 }' |
	sed 's/ + /\n/' | sort | tr '\n' ' ')" "$(halves)" "and what became one"
from=bare_old to=bare_new
is "$(pair "$(name_of "$old" old)" | grep -c "^gone ")" 1 "stripped: what has no like is gone"
# Where it stands may be where another procedure of the first one did.
is "$(pair "$(name_of "$new" fresh)" | grep -c "^new ")" 1 "stripped: or new"
