#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi record on this machine: the profile, the command's exit, signals.
. "$srcdir/t/tap.sh"

[ -r /proc/sys/kernel/perf_event_paranoid ] || skip_all "the kernel has no perf events"
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
[ "$(id -u)" -eq 0 ] || [ "$paranoid" -le 2 ] ||
	skip_all "kernel.perf_event_paranoid is $paranoid and this is not root"

cp "$builddir/t/target" target || bail "no target"

plan 25

cpi record -o a.db --label first -- ./target 2000000000 >out 2>err
is "$?" 0 "a command is recorded"
is "$(cat out)" "$(./target 2000000000)" "its output is its own"
like "$(cat err)" "[0-9] samples in .*a.db; try: cpi prof --db a.db" "the summary"
cpi prof --db a.db --image target --format=csv >prof 2>/dev/null
is "$(sed -n 2p prof | cut -d, -f5)" target_hot "its busiest procedure is found"
got=$(awk -F, '/,target_hot,/ { hot += $1 } NR > 1 { all += $1 }
	END { print (all >= 20 && hot > 0.9 * all) }' prof)
is "$got" 1 "and has nearly all of its samples"
is "$(cpi cat --intervals --db a.db --epoch all --format=csv |
	awk -F, 'NR > 1 && $7 != $8 + $9' | wc -l | tr -d ' ')" 0 \
	"received is stored and lost in every flush"
is "$(cpi epoch list --db a.db --format=csv | sed 1d | cut -d, -f7,11)" "ended,first" \
	"the epoch has its label, and an end"
cpi list --db a.db --image target --format=csv target_hot >list 2>/dev/null
is "$(awk -F, 'NR > 1 { n += $1 } END { print n }' list)" \
	"$(awk -F, '/,target_hot,/ { n += $1 } END { print n }' prof)" \
	"prof and list agree on it"

cpi record -F 500 -e cpu-clock -e page-faults@10 -o a.db --raw raw -- \
	sh -c 'i=0; while [ $i -lt 20 ]; do ./target 100 >out; i=$((i + 1)); done' 2>err
is "$?" 0 "two events are recorded"
is "$(cpi epoch list --db a.db --format=csv | sed 1d | wc -l | tr -d ' ')" 2 \
	"into one more epoch of the same database"
like "$(cpi prof --db a.db 2>/dev/null)" "^Stream cpu-clock.* a sample per 2 ms" \
	"at the rate that was asked for"
like "$(cpi prof --db a.db 2>/dev/null)" "^Stream page-faults.* a sample per 10 events" \
	"and with the period of the other"
is "$(($(wc -c <raw) - 16))" "$((32 * $(cpi cat --intervals --db a.db --format=csv |
	awk -F, 'NR > 1 { n += $7 - $9 } END { print n }')))" \
	"every sample that did not find its ring full is in the raw file, too"

# The command's exit is cpi's.
for try in 'exit 3:3' 'kill -9 $$:137'; do
	cpi record -o b.db -- sh -c "${try%:*}" 2>err
	is "$?" "${try#*:}" "${try%:*} is status ${try#*:}"
done
cpi record -o b.db -- ./nothing 2>err
is "$?" 127 "a command that is not there is status 127"
like "$(cat err)" "./nothing: No such file" "and named"
: >plain
cpi record -o b.db -- ./plain 2>err
is "$?" 126 "a file that cannot be run is status 126"
cpi record -o none/b.db -- touch ran 2>err
is "$?" 1 "without a database nothing is recorded"
[ ! -e ran ]
ok $? "and the command is not run"
cpi record 2>err
is "$?" 2 "a missing command is a usage error"

# A signal to cpi goes to the command; the profile is stored.
mkfifo ready
cpi record -o c.db -- sh -c 'trap "exit 5" TERM; echo go >ready; while :; do :; done' \
	2>err &
pid=$!
timeout 60 cat ready >/dev/null
kill -TERM $pid
wait $pid
is "$?" 5 "a signal goes to the command"
is "$(cpi epoch list --db c.db --format=csv | sed 1d | cut -d, -f7)" ended \
	"the profile is stored"

# Without privileges: the command's own processes.
if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null; then
	skip 2 "needs root and setpriv to be somebody else"
elif [ "$paranoid" -gt 2 ]; then
	skip 2 "kernel.perf_event_paranoid is $paranoid"
else
	chmod 777 "$tmp"
	setpriv --reuid=65534 --regid=65534 --clear-groups -- \
		cpi record -o d.db -- ./target 2000000000 >out 2>err
	like "$(cat err)" "only ./target and what it starts is" \
		"without privileges, it says what it samples"
	is "$(cpi prof --db d.db --format=csv 2>/dev/null | sed -n 2p | cut -d, -f5)" \
		target_hot "and does"
fi
