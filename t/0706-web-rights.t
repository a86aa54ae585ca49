#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi-web and cpi-ship, started as by their units, have the rights that doc/security.md
# states, and their units allow what they need.
. "$srcdir/t/tap.sh"
. "$srcdir/t/clickhouse.sh"
. "$srcdir/t/web.sh"
need strace setpriv
[ "$(id -u)" = 0 ] || skip_all 'only root can become another user'
strace -o probe true 2>/dev/null || skip_all 'nothing can be traced here'
plan 9
PATH="$builddir/ship:$PATH"
check="$srcdir/t/rights_check.py" doc=$srcdir/doc/security.md

"$builddir/t/mkdb" known.db "$builddir/t/target" || bail 'mkdb failed'
rm -f known.db-*
cp known.db ship.db
cp "$builddir/tools/cpi" own-cpi # another user may not enter the build
chmod 777 . && chown 65534:65534 known.db ship.db

# as_unit TRACE COMMAND...: as another user, without capabilities, in the background;
# $traced is the process.
as_unit()
{
	as_unit_trace=$1
	shift
	strace -f -qq -o "$as_unit_trace" setpriv --reuid=65534 --regid=65534 --clear-groups \
		--inh-caps=-all --ambient-caps=-all --bounding-set=-all --no-new-privs "$@" \
		>served 2>&1 &
	tracer=$!
	tap_pids="$tap_pids $tracer"
	await runs_as "$(basename "$1")" || bail "$1 does not run: $(cat served)"
}
# runs_as NAME: whether the traced process has become this program.
runs_as()
{
	traced=$(cut -d ' ' -f 1 "/proc/$tracer/task/$tracer/children")
	[ "$(cat "/proc/$traced/comm" 2>/dev/null)" = "$1" ]
}
ask()
{
	python3 "$srcdir/t/web_unix.py" get web.sock "$@"
}
healthy()
{
	ask /-/healthy >/dev/null 2>&1
}

as_unit web.trace "$(command -v cpi-web)" --cpi="$PWD/own-cpi" --db=known.db \
	--listen=unix:web.sock
await healthy || bail "cpi-web does not start: $(cat served)"
ask '/api/v1/prof?epoch=all' >answer
like "$(cat answer)" '^200' 'cpi-web reports as a user without capabilities'
for path in / /metrics /api/v1/ '/api/v1/epochs' '/api/v1/list?procedure=main&epoch=all' \
	'/api/v1/flame?epoch=all' '/api/v1/stats?epoch=all' '/api/v1/diff?A=1&B=2'; do
	ask "$path" >answer 2>&1
done
"$check" processes "$doc" "$traced" web.sock >rights
is "$(cat rights)" 'seen cpi-web' 'cpi-web has the rights that doc/security.md states'
kill -TERM "$traced"
wait "$tracer"
is $? 0 'cpi-web ends in good order'

store_silent
as_unit ship.trace "$(command -v cpi-ship)" --db "$tmp/ship.db" \
	--store "clickhouse://127.0.0.1:$(head -n 1 silent.out)/cpi"
await grep -q asked silent.out || bail "nothing was asked: $(cat served)"
"$check" processes "$doc" "$traced" >rights
is "$(cat rights)" 'seen cpi-ship' 'cpi-ship has the rights that doc/security.md states'
kill -TERM "$traced"
wait "$tracer"
is $? 0 'cpi-ship ends in good order'

if ! command -v systemd-analyze >/dev/null; then
	skip 4 'systemd-analyze is missing'
	exit 0
fi
for name in web ship; do
	unit=$srcdir/$name/cpi-$name.service.in
	bound "$(grep -c . $name.trace)" '>' 100 "system calls of cpi-$name were traced"
	is "$("$check" calls "$unit" $name.trace)" '' \
		"each system call is allowed by cpi-$name.service, and each entry of its list is needed"
done
