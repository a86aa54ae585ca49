#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Hostile names put no control characters on a terminal and no formula in a spreadsheet.
. "$srcdir/t/tap.sh"
. "$srcdir/t/known.sh"
need iconv sqlite3

# Each of these changes what a terminal shows, as UTF-8 or as a byte.
marks='033 007 177 302\233 302\205 233 330\234 342\200\213 342\200\216 342\200\250
	342\200\251 342\200\256 342\201\246 342\201\251 357\273\277 363\240\201\201'
hostile=
for mark in $marks; do
	hostile="$hostile$(printf "\\$mark")x"
done

# clean FILE NAME: the file has none of the marks, and is valid UTF-8.
clean()
{
	clean_status=0
	for mark in $marks; do
		[ "$mark" = 233 ] && continue # is no UTF-8, or a part of another letter
		grep -qF "$(printf "\\$mark")" "$1" || continue
		note "\\$mark is there"
		clean_status=1
	done
	iconv -f UTF-8 -t UTF-8 "$1" >iconv.out 2>&1 || clean_status=1
	ok $clean_status "$2"
}

cp known.db plain.db
sqlite3 known.db "UPDATE image SET name = '/x/$hostile' WHERE name LIKE '%app';
	UPDATE comm SET comm = '$hostile' WHERE comm = 'sh';
	UPDATE epoch SET label = '$hostile' WHERE id = 2; UPDATE platform SET host = '$hostile'" || bail "sqlite3 fails"

plan 29

for format in text csv json; do
	for command in prof 'prof --by image' 'prof --by comm' cat 'epoch list' hot; do
		cpi $command --epoch all --format=$format >out 2>err || note "$(cat err)"
		clean out "cpi $command --format=$format has no control characters"
	done
done
cpi prof --epoch all --by comm --format=csv >out 2>err
try 'the hostile name is shown with its letters' grep -q '?x?x?x' out

# Messages
cpi prof --db "no$hostile.db" 2>err
clean err 'a message about a file has no control characters'
like "$(cat err)" '?x?x?x' 'the message shows the letters of the hostile name'
cpid --db "no$hostile/t.db" --socket t.sock --log t.log 2>err
clean t.log 'the log file has no control characters'
if can_sample; then
	like "$(cat t.log)" '?x?x?x' 'the log file shows the letters of the hostile name'
else
	skip 1 'sampling the whole system is not permitted here'
fi

# Formulas
rename()
{
	cp plain.db known.db
	sqlite3 known.db "UPDATE comm SET comm = '$1' WHERE comm = 'sh'" ||
		bail "sqlite3 fails"
	cpi prof --by comm --epoch all --format=csv 2>err | grep -F "$2"
}
like "$(rename '=1+cmd|x' cmd)" "'=1+cmd|x" "a name that begins with = is quoted"
like "$(rename '@SUM(A1,A2)' SUM)" "\"'@SUM(A1,A2)\"" \
	"a name that begins with @ is quoted within a quoted field"
like "$(rename '-2+3' 2+3)" "'-2+3" "a name that begins with - is quoted"
like "$(rename "''=x" "=x")" "''=x" "a name that begins with a quote and = gets another quote"
like "$(rename 'a=b-c' a=b)" "[^']a=b-c" "a name with = in the middle is unchanged"
unlike "$(cpi diff --format=csv full half 2>err)" ",'-" "negative numbers are not quoted"
