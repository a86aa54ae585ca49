#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# From start to stop: readiness, requests, signals, and who is in the way.
. "${srcdir:-.}/t/tap.sh"
. "${srcdir:-.}/t/cpid.sh"
plan 27

ok 'cpid starts and says that it is ready' cpid_start
[ "$(cpid_field pid)" = "$cpid_pid" ] || { sed 's/^/# /' t.log; bail 'no daemon'; }
is 'the status names the process' "$(cpid_field pid)" "$cpid_pid"
is 'the status names the database' "$(cpid_field db)" t.db
is 'nothing is stored yet' "$(cpid_field last_flush)" ''
kill -USR1 "$cpid_pid"
cpid_settle
ok 'USR1 flushes' test -n "$(cpid_field last_flush)"
ok 'a flush is done' cpid_ask flush
ok 'an epoch begins' cpid_ask epoch 'after lunch'
ok 'the rate changes' cpid_ask rate 50
is 'the status shows the new rate' "$(cpid_field rate_hz)" 50.0
is 'a rate that is none is refused' "$(cpid_ask rate fast)" \
	'"fast" is no rate in samples per second'

ok 'rubbish gets no answer' "$peer" rubbish t.sock 200 "$$"
is 'rubbish does no harm' "$(cpid_field pid)" "$cpid_pid"
is 'rubbish is logged, but not each time' "$(grep -c 'dropped a client' t.log)" 1

timeout 60 cpid --db t.db --socket other.sock 2>second.log
is 'a second daemon on the database fails' $? 1
ok 'it says which database' grep -q 't\.db' second.log
timeout 60 cpid --db other.db --socket t.sock 2>second.log
is 'a second daemon on the socket fails' $? 1
ok 'it says which socket' grep -q 't\.sock: another process listens there' second.log
is 'the first daemon goes on' "$(cpid_field pid)" "$cpid_pid"

mv t.log old.log
kill -HUP "$cpid_pid"
cpid_settle
ok 'HUP opens the log again' grep -q 'reopened' t.log

kill -TERM "$cpid_pid"
ok 'TERM makes it say that it stops' cpid_await STOPPING=1
cpid_wait
is 'it exits with 0' "$cpid_status" 0
ok 'its socket is gone' test ! -e t.sock

ok 'it starts again on the same database' cpid_start
kill -KILL "$cpid_pid"
cpid_wait
ok 'it leaves its socket behind when it is killed' test -S t.sock
ok 'the next one starts all the same' cpid_start
cpid_ask quit
cpid_wait
is 'a request makes it stop as well' "$cpid_status" 0

cpid --frob 2>/dev/null
is 'a wrong option is a usage error' $? 2
