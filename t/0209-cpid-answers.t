#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpid answers status requests while its main thread is stopped.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/halt.sh"
plan 18

# status OPTION...: fails if there is no answer. The main thread stays stopped until
# halt_end, so an answer that needed it would exceed any time limit.
status()
{
	timeout 60 cpi status --all --socket t.sock --db t.db "$@"
}

cpid_start --sweep 1s || bail 'cpid does not start'
status >before.txt
is $? 0 'the status of a running daemon is answered'
unlike "$(cat before.txt)" '^main_' 'the status of a running daemon has no age'
halt_start || bail 'the main thread does not stop'
for i in 1 2 3; do
	status >stopped.txt
	is $? 0 "main thread stopped: the status is answered, $i"
done
like "$(cat stopped.txt)" '^main_waits_s  *[0-9]' 'main thread stopped: the status has its age'
like "$(cat stopped.txt)" '^main_activity  *[a-z]' \
	'main thread stopped: the status has its activity'
like "$(sed 1,4!d stopped.txt)" '^main_activity_s  *[0-9]' \
	'main thread stopped: the age is among the first lines'
like "$(cat stopped.txt)" '^received.cpu-clock  *[0-9]' \
	'main thread stopped: the status has the last counts'
like "$(status --format=json)" '"main_waits_s": *[0-9]' 'main thread stopped: JSON has the age'
like "$(status --format=prometheus)" '^cpi_main_waits_seconds [0-9]' \
	'main thread stopped: metrics have the age'
"$peer" request t.sock flush >flush.txt 7>&- &
flush=$!
tap_pids="$tap_pids $flush"
status >stopped.txt
is $? 0 'main thread stopped: the status is answered while a flush waits'
halt_end
wait "$flush"
is $? 0 'main thread resumed: the waiting flush succeeds'
status >after.txt
is $? 0 'main thread resumed: the status is answered'
unlike "$(cat after.txt)" '^main_' 'main thread resumed: the status has no age'
try 'main thread resumed: samples were taken meanwhile' test \
	"$(sed -n 's/^received.cpu-clock *//p' after.txt)" -gt \
	"$(sed -n 's/^received.cpu-clock *//p' before.txt)"

halt_start
"$peer" request t.sock quit >quit.txt 7>&- &
quit=$!
halt_end
wait "$quit"
is $? 0 'a quit request that waited is answered'
cpid_wait
is "$cpid_status" 0 'cpid exits with 0'
