#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# System calls of cpi-capture and cpi-unwind fail, of the servers and of their workers, with
# the errors that their manuals name. cpi record ends in time, accounts for each sample and
# call stack, and stores a database that is whole.
. "$srcdir/t/tap.sh"
need strace pgrep sqlite3
need_record
strace -o probe -e inject=getppid:error=EPERM true 2>/dev/null ||
	skip_all 'nothing can be traced here'
[ -x "$builddir/helpers/cpi-unwind" ] || skip_all 'libunwind is not built in'

cat >failures.txt <<'END'
cpi-capture clone EAGAIN
cpi-capture clone ENOMEM
cpi-capture socketpair EMFILE
cpi-capture recvmsg ENOMEM
cpi-capture poll EINTR
cpi-capture pread64 EIO
cpi-capture mmap ENOMEM
cpi-capture fcntl EMFILE
cpi-capture newfstatat EIO
cpi-capture capset EPERM
cpi-capture prctl EINVAL
cpi-capture write EIO
cpi-capture write ENOSPC
cpi-unwind recvmsg ENOMEM
cpi-unwind read EINTR
cpi-unwind read EIO
cpi-unwind write ENOBUFS
cpi-unwind pread64 EIO
cpi-unwind mmap ENOMEM
cpi-unwind newfstatat EIO
END
plan $((3 * $(wc -l <failures.txt) + 3))
mkfifo go
cp "$builddir/t/programs/burn_c" fresh

# record_start DATABASE: cpi record, $record, with helpers; the program waits for a line.
record_start()
{
	timeout 200 cpi record -o "$1" -g dwarf --stacks-freq 199 -F 499 -- \
		sh -c 'read _ <go; ./fresh 400' >record.out 2>&1 &
	timed=$!
	tap_pids="$tap_pids $timed"
	await has_helpers
}

has_helpers()
{
	record=$(pgrep -P "$timed") && capture=$(pgrep -P "$record" -x cpi-capture) &&
		unwind=$(pgrep -P "$record" -x cpi-unwind) && pgrep -P "$unwind" >/dev/null
}

record_end()
{
	echo >go
	wait "$timed"
	record_status=$?
}

# has_tracer PID: a call that strace interrupts is made again, and may fail at once.
has_tracer()
{
	grep -q '^TracerPid:.[1-9]' "/proc/$1/status" 2>/dev/null || grep -q INJECTED trace
}

# unaccounted DATABASE: streams with samples or stacks that are nowhere; or what is damaged.
unaccounted()
{
	sqlite3 -readonly "$1" 'SELECT t.* FROM tally t WHERE received <> stored +
		(SELECT total(n) FROM loss l WHERE l.epoch = t.epoch AND l.kind = t.kind AND
		l.stream = t.stream)'
	cpi cat --check --db "$1" 2>&1 >/dev/null
}

# received DATABASE KIND: samples (0) or call stacks (1).
received()
{
	sqlite3 -readonly "$1" "SELECT total(received) > 10 FROM tally WHERE kind = $2"
}

# run_with_failures HELPER CALL ERROR: the first three such calls of each of its processes
# fail.
run_with_failures()
{
	rm -f t.db*
	record_start t.db
	[ "$1" = cpi-capture ] && server=$capture || server=$unwind
	: >trace
	strace -f -qq -o trace -e trace="$2" -e inject="$2:error=$3:when=1..3" \
		-p "$(echo "$server" $(pgrep -P "$server") | tr ' ' ,)" 2>strace.err &
	tracer=$!
	tap_pids="$tap_pids $tracer"
	await has_tracer "$server"
	record_end
	kill "$tracer" 2>/dev/null
	wait "$tracer"
}

# fails_in HELPER CALL ERROR: a worker may have made the call before strace attached.
fails_in()
{
	for try in 1 2 3 4 5; do
		run_with_failures "$@"
		! grep -q INJECTED trace || break
	done
	like "$(grep -c INJECTED trace)" '^[1-9]' "$1: $2 fails with $3"
	is "$record_status" 0 "$1: $2 $3: cpi record ends with 0" || cat record.out
	is "$(received t.db 0) $(unaccounted t.db)" '1 ' \
		"$1: $2 $3: each sample and stack is accounted for, and the database is whole"
}

record_start known.db
record_end
is "$record_status $(unaccounted known.db)" '0 ' 'without a failure all is accounted for'
is "$(received known.db 1)" 1 'without a failure there are call stacks'
is "$(sqlite3 known.db "SELECT count(*) > 0 FROM capture JOIN image ON id = image
	WHERE name = '$PWD/fresh'")" 1 'without a failure the program is captured'
while read -r helper call error; do
	fails_in "$helper" "$call" "$error" </dev/null
done <failures.txt
