#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi diff of two builds of a program, of which the second replaces the first. Procedures
# that were renamed, slightly changed or split are found by their code, with and without
# symbols.
. "$srcdir/t/tap.sh"
. "$srcdir/t/runs.sh"
CPI_DB=$tmp/builds.db
export CPI_DB
old=$builddir/t/programs/builds_old
new=$builddir/t/programs/builds_new

# record_build LABEL BUILD [strip]: the program is always the same file
record_build()
{
	rm -f prog
	cp "$2" prog
	if [ "${3:-}" ]; then
		strip prog || return 1
	fi
	record_run "$1" ./prog 40000
}
record_build old "$old" || skip_all "cannot record here: $(tail -n 1 record.err)"
record_build new "$new" || bail "cannot record: $(tail -n 1 record.err)"

# name_of BUILD PROCEDURE: its name in a stripped program, which is where it begins in the
# file.
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

# pair A: the state and the other name of A's row
pair()
{
	rows "$from" "$to" |
		awk -F, -v a="$1" '$17 == a { print $14, $18 }'
}
from=old to=new
is "$(pair blend)" "both mix_colours" "a renamed procedure is found"
is "$(pair count)" "both tally_bits" "a renamed and slightly changed procedure is found"
is "$(pair keep)" "both keep" "an unchanged procedure is found"
is "$(pair chain)" "both chain" "a split procedure is found by its name"
is "$(pair walk)" "new walk" "the other half of a split procedure is new"
is "$(pair old)" "gone old" "a procedure that was removed is gone"
is "$(pair fresh)" "new fresh" "a procedure that was added is new"
cpi diff --image prog --history=none old new >text
like "$(cat text)" 'blend = mix_colours' "the text shows both names of a renamed procedure"
from=new to=old
is "$(pair mix_colours)" "both blend" "a renamed procedure is found the other way round"
is "$(pair tally_bits)" "both count" "a slightly changed procedure is found the other way round"

is "$(rows old new | awk -F, '$17 == "blend" { print ($15 >= 0.9) }')" 1 \
	"the code of a renamed procedure is at least 90 % alike"

if ! command -v strip >/dev/null || ! command -v nm >/dev/null ||
	! command -v readelf >/dev/null; then
	skip 7 "no binutils"
	exit 0
fi
# A stripped program has the build id of the other one, so it needs another database.
CPI_DB=$tmp/bare.db
record_build bare_old "$old" strip || bail "cannot record: $(tail -n 1 record.err)"
record_build bare_new "$new" strip || bail "cannot record: $(tail -n 1 record.err)"
from=bare_old to=bare_new
for names in keep:keep blend:mix_colours count:tally_bits; do
	is "$(pair "$(name_of "$old" ${names%:*})")" \
		"both $(name_of "$new" ${names#*:})" "stripped: ${names%:*} is found"
done
halves()
{
	printf '%s\n' "$(name_of "$new" walk)" "$(name_of "$new" chain)" | sort | tr '\n' ' '
}
chain=$(name_of "$old" chain)
is "$(pair "$chain" | sed -n 's/^both //p' | sed 's/ + /\n/' | sort | tr '\n' ' ')" "$(halves)" \
	"stripped: both halves of a split procedure are found"
from=bare_new to=bare_old
is "$(rows bare_new bare_old | awk -F, -v b="$chain" '$14 == "both" && $18 == b { print $17 }' |
	sed 's/ + /\n/' | sort | tr '\n' ' ')" "$(halves)" "stripped: both halves of a joined procedure are found"
from=bare_old to=bare_new
is "$(pair "$(name_of "$old" old)" | grep -c "^gone ")" 1 "stripped: a procedure that was removed is gone"
# Its place may be where another procedure of the first build was.
is "$(pair "$(name_of "$new" fresh)" | grep -c "^new ")" 1 "stripped: a procedure that was added is new"
