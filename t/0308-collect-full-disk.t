#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The database's disk is full: cpid says so, keeps the samples, and stores them when there
# is room again. Samples beyond --max-memory are lost as no_space.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need prlimit
[ "$(id -u)" -eq 0 ] || skip_all 'mounting takes root'
mkdir disk && mount -t tmpfs -o size=16m cpi-test disk 2>/dev/null ||
	skip_all 'a tmpfs cannot be mounted here'
umount_disk()
{
	cd / && umount -l "$tmp/disk"
	tap_end
}
trap umount_disk EXIT
plan $((4 * nr_stored_tests + 34))
db=disk/t.db

fill()
{
	cat /dev/zero >disk/filler 2>/dev/null
	[ "$(df --output=avail disk | tail -n 1)" -eq 0 ]
}

has_dropped()
{
	[ "$(cpid_field lost.no_space)" ]
}

# Something new for the database in each round.
work()
{
	for program in burn_a burn_b burn_c; do
		cp "$programs/$program" "copy_$1_$program"
		"./copy_$1_$program" 50
	done
}

collect_start -F 1000 --sweep 100ms
work 1
try 'a flush is stored' cpid_ask flush
try 'the disk is full' fill
work 2
cpid_ask flush >reply
is $? 1 'a flush fails while the disk is full'
like "$(cat reply)" 'No space left' 'the failed flush names the reason'
is "$(cpid_field state)" 'cannot store' 'the status says that nothing can be stored'
like "$(cpid_field store_error)" 'No space left' 'the status has the reason'
try 'the log says that samples are kept' grep -q 'No space left.*kept in memory' t.log
bound "$(cpid_field pending_samples)" '>' 0 'samples are kept in memory'
check_status 'while the disk is full'
for round in 1 2 3 4 5 6 7 8; do
	cpid_ask flush >/dev/null
done
is "$(grep -c 'disk is full' t.log)" 1 'the log says only once that the disk is full'
is "$(grep -c 'No space left' t.log)" 1 'the log says only once that samples are kept'
rm disk/filler
try 'a flush is stored when there is room again' cpid_ask flush
is "$(cpid_field state)" sampling 'the status says that cpid samples again'
bound "$(sql "SELECT total(total) FROM profile p JOIN image i ON i.id = p.image
	WHERE i.name GLOB '*/copy_2_*'")" '>' 0 'the samples that were kept are stored'
like "$(cat t.log)" 'stored the waiting samples, after [1-9][0-9]* tries; messages left out: [1-9]' \
	'the log says that storing works again, and after how many tries'
collect_stop
check_stored
is "$(sql 'SELECT name FROM loss WHERE kind = 0 AND class = 1')" '' 'no sample is lost'

rm -f disk/t.db*
collect_start -F 1000 --sweep 100ms --flush 200ms --max-memory 16K
fill
for round in 1 2 3 4 5 6; do
	work $round
done
await has_dropped
ok $? 'samples are dropped when --max-memory is reached'
check_status 'while samples are dropped'
bound "$(grep -c 'full\|No space\|is lost' t.log)" '<=' 6 'the log has at most six lines about it'
rm disk/filler
collect_stop
bound "$(sql 'SELECT sum(received) FROM tally WHERE kind = 0')" '>=' "$(status_sum status.txt received.)" \
	'the database counts every sample as received'
bound "$(sql "SELECT total(n) FROM loss WHERE kind = 0 AND class = 1 AND name = 'no_space'")" '>' 0 \
	'samples that did not fit into memory are lost as no_space'
check_stored

# The kernel's names and code are captured as well. They need more memory than this.
rm -f disk/t.db*
collect_start -F 5000 --sweep 100ms --flush 200ms --max-memory 256K --by process
fill
most=0
look()
{
	used=$(cpid_field memory_bytes)
	[ "$used" -le $most ] || most=$used
	has_dropped
}
for round in 1 2 3; do
	work $round &
	tap_pids="$tap_pids $!"
	for look in 1 2 3 4 5 6 7 8 9 10; do
		look
	done
	wait $!
done
await look
ok $? 'samples of many processes are dropped when --max-memory is reached'
for look in 1 2 3 4 5 6 7 8 9 10; do
	look
done
bound $most '<=' $((256 << 10)) 'no more memory is used than --max-memory'
bound $most '>' $((64 << 10)) 'at least a quarter of --max-memory is used'
check_status 'while memory is full'
rm disk/filler
collect_stop
bound "$(sql "SELECT total(n) FROM loss WHERE kind = 0 AND class = 1 AND name = 'no_space'")" '>' 0 \
	'samples of processes that did not fit are lost as no_space'
check_stored

# A limit on the size of files is like a full disk.
rm -f disk/t.db*
collect_start -F 1000 --sweep 100ms
try 'a flush is stored without a limit' cpid_ask flush
prlimit --pid "$cpid_pid" --fsize=1: || bail 'no limit'
work 1
cpid_ask flush >reply
is "$? $(cpid_field state)" '1 cannot store' 'a flush fails at the limit on the size of files'
prlimit --pid "$cpid_pid" --fsize=unlimited: || bail 'the limit stays'
try 'a flush is stored when the limit is lifted' cpid_ask flush
collect_stop
check_stored
is "$(sql "SELECT n FROM loss WHERE name = 'no_space'")" '' 'no sample is lost because of the limit'
