#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi mark on a database of known epochs: marks are listed, shown by reports, choose epochs,
# and go along with them.
. "$srcdir/t/tap.sh"
. "$srcdir/t/known.sh"
plan 37

at()
{
	cpi mark --at "2026-01-02T03:$1" "$2"
}
is "$(at 00:30 'release 1')" "marked 2026-01-02T03:00:30Z in $tmp/known.db" \
	'cpi mark --at says which time it marked, and where'
at 05:00 'between' >/dev/null && at 11:20 'release 2' >/dev/null
is "$(cpi mark --list)" "$(cat <<'END'
time                  host  mark
2026-01-02T03:00:30Z  web1  release 1
2026-01-02T03:05:00Z  web1  between
2026-01-02T03:11:20Z  web1  release 2
END
)" 'cpi mark --list has every mark'
is "$(cpi mark --list --limit 1 --format=csv)" "$(cat <<'END'
at,host,text
2026-01-02T03:11:20Z,web1,release 2
END
)" '--limit 1 lists the newest mark'
is "$(cpi mark --list --epoch 1..2 --format=csv | sed 1d)" '2026-01-02T03:00:30Z,web1,release 1' \
	'--epoch lists the marks of these epochs'
is "$(TZ=IST-5:30 cpi mark --list --local --limit 1 --format=csv | sed 1d)" \
	'2026-01-02T08:41:20+05:30,web1,release 2' '--local shows local times'
is "$(cpi epoch list --epoch 1..3 | awk '{ print $1, $NF }' | sed 1d)" "$(cat <<'END'
1 full
2026-01-02T03:00:30Z 1
2 half
2026-01-02T03:05:00Z between
3 web1
2026-01-02T03:11:20Z 2
END
)" 'cpi epoch list has the marks among the epochs'
is "$(cpi epoch list --limit 1 | sed 1d | awk '{ print $1 }' | tr '\n' ' ')" \
	'3 2026-01-02T03:11:20Z ' 'with a limit it has the marks since the first epoch that it lists'

cpi prof --epoch 1..2 >prof
like "$(cat prof)" '^Mark: 2026-01-02T03:00:30Z, release 1$' 'a report shows the mark in its epochs'
unlike "$(cat prof)" 'release 2' 'a report shows no other mark'
for i in 1 2 3 4; do
	at 11:3$i "m$i" >/dev/null
done
cpi prof --epoch all >prof
is "$(grep -c '^Mark: ' prof)" 4 'a report shows four marks at most'
like "$(cat prof)" "^3 earlier marks: 'cpi mark --list' shows them" 'a report says how many other marks there are'
cpi diff 1 3 >diff 2>/dev/null
like "$(cat diff)" '^Mark: 2026-01-02T03:00:30Z, release 1$' 'cpi diff shows the marks of both sides'

ids()
{
	cpi epoch list --epoch "$1" --format=csv | sed 1d | cut -d, -f1 | tr '\n' ' '
}
is "$(ids 'mark:release 1')" '1 ' 'mark:TEXT chooses the epoch of the mark'
is "$(ids 'mark:release 1..')" '2 3 ' 'mark:TEXT.. chooses the epochs after it'
is "$(ids '..mark:release 2')" '1 2 ' '..mark:TEXT chooses the epochs before it'
is "$(ids 'mark:release 1..mark:release 2')" '2 ' 'two marks choose the epochs between them'
is "$(ids 'mark:release 2..')" '3 ' 'if no other epoch is left, the one of the mark is chosen'
cpi prof --epoch 'mark:relaese 1..' 2>err
is "$?" 1 'an unknown mark is an error'
like "$(cat err)" "there is no mark 'relaese 1': did you mean 'release 1'?" \
	'the message suggests a near one'
cpi prof --epoch 'mark:between' 2>err
like "$(cat err)" "there is no epoch 'mark:between': 'cpi epoch list'" \
	'a mark between two epochs names none'
like "$(cpi help --values=epochs)" '^mark:release 2$' 'the completion proposes marks'

for bad in '' "$(printf 'two\nlines')" "$(printf '\033[31m')" "$(printf '\377')" \
	"$(printf '%064d' 0)"; do
	cpi mark "$bad" 2>err
	is "$?" 2 'a text that is empty, long or harmful is refused'
done
like "$(cat err)" 'a mark is 1 to 63 bytes of text' 'the message says what a mark may be'
cpi mark --at 2999-01-01 future 2>err
is "$?" 2 'a time in the future is refused'
cpi mark --at noon x 2>err
is "$? $(grep -c "'noon' is no time" err)" '2 1' 'a text that is not a time is refused'
cpi mark 2>err
is "$?" 2 'cpi mark without a text is a usage error'
cpi mark --list x 2>err
is "$?" 2 'cpi mark --list takes no text'
cpi mark --db none.db x 2>err
is "$?" 1 'cpi mark does not make a database'
cpi mark now >/dev/null
is "$(cpi mark --list --format=csv | tail -n 1 | cut -d, -f3)" now 'without --at the mark is of now'

cpi epoch export e.db 1 >/dev/null
is "$(cpi mark --list --db e.db --format=csv | sed 1d | cut -d, -f3)" 'release 1' \
	'an export has the marks of its epochs'
cpi epoch export e2.db 3 >/dev/null
cpi epoch import e2.db --db e.db >/dev/null
is "$(cpi mark --list --db e.db --format=csv | sed 1d | cut -d, -f3 | tr '\n' ' ')" \
	'release 1 release 2 m1 m2 m3 m4 ' 'an import adds the marks of its epochs'
cpi epoch label 1 '' && cpi epoch label 2 '' && cpi epoch rm 1 2
is "$(cpi mark --list --format=csv | sed 1d | cut -d, -f3 | tr '\n' ' ')" \
	'release 2 m1 m2 m3 m4 now ' 'marks from before the first epoch are removed with the others'
cpi cat --check >/dev/null
is "$?" 0 'the database is undamaged'
