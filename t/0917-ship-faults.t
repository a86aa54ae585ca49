#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# System calls of cpi-ship fail, one at a time, with the errors that their manuals name. It
# ends in time and says what failed, and afterwards each epoch counts once in the store.
. "$srcdir/t/tap.sh"
. "$srcdir/t/clickhouse.sh"
PATH="$builddir/ship:$PATH"
need strace sqlite3 curl python3
strace -o probe -e inject=getppid:error=EPERM true 2>/dev/null ||
	skip_all 'nothing can be traced here'
[ -z "$(store_lacks old)" ] || skip_all "$(store_lacks old)"

cat >failures.txt <<'END'
socket EMFILE
connect ECONNREFUSED
connect ETIMEDOUT
sendto ECONNRESET
sendto EPIPE
recvfrom ECONNRESET
recvfrom EINTR
poll EINTR
poll ENOMEM
openat EMFILE
openat EIO
pread64 EIO
fcntl ENOLCK
newfstatat EIO
mmap ENOMEM
read EIO
write EIO
END
plan $((2 + 2 * $(wc -l <failures.txt)))

"$builddir/t/mkdb" known.db "$builddir/t/target" || bail 'mkdb failed'
wanted=$(sqlite3 known.db 'SELECT (SELECT sum(received) FROM tally),
	(SELECT sum(stored) FROM tally), (SELECT sum(total) FROM profile WHERE kind = 0)' | tr '|' ' ')
valid='(host, at, nr) IN (SELECT host, at, nr FROM epoch) AND (host, at, nr) NOT IN (SELECT host, at, nr FROM void)'

# stored: what counts in the store
stored()
{
	for stored_sum in 'sum(received) FROM tally' 'sum(stored) FROM tally' \
		"sum(n) FROM profile WHERE counter = 0 AND"; do
		case $stored_sum in *AND) ;; *) stored_sum="$stored_sum WHERE" ;; esac
		store_sql "SELECT $stored_sum $valid"
	done | paste -s -d ' '
}

ship()
{
	timeout 100 "$@" cpi-ship --store "$url" --budget 100 --rate 0 --once --db known.db \
		>ship.out 2>&1
	ship_status=$?
}

# forget: the store forgets what it has, but for rows that do not count without an epoch.
forget()
{
	store_sql 'TRUNCATE TABLE epoch'
}

store_start old "$tmp/store"
url=clickhouse://127.0.0.1:$store_port/cpi
cpi fleet init --db "$url" >init.out || bail "$(cat init.out)"
store_db=cpi
ship strace -f -qq -o clean
is "$ship_status" 0 'without a failure all is shipped' || cat ship.out
is "$(stored)" "$wanted" 'without a failure the store has each count'
# The store has images and streams now, so later runs send less: their calls are counted.
forget
ship strace -f -qq -o clean

# fails CALL ERROR: the call fails once after a third of the calls, and once after two.
fails()
{
	nr=$(grep -c "^[0-9]* *$1(" clean)
	for part in 1 2; do
		forget
		ship strace -f -qq -o trace -e trace="$1" \
			-e inject="$1:error=$2:when=$((nr * part / 3 + 1))"
		case $ship_status in
		0) ;;
		1 | 127) [ -s ship.out ] || echo "silent at $part/3" ;;
		*) echo "status $ship_status at $part/3" ;;
		esac
		grep -q INJECTED trace || echo "not reached at $part/3 of $nr"
		ship env
		[ "$ship_status $(stored)" = "0 $wanted" ] ||
			echo "then status $ship_status, $(stored)"
	done
}

while read -r call error; do
	fails "$call" "$error" </dev/null >wrong.txt 2>&1
	unlike "$(cat wrong.txt)" '^status\|^silent\|^then' \
		"$call fails with $error: cpi-ship says so; then each epoch counts once"
	unlike "$(cat wrong.txt)" '^not reached' "$call fails with $error: the failure was reached"
done <failures.txt
