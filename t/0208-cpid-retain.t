#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpid rolls up old epochs while it samples, keeps its file small, and continues after a
# kill.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
plan 16

"$builddir/t/mkyear" $db 96 100 1500 7 >made || bail 'no database'
sed 's/^/# /' made
# bridge EPOCH: adds a flush that lasts until now. Without it, the clock would seem to be
# wrong, because the made-up year ended long ago.
bridge()
{
	sqlite3 $db "INSERT INTO flush SELECT run, 100000, epoch,
		(strftime('%s') - 300000) * 1000000000, strftime('%s') * 1000000000,
		300000000000000, 0, 0, 0, 0 FROM flush WHERE epoch = $1 LIMIT 1"
}
bridge 96
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
is $? 2 '--retain with an unknown policy is a usage error'
try 'the message names the unknown policy' grep -q 'weekly' error

collect_start --retain hourly:7d --flush 200ms
await rolled 1
kill -KILL $cpid_pid
cpid_wait
totals >totals.killed
is "$(diff totals.before totals.killed)" '' 'a kill during the roll-up loses no sample'
collect_start --retain hourly:7d --flush 200ms
all_days()
{
	[ "$(sql 'SELECT count(*) FROM epoch WHERE id <= 96')" = 4 ] &&
		[ "$(sql 'SELECT count(*) FROM roll')" = 0 ]
}
await all_days
is $? 0 'after a restart every day is one epoch'
year >after
totals >totals.after
is "$(grep -v '^#' before | diff - after)" '' 'cpi prof shows the same before and after the roll-up'
is "$(diff totals.before totals.after)" '' 'the totals are the same before and after the roll-up'
is "$(sql 'SELECT DISTINCT n FROM spread')" 24 'each procedure has the spread over 24 hours'
is "$(sql "SELECT count(*) FROM rolled WHERE epoch <= 96")" 96 'the times of the 96 hours are kept'
note "$(cpid_ask status | grep -E '^(retain|flush)_')"
collect_stop
try 'cpi cat --check finds no damage after the roll-up' cpi cat --check --db $db

db=big.db
"$builddir/t/mkyear" $db 96 100 12000 8 >made || bail 'no database'
cpi epoch label --db $db 1 kept
size=$(wc -c <$db)
bound "$size" '>' 1200000 'the database is larger than the size limit'
# Captured code comes in pieces that are large compared with this limit.
collect_start --retain size:1M --flush 200ms --capture off
small()
{
	[ "$(cpid_field db_bytes)" -le 1048576 ]
}
await small
is $? 0 '--retain size:1M shrinks the database'
is "$(sql "SELECT label FROM epoch WHERE id = 1")" kept 'an epoch with a label is kept'
cpid_ask flush >/dev/null
bound "$(cpid_field db_bytes)" '<=' $((1048576 + 1048576 / 20)) 'the size limit is kept within 5 %'
note "$size bytes before, $(cpid_ask status | grep -E '^(retain|flush|db)_')"
collect_stop
try 'cpi cat --check finds no damage after the removal' cpi cat --check --db $db
