#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The life of cpid: readiness, requests, signals, a second cpid, and a kill.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
plan 27

try 'cpid starts and says that it is ready' cpid_start
[ "$(cpid_field pid)" = "$cpid_pid" ] || { sed 's/^/# /' t.log; bail 'no daemon'; }
is "$(cpid_field pid)" "$cpid_pid" 'the status names the process'
is "$(cpid_field db)" t.db 'the status names the database'
is "$(cpid_field last_flush)" '' 'nothing is stored yet'
kill -USR1 "$cpid_pid"
cpid_await_signals
try 'SIGUSR1 flushes' test -n "$(cpid_field last_flush)"
try 'a flush request succeeds' cpid_ask flush
try 'an epoch request succeeds' cpid_ask epoch 'after lunch'
try 'a rate request succeeds' cpid_ask rate 50
is "$(cpid_field rate_hz)" 50.0 'the status shows the new rate'
is "$(cpid_ask rate fast)" '"fast" is no rate in samples per second' \
	'a rate that is no number is refused'

try 'a malformed request gets no answer' "$peer" rubbish t.sock 200 1
is "$(cpid_field pid)" "$cpid_pid" 'cpid answers after malformed requests'
is "$(grep -c 'dropped a client' t.log)" 1 '200 malformed requests make one line in the log'

timeout 300 cpid --db t.db --socket other.sock 2>second.log
is $? 1 'a second daemon on the same database fails'
try 'the second daemon names the database' grep -q 't\.db' second.log
timeout 300 cpid --db other.db --socket t.sock 2>second.log
is $? 1 'a second daemon on the same socket fails'
try 'the second daemon names the socket' grep -q 't\.sock: another process listens there' second.log
is "$(cpid_field pid)" "$cpid_pid" 'the first daemon still answers'

mv t.log old.log
kill -HUP "$cpid_pid"
cpid_await_signals
try 'SIGHUP reopens the log' grep -q 'reopened' t.log

kill -TERM "$cpid_pid"
try 'SIGTERM makes cpid announce its end' cpid_await STOPPING=1
cpid_wait
is "$cpid_status" 0 'SIGTERM makes cpid exit with 0'
try 'the socket is removed at the end' test ! -e t.sock

try 'cpid starts again on the same database' cpid_start
kill -KILL "$cpid_pid"
cpid_wait
try 'a killed cpid leaves its socket behind' test -S t.sock
try 'cpid starts although a socket is left behind' cpid_start
cpid_ask quit
cpid_wait
is "$cpid_status" 0 'a quit request makes cpid exit with 0'

cpid --frob 2>/dev/null
is $? 2 'an unknown option is a usage error'
