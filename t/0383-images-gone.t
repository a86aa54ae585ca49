#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that are deleted, replaced, written over, or never had a name: each is an
# image of its own, with what tells it from others, and no name of another's procedure.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
plan $((nr_stored_tests + 21))

# runs FILE: it computes for a second of CPU time.
runs()
{
	run "$1 runs" "$PWD/$1" 1000
}

# has_id NAME PROGRAM: all images of this name have the program's contents.
has_id()
{
	is "$(sql "SELECT DISTINCT a.build_id = b.build_id FROM image a, image b
		WHERE a.name GLOB '$1' AND b.name = '$programs/$2'")" 1 \
		"$1 is known to be $2"
}

collect_start -F 1000 --sweep 10s
run 'burn_a' "$programs/burn_a" 300
run 'burn_b' "$programs/burn_b" 300
cp "$programs/burn_a" deleted
"$PWD/deleted" 1500 &
pid=$!
is_running() { [ "$(readlink "/proc/$pid/exe")" = "$PWD/deleted" ]; }
await 10 is_running
# The daemon looks around many times a second; half a second of CPU time is many.
has_run() { [ "$(awk '{ print $14 }' "/proc/$pid/stat")" -ge 50 ]; }
await 60 has_run
rm deleted
wait $pid
ok $? 'a program that is deleted meanwhile runs'
run 'a program without a name runs' "$programs/memfd" "$programs/burn_b" 1000
cp "$programs/burn_a" replaced
runs replaced
cp "$programs/burn_b" new && mv new replaced
runs replaced
cp "$programs/burn_a" over
runs over
cat "$programs/burn_b" >over
runs over
run 'a program that moves its text runs' "$programs/moved" 1000
collect_stop
check_stored

has_id "$PWD/deleted" burn_a
has_id '/memfd:program (deleted)' burn_b
for name in replaced over; do
	is "$(sql "SELECT count(*) FROM image WHERE name = '$PWD/$name'")" 2 \
		"$name is two images"
	for program in burn_a burn_b; do
		n=$(sql "SELECT total(c.n) FROM comm c, image i, image p WHERE i.id = c.image
			AND i.name = '$PWD/$name' AND p.name = '$programs/$program'
			AND p.build_id = i.build_id")
		bound "$n" '>=' 500 "$name: $program has its half"
	done
done
bound "$(cpi prof --db "$db" --image '*/moved' --procedure moved_burn --format=csv |
	awk -F, 'NR == 2 { print $1 }')" '>=' 500 'text that was moved is its file'\''s'
is "$(strangers)" '' 'no sample is of another program'
# Each procedure is of the build that has it: what is gone has the name that it had.
cpi prof --db "$db" --image '*/replaced' --format=csv 2>/dev/null |
	awk -F, 'NR > 1 && $5 ~ /^burn_/ { print $5, $7 }' >names
for program in burn_a burn_b; do
	echo "$program $(sql "SELECT lower(hex(build_id)) FROM image
		WHERE name = '$programs/$program'")"
done >builds
is "$(cat names | sort)" "$(cat builds | sort)" 'what was replaced has its own names'
