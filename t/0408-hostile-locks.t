#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Processes whose mappings cannot be read because they hold the lock of these themselves
# (t/programs/lock_holder.c). cpid starts, answers, attributes samples of other processes,
# and ends, whatever the reason is for which it reads such a process.
#
# The locks are held until the server is killed, so a cpid that waited for one would exceed
# any time limit here. It waits 200 ms for one answer.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need timeout
[ "$(id -u)" = 0 ] || skip_all 'only root can mount FUSE for another user'
[ -w /dev/fuse ] || skip_all 'there is no FUSE here'
holder=$programs/lock_holder
chmod 711 .
mkdir held

# hold COUNT OPTION...: starts the file system and its processes; sets $held to these, when
# all of them hold their locks.
hold()
{
	hold_nr=$1
	shift
	rm -f holds
	mkfifo holds
	"$holder" -n "$hold_nr" "$@" held >holds 2>hold.err &
	server=$!
	tap_pids="$tap_pids $server"
	held=$(timeout 300 head -n "$hold_nr" holds)
	[ "$(echo "$held" | wc -w)" = "$hold_nr" ]
}

# Killing the server ends all of it, and readers that were stuck.
let_go()
{
	kill -KILL "$server" 2>/dev/null
	wait "$server" 2>/dev/null
}

hold 1 || skip_all "no lock can be held here: $(head -n 1 hold.err)"
let_go
plan 74

# children PID: its children; readers PID: the process that reads, and its workers.
children()
{
	cat "/proc/$1"/task/*/children 2>/dev/null
}
readers()
{
	for reader in $(children "$1"); do
		[ "$(cat "/proc/$reader/comm")" != cpi-read ] || echo "$reader" "$(children "$reader")"
	done
}

# Whether only those readers are left that no signal can end.
none_left()
{
	for left in $readers; do
		case $(sed 's/.*) //' "/proc/$left/stat" 2>/dev/null) in
		'' | [DZX]*) ;;
		*) return 1 ;;
		esac
	done
}
all_ended()
{
	for left in $readers; do
		! kill -0 "$left" 2>/dev/null || return 1
	done
}

# start NAME [OPTION...]: starts cpid, which must not be held up; a test
start()
{
	start_name=$1
	shift
	rm -f "$db" "$db"-*
	start_begun=$(date +%s)
	collect_start -F 500 --sweep 200ms "$@"
	bound $(($(date +%s) - start_begun)) '<=' 100 "cpid is ready, $start_name"
}

answers()
{
	timeout 300 cpi status --all --socket t.sock >status.txt 2>&1
	ok $? "cpi status answers, $1"
}

# Whether processes are read again only by sweeps, which a quiet machine rarely has.
needs_sweep=

# Whether a reader has given up.
has_tried()
{
	[ -z "$needs_sweep" ] || timeout 300 "$peer" request t.sock flush >flush.txt 2>&1
	timeout 300 "$peer" request t.sock status >tried.txt &&
		[ "$(status_sum tried.txt reads_timed_out)" -ge 1 ]
}

# Whether samples of all processes may be in a gap.
may_gap=

# Whether the window may come too late, or before the lock is held.
may_miss=

# goes_on NAME: cpid goes on beside the processes with locks, and ends; 9 tests, or 8 if
# there may be a gap.
goes_on()
{
	if [ "$may_miss" ] && ! within 60 has_tried; then
		skip 1 "no window met the process while it held its lock"
	else
		await has_tried
		ok $? "a reader gives up, $1"
	fi
	answers "$1"
	"$programs/burn_a" 800
	answers "$1, while others compute"
	timeout 300 "$peer" request t.sock flush >flush.txt 2>&1
	readers=$(readers "$cpid_pid")
	timeout 300 "$peer" request t.sock quit >/dev/null
	cpid_wait
	is "$cpid_status" 0 "cpid ends, $1"
	try "all readers that can be killed have ended, $1" await none_left
	let_go
	try "the stuck readers end with the lock, $1" await all_ended
	bound "$(samples burn_a '*/burn_a')" '>=' 100 "samples of another process have its image, $1"
	[ "$may_gap" ] ||
		is "$(sql "SELECT n FROM comm WHERE image = 0 AND comm = 'burn_a'")" '' \
			"no sample of another process is without an image, $1"
	is "$(sql "SELECT name FROM loss WHERE kind = 0 AND name NOT IN ('ambiguous', 'anonymous',
		'no_process', 'ring_lost', 'no_mapping', 'map_gap', 'special', 'kernel_unmapped')")" '' \
		"each sample without an image has a reason, $1"
}

# A process was there before cpid.
hold 1 -s
start 'with a locked process already there'
goes_on 'with a locked process already there'

# Forty processes of one user were there before cpid.
hold 40
start 'with forty locked processes already there'
goes_on 'with forty locked processes already there'

# The process computes, and the collector takes windows.
if [ -x "$builddir/helpers/cpi-translate" ] &&
	cpid_start --db probe.db -e "$event" --collector bpf --windows 499; then
	windows=$(cpid_field windows)
	cpid_ask quit >/dev/null
	cpid_wait
fi
if [ "${windows:-}" = on ]; then
	start 'with windows' --collector bpf --windows 499
	hold 1 -s
	may_miss=yes
	goes_on 'with windows of a locked process'
	may_miss=
else
	skip 10 'no windows here'
fi

# The process announces that it has loaded an object.
start 'before an announcement'
hold 1 -a "$PWD/t.sock.announce"
goes_on 'after an announcement of a locked process'

# The process is registered.
start 'before a registration'
hold 1
timeout 300 cpi register --socket t.sock "$held" >register.out 2>&1
is $? 1 'cpi register fails for a locked process'
like "$(cat register.out)" "process $held: " 'cpi register names the process'
timeout 300 cpi register --socket t.sock "$held" --base 0x401000 --size 4096 \
	--path "$holder" --offset 4096 >register.out 2>&1
is $? 1 'cpi register fails for a file of a locked process'
goes_on 'after a registration of a locked process'

# Mapping records are lost, so all processes are read again.
deep=$PWD/$(printf '%0200d/%0200d/%0200d/%0200d/%0200d' 0 0 0 0 0)
mkdir -p "$deep"
cp "$programs/burn_c" "$deep"
start 'before mapping records are lost' --sweep 1m
hold 1 -s
kill -STOP "$cpid_pid"
"$programs/spawn" 10000 2 0 "$deep/burn_c" >/dev/null
kill -CONT "$cpid_pid"
"$programs/spawn" 40 2 5 "$programs/burn_b" >/dev/null
timeout 300 "$peer" request t.sock flush >flush.txt 2>&1
bound "$(cpid_field mapping_records_lost)" '>' 0 'mapping records were lost'
# A loss of records on the other CPU may be reported only now, so there may be a gap.
may_gap=yes needs_sweep=yes
goes_on 'after mapping records were lost'
may_gap= needs_sweep=

# The process calls exec while it holds its lock, so exec does not end.
start 'before an endless exec'
hold 1 -s -x 20 -e
timeout 300 cpi register --socket t.sock "$held" >register.out 2>&1
is $? 1 'cpi register fails for a process within exec'
goes_on 'with a process within exec'
