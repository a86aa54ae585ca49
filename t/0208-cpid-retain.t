#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpid rolls up what is old while it samples, keeps its file small, and goes on after
# a kill.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
plan 16

"$builddir/t/mkyear" $db 96 100 1500 7 >made || bail 'no database'
sed 's/^/# /' made
year()
{
	cpi prof --db $db --epoch 1..96 --by image --format csv 2>/dev/null
}
totals()
{
	sql 'SELECT image, stream, sum(total) FROM profile WHERE epoch <= 96 GROUP BY 1, 2'
}
rolled()
{
	[ "$(cpid_field retain_days_rolled_up)" -ge "$1" ]
}
year >before
totals >totals.before

cpid --retain hourly:7d,weekly:3d 2>error
is $? 2 'a policy that is none is refused'
try 'with what is wrong about it' grep -q 'weekly' error

collect_start --retain hourly:7d --flush 200ms
await 60 rolled 1
kill -KILL $cpid_pid
cpid_wait
totals >totals.killed
is "$(diff totals.before totals.killed)" '' 'a kill costs no sample'
collect_start --retain hourly:7d --flush 200ms
all_days()
{
	[ "$(sql 'SELECT count(*) FROM epoch WHERE id <= 96')" = 4 ] &&
		[ "$(sql 'SELECT count(*) FROM roll')" = 0 ]
}
await 60 all_days
is $? 0 'each day is one epoch, after another start too'
year >after
totals >totals.after
is "$(grep -v '^#' before | diff - after)" '' 'the profile is that of the hours'
is "$(diff totals.before totals.after)" '' 'to the sample'
is "$(sql 'SELECT DISTINCT n FROM spread')" 24 'procedures know of 24 hours'
is "$(sql "SELECT count(*) FROM rolled WHERE epoch <= 96")" 96 'and these of their times'
note "$(cpid_ask status | grep -E '^(retain|flush)_')"
collect_stop
try 'the database is whole' cpi cat --check --db $db

db=big.db
"$builddir/t/mkyear" $db 96 100 12000 8 >made || bail 'no database'
cpi epoch label --db $db 1 kept
size=$(wc -c <$db)
bound "$size" '>' 1200000 'the database is larger than the bound will be'
# What is captured comes in pieces that are large beside so small a bound.
collect_start --retain size:1M --flush 200ms --capture off
small()
{
	[ "$(cpid_field db_bytes)" -le 1048576 ]
}
await 60 small
is $? 0 'by size the oldest go'
is "$(sql "SELECT label FROM epoch WHERE id = 1")" kept 'but one that has a label'
cpid_ask flush >/dev/null
bound "$(cpid_field db_bytes)" '<=' $((1048576 + 1048576 / 20)) 'the bound is kept'
note "$size bytes before, $(cpid_ask status | grep -E '^(retain|flush|db)_')"
collect_stop
try 'the database is whole still' cpi cat --check --db $db
