#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# System calls fail, one at a time, with the errors that their manuals name: a command then
# fails with a message, or prints and stores what it would have without the failure; cpid
# goes on, and accounts for each sample. $EVERY is how many runs of a command there are for
# each system call; 0: each call fails once with each error.
. "$srcdir/t/tap.sh"
need strace python3 perf zstd
strace -o probe -e inject=getppid:error=EPERM true 2>/dev/null ||
	skip_all 'nothing can be traced here'
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
. "$srcdir/t/known.sh"
plan $((14 + 15 * 2 + 3 + nr_stored_tests))

# ---- commands ----

mkdir start
perf record -q -F 200 -g -o start/perf.data -- "$programs/burn_b" 20 2>/dev/null ||
	perf record -q -e cpu-clock -F 200 -g -o start/perf.data -- "$programs/burn_b" 20 ||
	bail 'perf records nothing'
cpi import --db start/stacks.db start/perf.data >import.txt || bail 'no import'
zstd -q -d -o start/known.data "$srcdir/t/fixtures/perfdata/perf.data.lost_samples-4.4.zst" ||
	bail 'no recording to import'
sqlite3 known.db "VACUUM INTO 'start/known.db'" && cp start/known.db start/other.db ||
	bail 'no copy of the database'

# survives COMMAND...: no failure makes it lie, hang, crash or lose.
survives()
{
	"$srcdir/t/inject" start "${EVERY:-2}" cpi "$@" >wrong.txt 2>&1
	sed 's/^/# /' wrong.txt
	like "$(tail -n 1 wrong.txt)" '^[1-9][0-9]* runs, [1-9][0-9]* failed, wrong 0$' \
		"cpi $*: says what failed, or answers as without the failure"
}

survives prof
survives list target_hot
survives calc --all --format=json
survives sum
survives diff 1 3
survives status
survives tree --db stacks.db
survives flame --db stacks.db --output flame.svg
survives export --format=pprof --output profile.pb
survives import --db new.db known.data
survives epoch label 3 release
survives epoch export copy.db 2
survives epoch import other.db
survives epoch rm 3

# ---- cpid ----

# traced PID: whether a tracer is attached.
traced()
{
	grep -q '^TracerPid:.[1-9]' "/proc/$1/status"
}

untraced()
{
	! traced "$1"
}

# descriptors: what cpid has open, without the files of others, the sockets and pipes of
# children that work for it just now (daemon/os/timed_child.h), and the BPF program that it
# loads a moment after its start (daemon/session/session_late.c).
descriptors()
{
	for descriptor in "/proc/$cpid_pid/fd"/*; do
		readlink "$descriptor"
	done | sed 's/[0-9]*//g' |
		grep -v '^socket\|^pipe\|^anon_inode:b\|eventpoll\|^/usr\|^/proc\|programs' | sort | uniq -c
}

# fails_in_flush CALL ERROR: the first three such calls of each thread of cpid fail while it
# sees new processes and stores; the next flush succeeds.
fails_in_flush()
{
	strace -f -qq -o trace -e trace="$1" -e inject="$1:error=$2:when=1..3" \
		-p "$cpid_pid" 2>strace.err &
	tracer=$!
	tap_pids="$tap_pids $tracer"
	await traced "$cpid_pid"
	"$programs/spawn" 20 2 1 "$programs/burn_c" >/dev/null
	cpid_ask flush >reply.txt 2>&1
	kill "$tracer"
	wait "$tracer"
	await untraced "$cpid_pid"
	like "$(grep -c INJECTED trace)" '^[1-9]' "cpid: $1 fails with $2"
	try 'after that, cpid stores' cpid_ask flush
}

collect_start --flush 1h --windows off
cpid_ask flush >reply.txt
before=$(descriptors)
while read -r call error; do
	fails_in_flush "$call" "$error" </dev/null
done <<'END'
pwrite64 ENOSPC
pwrite64 EIO
pread64 EIO
fdatasync EIO
ftruncate EIO
fcntl ENOLCK
openat EMFILE
openat ENOMEM
openat2 EMFILE
read EIO
read ENOMEM
newfstatat EIO
statx EIO
recvmsg ENOMEM
epoll_wait EINTR
END
is "$(descriptors)" "$before" 'cpid has as many descriptors as before'
check_status 'after all failures'
collect_stop
check_stored
