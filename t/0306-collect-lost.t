#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The daemon is stopped until the kernel's buffers are full. Samples that did not fit are
# ring_lost. Samples whose mappings did not fit are map_gap, and are never attributed to
# another program.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need taskset chrt
set -- $(taskset -cp $$ | sed 's/.*: *//; s/[,-]/ /g')
[ $# -gt 1 ] || skip_all 'two CPUs are needed'
first=$1
shift $(($# - 1))
last=$1
plan $((2 * nr_stored_tests + 11))

# Samples: 5000 Hz fill the 512 KiB of a CPU in less than a second.
collect_start -F 5000 --sweep 1s
kill -STOP "$cpid_pid"
"$programs/spawn" 2 2 2500 "$programs/burn_a" >/dev/null
kill -CONT "$cpid_pid"
cpid_ask flush >/dev/null
check_status 'after samples were lost'
bound "$(cpid_field lost.ring_lost)" '>' 0 'the status counts the lost samples as ring_lost'
collect_stop
bound "$(sql "SELECT total(n) FROM loss WHERE kind = 0 AND class = 1 AND name = 'ring_lost'")" '>' 0 \
	'the database counts them as ring_lost'
is "$(sql "SELECT name FROM loss WHERE kind = 0 AND class = 1 AND name <> 'ring_lost'")" '' 'no sample is lost for another reason'
check_stored

# Mappings: a process that the daemon knows as burn_a becomes burn_b, at the same
# addresses, while the ring has no room for the record. A long path makes long records;
# those of 3000 processes are more than the 4 MiB of a ring. All of it is on one CPU,
# where a real-time process prevents later records from reporting the loss.
is_hogged()
{
	[ "$(cat "/proc/$hog/comm" 2>/dev/null)" = burn_c ]
}

rm -f t.db t.db-*
deep=$tmp
for _ in $(seq 15); do
	deep=$deep/$(printf '%0200d' 0)
done
mkdir -p "$deep"
cp "$programs/burn_c" "$deep"
taskset -cp "$first" $$ >/dev/null
collect_start -F 300 --sweep 1m
taskset -c "$last" "$programs/burn_a" 400 "$programs/burn_b" 500 &
chain=$!
until [ "$(awk '$2 == "(burn_a)" { n = $14 } END { print n + 0 }' /proc/$chain/stat)" -ge 10 ]; do
	:
done
kill -STOP $chain
cpid_ask flush >/dev/null
kill -STOP "$cpid_pid"
taskset -c "$last" "$programs/spawn" 3000 1 0 "$deep/burn_c" >/dev/null
kill -CONT $chain
wait $chain
taskset -c "$last" "$programs/spawn" 20 1 10 "$programs/burn_a" "$programs/burn_b" >/dev/null
chrt -f 1 taskset -c "$last" "$programs/burn_c" 500 &
hog=$!
await is_hogged || bail 'burn_c does not run'
kill -CONT "$cpid_pid"
cpid_ask flush >/dev/null
bound "$(cpid_field mapping_records_lost)" '>' 0 'mapping records were lost'
wait $hog
collect_stop
check_stored
bound "$(sql "SELECT total(n) FROM loss WHERE kind = 0 AND class = 0 AND name = 'map_gap'")" '>' 0 \
	'samples whose mappings were lost are map_gap'
is "$(strangers)" '' 'no sample is attributed to another program'
# burn_a has 30 before the loss, and may have 120 in all: 170 are 4.5 sigma more. With
# the 150 of burn_b they would be 270.
bound "$(samples '*' "$programs/burn_a")" '>=' 3 'samples of burn_a before the loss are attributed to it'
bound "$(samples '*' "$programs/burn_a")" '<=' 170 'samples of burn_b are not attributed to burn_a'
