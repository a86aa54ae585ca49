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
	for n in 1 2 3; do
		cpi record -F 1000 -o "$CPI_DB" -l "$1" -- ./prog 8000 >/dev/null 2>record.err ||
			return 1
	done
}
record old "$old" || skip_all "cannot record here: $(tail -n 1 record.err)"
record new "$new" || bail "cannot record: $(tail -n 1 record.err)"

# Where procedures begin in the file, as a stripped one's are called by.
name_of()
{
	nm "$1" | awk -v name="$2" '$3 == name { sub(/^0*/, "", $1); print "[0x" $1 "]" }'
}
plan 17

# pair A [DATABASE...]: how A's row ended
pair()
{
	cpi diff --image prog --format=csv "$from" "$to" 2>/dev/null |
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
cpi diff --image prog old new >text
like "$(cat text)" 'blend = mix_colours' "text shows both names"
from=new to=old
is "$(pair mix_colours)" "both blend" "the other way round"
is "$(pair tally_bits)" "both count" "too"

# similarity A: of its row
similarity()
{
	cpi diff --image prog --format=csv old new 2>/dev/null |
		awk -F, -v a="$1" '$17 == a { print $15 }'
}
bound "$(similarity blend | cut -c-4 | tr -d .)" '>=' 90 "renamed code is nearly all alike" ||
	note "$(similarity blend)"

if ! command -v strip >/dev/null || ! command -v nm >/dev/null; then
	skip 6 "no strip"
	exit 0
fi
record bare_old "$old" strip || bail "cannot record: $(tail -n 1 record.err)"
record bare_new "$new" strip || bail "cannot record: $(tail -n 1 record.err)"
from=bare_old to=bare_new
for names in keep:keep blend:mix_colours count:tally_bits; do
	is "$(pair "$(name_of "$old" ${names%:*})")" \
		"both $(name_of "$new" ${names#*:})" "stripped: ${names%:*}"
done
chain=$(pair "$(name_of "$old" chain)")
case $chain in
"both $(name_of "$new" chain)" | "both $(name_of "$new" walk)") ok "stripped: one half of chain" ;;
*) not_ok "stripped: one half of chain" "$chain" ;;
esac
is "$(pair "$(name_of "$old" old)" | cut -d' ' -f1)" gone "stripped: what has no like is gone"
is "$(pair "$(name_of "$new" fresh)" | cut -d' ' -f1)" new "stripped: or new"
