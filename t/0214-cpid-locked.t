#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every reader of the database can hold a lock that keeps cpid from writing. Samples wait
# in memory, and the status names the process. A damaged database does not fill the log.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need python3
plan $((nr_stored_tests + 19))

# lock_shared FILE OFFSET: locks a byte with a descriptor that is open for reading only.
lock_shared()
{
	rm -f locked
	python3 -c "
import fcntl, os, time
fd = os.open('$1', os.O_RDONLY)
fcntl.lockf(fd, fcntl.LOCK_SH, 1, $2)
open('locked', 'w').close()
time.sleep(600)" &
	locker=$!
	tap_pids="$tap_pids $locker"
	await test -e locked || bail 'no lock'
}
is_sampling()
{
	[ "$(cpid_field state)" = sampling ] && [ "$(cpid_field pending_samples)" -lt 200 ]
}
now_ms()
{
	date +%s%3N
}

collect_start -F 200 --sweep 100ms --flush 200ms
await_samples 20
lock_shared t.db-shm 120
await is_blocked_by $locker
is $? 0 'the status names the process that holds the lock'
is "$(cpid_field state)" 'cannot store' 'the state is "cannot store"'
longest=0
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	begun=$(now_ms)
	cpid_ask status >status.txt
	took=$(($(now_ms) - begun))
	[ $took -le $longest ] || longest=$took
done
bound $longest '<=' 1000 'cpid answers 20 status requests within a second each, in ms'
begun=$(now_ms)
cpid_ask flush >reply
is $? 1 'a flush request fails while the database is locked'
bound $(($(now_ms) - begun)) '<=' 1500 'the flush request fails within 1.5 s, in ms'
bound "$(cpid_field flush_max_s)" '<=' 0.5 'no flush takes longer than 0.5 s'
like "$(cpid_ask mark 'while locked')" 'marked .*; it waits in memory' \
	'a mark waits in memory, and the answer says so'
is "$(grep -c "process $locker (python3) holds a lock" t.log)" 1 'the log names the process once'
# Once, if the first look at who holds the lock gets no answer in its time.
bound "$(grep -c 'database is locked' t.log)" '<=' 1 'the log does not repeat the error of SQLite'
check_status 'while the database is locked'
kill $locker
wait $locker 2>/dev/null
await is_sampling
is $? 0 'after the lock is gone, the waiting samples are stored'
like "$(cat t.log)" 'stored the waiting samples' 'the log says that waiting samples were stored'
collect_stop
check_stored
is "$(sql 'SELECT text FROM mark')" 'while locked' 'the mark that waited is stored'
is "$(sql 'SELECT name FROM loss WHERE kind = 0 AND class = 1')" '' 'no sample is lost'

rm -f t.db* t.log
collect_start -F 200 --sweep 100ms --flush 200ms --capture off
await_samples 20
cpid_ask flush >/dev/null
sqlite3 -cmd '.timeout 10000' t.db "UPDATE profile SET counts = x'00ff'"
is_failing()
{
	[ "$(cpid_field state)" = 'cannot store' ]
}
await is_failing
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	cpid_ask flush >/dev/null
done
bound "$(grep -c 'error: ' t.log)" '<=' 3 'a damaged profile makes at most 3 errors in the log'
cpid_ask epoch >/dev/null
await is_sampling
is $? 0 'a new epoch stores samples again'
like "$(cat t.log)" 'after [0-9]* tries; messages left out: [1-9]' \
	'the log counts the messages that were left out'
collect_stop
