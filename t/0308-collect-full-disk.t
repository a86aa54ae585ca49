#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The database's disk is full: cpid says so, keeps the samples and stores them when
# there is room again. What is over --max-memory is lost by name.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
[ "$(id -u)" -eq 0 ] || skip_all 'mounting takes root'
mkdir disk && mount -t tmpfs -o size=16m cpi-test disk 2>/dev/null ||
	skip_all 'a tmpfs cannot be mounted here'
umount_disk()
{
	cd / && umount -l "$tmp/disk"
	tap_end
}
trap umount_disk EXIT
plan $((2 * nr_stored_tests + 18))
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
is $? 1 'a flush fails'
like "$(cat reply)" 'No space left' 'it says why'
is "$(cpid_field state)" 'cannot store' 'the status says so'
like "$(cpid_field store_error)" 'No space left' 'and why'
try 'the log says that samples are kept' grep -q 'No space left.*kept in memory' t.log
bound "$(cpid_field pending_samples)" '>' 0 'they are kept'
check_status 'while the disk is full'
rm disk/filler
try 'there is room again: a flush is stored' cpid_ask flush
is "$(cpid_field state)" sampling 'the status says so'
bound "$(sql "SELECT total(total) FROM profile p JOIN image i ON i.id = p.image
	WHERE i.name GLOB '*/copy_2_*'")" '>' 0 'what was kept is stored'
collect_stop
check_stored
is "$(sql 'SELECT name FROM loss WHERE class = 1')" '' 'nothing is lost'

rm -f disk/t.db*
collect_start -F 1000 --sweep 100ms --flush 200ms --max-memory 16K
fill
for round in 1 2 3 4 5 6; do
	work $round
done
await 30 has_dropped || note 'nothing is dropped'
check_status 'while samples are dropped'
rm disk/filler
collect_stop
bound "$(sql 'SELECT sum(received) FROM tally')" '>=' "$(status_sum status.txt received.)" \
	'the database knows of every sample'
bound "$(sql "SELECT total(n) FROM loss WHERE class = 1 AND name = 'no_space'")" '>' 0 \
	'what did not fit into memory is lost as no_space'
check_stored
