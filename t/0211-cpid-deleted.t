#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The database is deleted, replaced or linked while cpid collects into it. All samples are
# then in a file at its path, or in a file beside it that the log names.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
plan 76

start()
{
	rm -rf t.log t.db* other*
	collect_start -F 200 --sweep 100ms --flush 200ms --capture off "$@"
	await has_stored 20 || bail 'nothing is stored'
}
has_stored()
{
	[ "$(status_of stored.$event)" -ge "$1" ]
}
status_of()
{
	cpid_field "$1" | grep . || echo 0
}
is_mended()
{
	[ "$(cpid_field db_mended)" = "$1" ] && [ "$(cpid_field state)" = sampling ]
}
# received_in FILE...: the number of samples that the databases have received.
received_in()
{
	for file; do
		sql 'SELECT total(received) FROM tally WHERE kind = 0' "$file"
	done | awk '{ n += $1 } END { print n }'
}
# check_whole NAME FILE...: the files have all samples of the last status before the end.
check_whole()
{
	check_name=$1
	shift
	bound "$(received_in "$@")" '>=' "$(status_sum status.txt received.)" \
		"$check_name: every received sample is in the database"
	is "$(sql 'SELECT name FROM loss WHERE kind = 0 AND class = 1' "$1")" '' \
		"$check_name: no sample is lost"
	try "$check_name: cpi cat --check finds no damage" cpi cat --check --db "$1"
}
before_end()
{
	cpid_ask status >status.txt
}

start
rm t.db t.db-wal t.db-shm
await is_mended 1
is $? 0 'deleted: cpid copies the database back and goes on'
try 'deleted: the database is at its path again' test -s t.db
is "$(grep -c 'it was deleted' t.log)" 1 'deleted: the log says once that it was deleted'
like "$(cat t.log)" 'it was copied back.*nothing was lost' \
	'deleted: the log says that nothing was lost'
is "$(cpid_field retain_bytes_limit)" 2147483648 'deleted: retention applies to the copy'
stored=$(status_of stored.$event)
await has_stored $((stored + 20))
is $? 0 'deleted: flushes go on'
before_end
collect_stop
check_whole 'deleted' t.db
is "$(sql 'SELECT count(*) FROM run')" 1 'deleted: the run goes on'
is "$(ls t.db.deleted-* 2>/dev/null)" '' 'deleted: no copy is left over'
check_stored

start
rm t.db t.db-wal t.db-shm t.db-lock
before_end
collect_stop
try 'deleted just before the end: the database is at its path again' test -s t.db
check_whole 'deleted just before the end' t.db

start
cp t.db other.db
mv other.db t.db
await is_mended 1
is $? 0 'replaced by a CPI database: cpid goes on in that database'
saved=$(echo t.db.deleted-*)
try 'replaced by a CPI database: a file beside it has the stored samples' cpi cat --check --db "$saved"
like "$(cat t.log)" "what was stored until .* is in .*$saved" \
	'replaced by a CPI database: the log names the file'
before_end
collect_stop
is "$(sql 'SELECT count(*) FROM run')" 2 'replaced by a CPI database: cpid begins a run in it'
try 'replaced by a CPI database: cpi epoch import adds the file' cpi epoch import --db t.db "$saved"
check_whole 'replaced by a CPI database' t.db

start
echo 'this is no database' >other.txt
mv other.txt t.db
cannot_store()
{
	[ "$(cpid_field state)" = 'cannot store' ] &&
		cpid_field store_error | grep -q 'not in a format'
}
await cannot_store
is $? 0 'replaced by a text: the state is "cannot store"'
try 'replaced by a text: a file beside it has the stored samples' cpi cat --check --db t.db.deleted-*
bound "$(grep -c . t.log)" '<=' 12 'replaced by a text: the log does not repeat the error'
rm t.db
await is_mended 1
is $? 0 'text removed: cpid copies the database back'
before_end
collect_stop
check_whole 'text removed' t.db

start
echo 'this is no database' >other.txt
mv other.txt t.db
await cannot_store
before_end
collect_stop
check_whole 'text until the end' t.db.deleted-*
like "$(cat t.log)" 'all that was collected is in .*t.db.deleted-' \
	'text until the end: the log names the file with all samples'

for file in t.db-wal t.db-shm; do
	start
	rm $file
	await is_mended 1
	is $? 0 "$file deleted: cpid opens the database again"
	before_end
	collect_stop
	check_whole "$file deleted" t.db
done

start
mkdir away
mv t.db-wal away
mkdir t.db-wal
cannot_open()
{
	[ "$(cpid_field state)" = 'cannot store' ]
}
await cannot_open
is $? 0 'a folder in the place of t.db-wal: the state is "cannot store"'
rmdir t.db-wal
mv away/t.db-wal .
await is_mended 1
is $? 0 't.db-wal put back: cpid opens the database again'
before_end
collect_stop
check_whole 't.db-wal put back' t.db

start
rm t.db t.db-wal t.db-shm t.db-lock
mkdir t.db-lock
try 'a folder in the place of t.db-lock: the copy is at the path' await test -s t.db
await cannot_open
rm t.db
rmdir t.db-lock
await is_mended 1
is $? 0 'copy deleted: cpid copies the database back again'
before_end
collect_stop
check_whole 'copy deleted' t.db

start
ln t.db other.db
linked()
{
	[ "$(cpid_field db_links)" = 2 ]
}
await linked
is $? 0 'a hard link is shown by the status'
is "$(grep -c 'hard links.*remove' t.log)" 1 'a hard link is logged once'
timeout 300 cpid --db other.db --socket other.sock $cpid_rate 2>second.log
is $? 1 'a second daemon on the hard link is refused'
like "$(cat second.log)" "process $cpid_pid (cpid) collects into the same file" \
	'the second daemon names the first'
collect_stop

if mkdir disk && mount -t tmpfs -o size=1m cpi-test disk 2>/dev/null; then
	db=disk/t.db
	start
	rm disk/t.db disk/t.db-wal disk/t.db-shm
	cat /dev/zero >disk/filler 2>/dev/null
	is_short()
	{
		grep -q 'No space left.*tried again' t.log
	}
	await is_short
	cpid_ask quit >/dev/null
	cpid_wait
	is "$cpid_status" 1 'no space for the copy: cpid exits with 1'
	like "$(cat t.log)" 'cannot be copied: what was stored until .* is lost' \
		'no space for the copy: the log says what is lost'
	umount -l disk
else
	skip 2 'a tmpfs cannot be mounted here'
fi
