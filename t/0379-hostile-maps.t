#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A hostile program maps as fast as it can, or has children that do, or has many processes
# that each keep as many mappings as they may. Samples of other processes keep their
# images. Those of the program itself have images again when it has stopped.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
. "$srcdir/t/shares.sh"
need setpriv
[ "$(id -u)" = 0 ] || skip_all 'only root can become another user'
plan $((nr_stored_tests + 27))

chmod 711 .
cp "$programs/floods" "$programs/burn_a" .
mkfifo told says

# unknown COMM: its samples without an image, in the last epoch
unknown()
{
	sql "SELECT total(c.n) FROM comm c JOIN image i ON i.id = c.image
		WHERE i.name = '[unknown]' AND c.comm = '$1'
		AND c.epoch = (SELECT max(id) FROM epoch)" | sed 's/\.0$//'
}

# known COMM: those that are of its program, in the last epoch
known()
{
	sql "SELECT total(c.n) FROM comm c JOIN image i ON i.id = c.image
		WHERE i.name GLOB '*/$1' AND c.comm = '$1'
		AND c.epoch = (SELECT max(id) FROM epoch)" | sed 's/\.0$//'
}

is_whole()
{
	cpid_ask flush >/dev/null
	[ "$(cpid_field processes_incomplete)" = 0 ]
}

# begin_flood KIND NUMBER COMMAND...: waits until it has made so many mappings
begin_flood()
{
	flood_kind=$1
	flood_number=$2
	shift 2
	cpid_ask epoch "$flood_kind" >/dev/null
	"$@" ./floods "$flood_kind" "$flood_number" <told >says &
	flood=$!
	tap_pids="$tap_pids $flood"
	exec 5>told 6<says
	read -r said <&6
	is "$said" filled "$flood_kind: the hostile program has made $flood_number mappings"
}

# end_flood: it stops mapping, but goes on running
end_flood()
{
	echo >&5
	read -r said <&6
	is "$said" over "$flood_kind: the hostile program has stopped mapping"
}

# judge STATUS NAME: a test, which is skipped if it fails after the kernel lost mapping
# records. The kernel does not say whose those were, so they are a gap of every process.
judge()
{
	lost=$(cpid_field mapping_records_lost)
	if [ "$1" -ne 0 ] && [ "$lost" -gt 0 ]; then
		skip 1 "this machine is too busy: the kernel lost $lost mapping records"
	else
		ok "$1" "$2"
	fi
}

# no_gaps COMM NAME: the last epoch has enough samples of it, and they have images; 2 tests
no_gaps()
{
	no_gaps_of=$(known "$1")
	no_gaps_unknown=$(unknown "$1")
	note "$flood_kind: $2: $no_gaps_of samples, $no_gaps_unknown have no image"
	[ "$no_gaps_of" -gt 200 ]
	judge $? "$flood_kind: $2 has samples"
	is_share_at_most "$no_gaps_unknown" "$no_gaps_of" 0.005
	judge $? "$flood_kind: samples of $2 have images"
}

# only_its_own: no more samples are map_gap than it has that are unknown; a test
only_its_own()
{
	cpid_ask flush >/dev/null
	gap=$(sql "SELECT total(n) FROM loss WHERE kind = 0 AND name = 'map_gap'
		AND epoch = (SELECT max(id) FROM epoch)" | sed 's/\.0$//')
	note "$flood_kind: $gap samples are map_gap, $(unknown floods) of the program are unknown"
	[ "$gap" -le "$(unknown floods)" ]
	judge $? "$flood_kind: only samples of the hostile program are map_gap"
}

# end_program: closes its input, at which it ends
end_program()
{
	exec 5>&- 6<&-
	wait $flood
	is $? 0 "$flood_kind: the hostile program ends in good order"
}

collect_start -F 1000 --sweep 60s
begin_flood maps 1200000 as_nobody
"$programs/burn_b" 1500 &
burner=$!
tap_pids="$tap_pids $burner"
"$programs/burn_a" 500
as_nobody "$PWD/burn_a" 500
only_its_own
no_gaps burn_a 'a program that begins meanwhile'
bound "$(cpid_field mapping_records_skipped)" '>' 100000 'maps: records of the hostile program are skipped'
is "$(cpid_field processes_incomplete)" 1 'maps: only the hostile program is incomplete'
end_flood
cpid_ask epoch after >/dev/null
wait $burner
"$programs/burn_b" 500
cpid_ask flush >/dev/null
no_gaps burn_b 'a program that began meanwhile and goes on'
await is_whole
ok $? 'maps: the hostile program is read again and complete'
cpid_ask epoch calm >/dev/null
echo 500 >&5
read -r said <&6
cpid_ask flush >/dev/null
no_gaps floods 'the hostile program when it computes'
end_program

# The hostile processes are root's, as the others are.
begin_flood copies 1000 env
"$programs/burn_a" 500
only_its_own
no_gaps burn_a 'a program that begins meanwhile'
end_flood
end_program

begin_flood held 160 as_nobody
"$programs/burn_a" 500
as_nobody "$PWD/burn_a" 500
only_its_own
no_gaps burn_a 'a program that begins meanwhile'
bound "$(cpid_field mappings)" '<=' 1048576 'held: no more mappings are kept than the bound allows'
end_flood
end_program
collect_stop
check_stored
