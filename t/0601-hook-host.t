#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs behave with the loader hook as without it, whatever is at the other end of its
# socket.
. "$srcdir/t/tap.sh"
. "$srcdir/t/hook.sh"

CPI_ANNOUNCE=$tmp/sock
export CPI_ANNOUNCE

# as_without_hook NAME COMMAND...: a test that output, errors and status are those without the hook
as_without_hook()
{
	same_name=$1
	shift
	"$@" >out.without 2>&1
	echo "status $?" >>out.without
	hooked "$@" >out.with 2>&1
	echo "status $?" >>out.with
	is "$(cat out.with)" "$(cat out.without)" "$same_name"
}

# run_all WHAT: all programs, with WHAT at the other end; 8 tests
run_all()
{
	as_without_hook "a program, $1" "$builddir/t/target" 7
	as_without_hook "a program that is not found, $1" sh -c 'exec /no/such/program'
	as_without_hook "a static program, $1" "$programs/burn_a" 1
	as_without_hook "8 threads that load and unload, $1" "$programs/loader" threads "$loaded" 1000
	as_without_hook "a fork, then without descriptors, $1" "$programs/loader" fork "$loaded"
	as_without_hook "a name space of its own, $1" "$programs/loader" space "$loaded"
	as_without_hook "a filter that kills a process which makes a socket, $1" "$programs/loader" filter "$loaded"
	as_without_hook "a missing library, $1" "$programs/loader" fork /no/such.so
}

plan 38
try 'the hook is loaded' sh -c "LD_DEBUG=files LD_AUDIT='$hook' '$builddir/t/target' 7 2>&1 |
	grep -q 'libcpi-audit.so'"
is "$("$programs/loader" threads "$loaded" 1)" fine 'the program works without the hook'

run_all 'with no socket'

echo >sock
run_all 'with a regular file instead of the socket'
rm sock

"$builddir/t/announce_peer" hold sock >said.txt &
holder=$!
tap_pids="$tap_pids $holder"
until grep -q bound said.txt 2>/dev/null; do
	kill -0 $holder || bail 'no socket'
done
run_all 'with a socket that is full'
kill $holder
wait $holder 2>/dev/null
run_all 'with a socket whose owner is dead'

# The dynamic linker ignores audit libraries with a path in a program with privileges.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	cp "$builddir/t/target" privileged
	chmod 4755 privileged
	chmod 755 .
	as_without_hook 'a program with privileges' setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$tmp/privileged" 7
else
	skip 1 'only root can make a program with privileges'
fi

CPI_ANNOUNCE=$(printf '%0200d' 0)
as_without_hook 'a socket with too long a name' "$builddir/t/target" 7
CPI_ANNOUNCE=
as_without_hook 'a socket without a name' "$builddir/t/target" 7
is "$(readelf -dW "$hook" | grep -c NEEDED)" 0 'the hook needs no library'
