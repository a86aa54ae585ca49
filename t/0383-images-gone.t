#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that are deleted, replaced or overwritten, or never had a name. Each is an image
# of its own, has its own build id, and has no procedure names of another.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
programs=$(realpath "$programs")
plan $((nr_stored_tests + 21))

# runs FILE: a test that it computes for a second of CPU time.
runs()
{
	run "$1 runs" "$PWD/$1" 1000
}

# has_id NAME PROGRAM: a test that all images of this name have the program's build id.
has_id()
{
	is "$(sql "SELECT DISTINCT a.build_id = b.build_id FROM image a, image b
		WHERE a.name GLOB '$1' AND b.name = '$programs/$2'")" 1 \
		"$1 has the build id of $2"
}

collect_start -F 1000 --sweep 10s
run 'burn_a runs' "$programs/burn_a" 300
run 'burn_b runs' "$programs/burn_b" 300
cp "$programs/burn_a" deleted
"$PWD/deleted" 1500 &
pid=$!
is_running() { [ "$(readlink "/proc/$pid/exe")" = "$PWD/deleted" ]; }
await is_running
# The daemon looks for new programs many times within this half second of CPU time.
has_run() { [ "$(awk '{ print $14 }' "/proc/$pid/stat")" -ge 50 ]; }
await has_run
rm deleted
wait $pid
ok $? 'a program that is deleted meanwhile runs'
run 'a program without a name runs' "$programs/memfd" "$programs/burn_b" 1000
cp "$programs/burn_a" replaced
runs replaced
# cpi-capture has the lowest priority, and cpid does not wait long for it at its end.
cpid_ask flush >/dev/null
await has_captured 1 "$PWD/replaced"
cp "$programs/burn_b" new && mv new replaced
runs replaced
cp "$programs/burn_a" over
runs over
cat "$programs/burn_b" >over
runs over
run 'a program that moves its text runs' "$programs/moved" 1000
cpid_ask flush >/dev/null
await has_captured 2 "$PWD/replaced"
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
		bound "$n" '>=' 500 "$name: at least half of the samples of $program are found"
	done
done
bound "$(cpi prof --db "$db" --image '*/moved' --procedure moved_burn --format=csv |
	awk -F, 'NR == 2 { print $1 }')" '>=' 500 'samples of moved text are in the file'
is "$(strangers)" '' 'no sample is attributed to another program'
# The procedure of either build has its name and its build id.
cpi prof --db "$db" --image '*/replaced' --format=csv 2>/dev/null |
	awk -F, 'NR > 1 && $5 ~ /^burn_/ { print $5, $7 }' >names
for program in burn_a burn_b; do
	echo "$program $(sql "SELECT lower(hex(build_id)) FROM image
		WHERE name = '$programs/$program'")"
done >builds
is "$(cat names | sort)" "$(cat builds | sort)" 'a replaced program keeps the names of its own procedures'
