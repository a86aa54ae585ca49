#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# From start to stop: readiness, requests, signals, and who is in the way.
. "${srcdir:-.}/t/tap.sh"
. "${srcdir:-.}/t/cpid.sh"
plan 27

try 'cpid starts and says that it is ready' cpid_start
[ "$(cpid_field pid)" = "$cpid_pid" ] || { sed 's/^/# /' t.log; bail 'no daemon'; }
is "$(cpid_field pid)" "$cpid_pid" 'the status names the process'
is "$(cpid_field db)" t.db 'the status names the database'
is "$(cpid_field last_flush)" '' 'nothing is stored yet'
kill -USR1 "$cpid_pid"
cpid_settle
try 'USR1 flushes' test -n "$(cpid_field last_flush)"
try 'a flush is done' cpid_ask flush
try 'an epoch begins' cpid_ask epoch 'after lunch'
try 'the rate changes' cpid_ask rate 50
is "$(cpid_field rate_hz)" 50.0 'the status shows the new rate'
is "$(cpid_ask rate fast)" '"fast" is no rate in samples per second' 'a rate that is none is refused'

try 'rubbish gets no answer' "$peer" rubbish t.sock 200 "$$"
is "$(cpid_field pid)" "$cpid_pid" 'rubbish does no harm'
is "$(grep -c 'dropped a client' t.log)" 1 'rubbish is logged, but not each time'

timeout 60 cpid --db t.db --socket other.sock 2>second.log
is $? 1 'a second daemon on the database fails'
try 'it says which database' grep -q 't\.db' second.log
timeout 60 cpid --db other.db --socket t.sock 2>second.log
is $? 1 'a second daemon on the socket fails'
try 'it says which socket' grep -q 't\.sock: another process listens there' second.log
is "$(cpid_field pid)" "$cpid_pid" 'the first daemon goes on'

mv t.log old.log
kill -HUP "$cpid_pid"
cpid_settle
try 'HUP opens the log again' grep -q 'reopened' t.log

kill -TERM "$cpid_pid"
try 'TERM makes it say that it stops' cpid_await STOPPING=1
cpid_wait
is "$cpid_status" 0 'it exits with 0'
try 'its socket is gone' test ! -e t.sock

try 'it starts again on the same database' cpid_start
kill -KILL "$cpid_pid"
cpid_wait
try 'it leaves its socket behind when it is killed' test -S t.sock
try 'the next one starts all the same' cpid_start
cpid_ask quit
cpid_wait
is "$cpid_status" 0 'a request makes it stop as well'

cpid --frob 2>/dev/null
is $? 2 'a wrong option is a usage error'
