#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Reports of an open epoch: cpid stores first, or a line says how old the counts are.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
plan 17

# Keeps a CPU busy for more than the two seconds in which counts are fresh.
work()
{
	timeout 3 "$programs/burn_b" 600000
}

cpid_start --flush 1h || bail 'cpid does not start'
CPI_SOCKET=$PWD/t.sock
export CPI_SOCKET
work
cpi prof --db t.db >prof.txt 2>err
is $? 0 'cpi prof succeeds before the first flush is due'
unlike "$(cat err)" 'stored up to' 'no line says that counts are old'
like "$(cat prof.txt)" ' burn_b ' 'the samples of the last seconds are in the report'

(unset CPI_DB; cpi prof --limit 1 >prof.txt 2>err)
is $? 0 'without --db, cpi prof reads the database of the daemon that CPI_SOCKET names'
(unset CPI_DB; cpi status --format=csv >status.csv 2>err)
like "$(cat status.csv)" "^database,path,$PWD/t.db\$" 'cpi status reads the same database'

# What only looks, or reads a copy, has nothing stored.
cpi epoch export copy.db last --db t.db >out 2>err
work
flushes=$(cpid_field flushes)
cpi epoch list --db t.db >out
cpi cat --intervals --db t.db >out
cpi status --db t.db >out
cpi prof --db copy.db >out 2>err
unlike "$(cat err)" 'stored up to' 'a report of a copy needs no such line'
is "$(cpid_field flushes)" "$flushes" 'lists, cpi cat, cpi status and copies cause no flush'
cpi prof --db t.db >out
is "$(cpid_field flushes)" "$((flushes + 1))" 'a report of the open epoch causes one flush'

# It looks at the copy's open epoch, which nobody fills.
cpi top --db copy.db -n 1 -d 0.1 >top.txt
like "$(cat top.txt)" "fills $PWD/t.db: nothing new will come" \
	'cpi top says that cpid fills another database'

# What is stored grows old for certain only when cpid is stopped: with much to keep, it
# stores before the hour is over.
kill -STOP "$cpid_pid"
await grep -q '^State:.T' "/proc/$cpid_pid/status"
work
CPI_SOCKET=none.sock cpi prof --db t.db >prof.txt 2>err
is $? 0 'without an answer, cpi prof shows what is stored'
like "$(cat err)" 't.db: stored up to [0-9:]*Z, [0-9]* s ago: no cpid listens at none.sock' \
	'a line says how old that is'
timeout 300 cpi prof --db t.db >prof.txt 2>err
is $? 0 'cpi prof does not wait for a daemon that is stopped'
like "$(cat err)" 'the cpid at .* does not answer' 'the line says that it does not answer'
kill -CONT "$cpid_pid"
kill "$cpid_pid"
cpid_wait
is "$cpid_status" 0 'the daemon ends'

# After a start of cpid, the last hour has minutes of the run before.
cpid_start --flush 1h || bail 'cpid does not start again'
work
cpi prof --db t.db >prof.txt 2>err
like "$(cat err)" "^cpi: the collector was started again at [0-9:]*Z: --epoch '[^']*Z\.\.' also shows the .* before" \
	'a report after a restart says which minutes it leaves out'
cpi prof --db t.db --epoch "$(sed -n "s/.*--epoch '\([^']*\)'.*/\1/p" err)" >all.txt 2>err
unlike "$(cat err)" 'started again' 'the named epochs leave nothing out'
# After midnight the first time has a date.
is "$(sed -n '1s/.*, \([0-9-]*T\)*\([0-9:]*Z\) to .*/\2/p' all.txt)" \
	"$(sqlite3 t.db "SELECT strftime('%H:%M:%SZ', min(from_ns) / 1000000000, 'unixepoch') FROM epoch")" \
	'the named epochs begin with the first run'
kill "$cpid_pid"
cpid_wait
