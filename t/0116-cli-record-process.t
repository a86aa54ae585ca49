#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi record -p on this machine: a process that runs already, with its threads, and with
# what it starts; how the recording ends, and what is refused.
. "$srcdir/t/tap.sh"

need_record

cp "$builddir/t/programs/workers" workers || bail 'no program'

plan 26

# begin_workers COMMAND...: runs workers through the command; $workers is its PID, which
# is ready.
begin_workers()
{
	rm -f in out
	mkfifo in out
	"$@" "$PWD/workers" <in >out &
	workers=$!
	tap_pids="$tap_pids $workers"
	exec 4>in 5<out
	read -r _ <&5
}
# compute: a round of the workers.
compute()
{
	echo go >&4
	read -r _ <&5
}
# end_workers: they end by themselves.
end_workers()
{
	exec 4>&- 5<&-
	wait $workers
}
cpi=cpi
# begin_recording DB OPTION...: of the workers, by $cpi; returns when samples are taken.
begin_recording()
{
	recorded=$1
	shift
	$cpi record -p $workers -o "$recorded" "$@" 2>err 4>&- 5<&- &
	recorder=$!
	tap_pids="$tap_pids $recorder"
	await has_begun
}
has_begun()
{
	cpi epoch list --db "$recorded" --format=csv 2>/dev/null | grep -q ,open,
}
# samples PROCEDURE: of cpu-clock, in the file prof.
samples()
{
	awk -F, -v name="$1" '$5 == name { n += $1 } END { print n + 0 }' prof
}

# All that it has and starts, of several events and with stacks; nothing else.
begin_workers env
"$builddir/t/programs/burn_c" 600000 >/dev/null 4>&- 5<&- &
other=$!
tap_pids="$tap_pids $other"
begin_recording a.db -g -e cpu-clock -e page-faults@1 --label run
ok $? 'a recording of a process begins'
compute
end_workers
is $? 0 'the process ends as it would without a recording'
wait $recorder
is $? 0 'the end of the process ends the recording'
like "$(cat err)" '[0-9] samples.* in .* in a.db; try: cpi prof --db a.db' \
	'cpi record prints how many samples it stored'
is "$(wc -l <err | tr -d ' ')" 1 'cpi record prints one line'
is "$(echo a.db*)" a.db 'cpi record leaves one file'
cpi prof --db a.db --event cpu-clock --limit 1000 --format=csv >prof 2>/dev/null
# 300 ms of each, at a sample a millisecond.
for procedure in first early late child; do
	bound "$(samples ${procedure}_hot)" '>' 100 "${procedure}_hot: its samples are there"
done
cpi prof --db a.db --event cpu-clock --by image --format=csv >images 2>/dev/null
is "$(grep -c '/workers' images) $(grep -c '/burn_c,\|/cpi,' images)" '1 0' \
	'other programs and cpi are not in the profile'
is "$(cpi cat --intervals --db a.db --epoch all --format=csv |
	awk -F, 'NR > 1 && $7 != $8 + $9' | wc -l | tr -d ' ')" 0 \
	'received = stored + lost in every flush'
cpi prof --db a.db --event page-faults --by image --format=csv >images 2>/dev/null
is "$(grep -c '/workers' images)" 1 'samples of each event are told from those of others'
cpi export --db a.db --stacks --format=collapsed >stacks 2>/dev/null
bound "$(grep -c ';early;early_hot ' stacks)" '>' 0 'a thread that ran already has call stacks'

# The process goes on when the recording ends.
begin_workers env
begin_recording b.db
kill -INT $recorder
wait $recorder
is $? 0 'SIGINT ends the recording'
cpi record -p $workers -d 0.2 -o b.db 2>err
is $? 0 'the duration ends the recording'
compute
end_workers
is $? 0 'neither SIGINT nor the duration ends the process'

# What is refused.
cpi record -p $workers -o none.db 2>err
is "$? $(cat err)" "1 cpi: error: process $workers: there is no such process" \
	'a process that has ended is refused'
begin_workers env
thread=$(ls /proc/$workers/task | grep -vx $workers)
cpi record -p "$thread" -o none.db 2>err
is "$? $(cat err)" \
	"1 cpi: error: process $thread: it is a thread of process $workers: give the number of the process" \
	'a thread is refused, and its process is named'
is "$(echo none.db*)" 'none.db*' 'a refusal leaves no database'
end_workers

# A process that holds the lock of its mappings, so that nobody can read them.
holder=$builddir/t/programs/lock_holder
mkdir held
chmod 711 .
if [ "$(id -u)" -eq 0 ] && [ -w /dev/fuse ]; then
	mkfifo holds
	"$holder" -s held >holds 2>hold.err &
	server=$!
	tap_pids="$tap_pids $server"
	locked=$(timeout 60 head -n 1 holds)
fi
if [ -z "${locked-}" ]; then
	skip 3 'no lock can be held here'
else
	timeout 60 cpi record -p "$locked" -d 0.2 -o held.db 2>err
	is $? 0 'a process whose mappings cannot be read is recorded'
	like "$(cat err)" "process $locked: its mappings cannot be read.*map_gap" \
		'cpi record warns that the mappings cannot be read'
	like "$(cpi prof --by image --db held.db --format=csv 2>/dev/null)" map_gap \
		'samples of the process are counted as map_gap'
	kill -KILL "$server"
fi

if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null; then
	skip 3 'needs root and setpriv to be somebody else'
elif [ "$paranoid" -gt 2 ]; then
	skip 3 "kernel.perf_event_paranoid is $paranoid"
elif chmod 777 . && ! as_nobody test -r "$tmp/workers"; then
	skip 3 "another user may not enter $tmp"
else
	cp "$(command -v cpi)" own-cpi # another user may not enter the build
	as_nobody ./own-cpi record -p $$ -o c.db 2>err
	is $? 1 "another user's process is refused"
	like "$(cat err)" "process $$: not permitted: run as root" 'the message says what to do'
	# Not through as_nobody: $! would be the shell that runs it.
	nobody='setpriv --reuid=65534 --regid=65534 --clear-groups --'
	begin_workers $nobody
	cpi="$nobody ./own-cpi"
	begin_recording d.db
	compute
	end_workers
	wait $recorder
	like "$(cat err)" '[1-9][0-9]* samples of user mode in' \
		"a user's own process is recorded"
fi
