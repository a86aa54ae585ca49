#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Samples at the scheduler's ticks, beside random ones, are a stream of their own. They are
# of user mode and of the kernel, there are as many as ticks, and each one is accounted for.
CPI_TEST_COLLECTOR=bpf
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need chrt
cpid_start --db probe.db -e ticks || skip_all "no ticks here: $(tail -n 1 t.log)"
cpid_ask quit >/dev/null
cpid_wait
rm -f probe.db*
chrt -f 1 true 2>/dev/null || skip_all 'no process may be scheduled before all others'
plan $((nr_stored_tests + 27))

has_ticks()
{
	[ "$(cpid_field received.ticks)" -ge "$1" ]
}

collect_start -e ticks -F 500 --sweep 100ms --flush 300ms
mkfifo split.out
# Before all other processes: if it took turns with them, ticks would meet it too often.
chrt -f 1 "$programs/split" >split.out &
split=$!
tap_pids="$tap_pids $split"
exec 4<split.out
read -r ready <&4
await has_ticks 500
check_status 'while cpid samples'
try 'cpi rate changes the rate of the random samples' cpi rate 250 --socket t.sock
await has_ticks 1500
kill -TERM $split
read -r three one _ <&4
wait $split
"$programs/spawn" 20 2 50 "$programs/burn_a" "$programs/burn_b" >/dev/null
dd if=/dev/zero of=/dev/null bs=64k count=40000 2>/dev/null # in the kernel
cpid_ask flush >/dev/null
check_status 'after a flush'
is "$(cpid_field not_delivered.ticks)" 0 'every expected tick is received'
is "$(cpid_field elsewhere.ticks)" '' 'all ticks are samples'
collect_stop
check_stored
note "the program: $ready, $three ms and $one ms"

is "$(sql "SELECT event, source, unit, count(*) FROM stream WHERE event <> 'windows' GROUP BY event ORDER BY 1")" \
	'cpu-clock|bpf|ns|2
ticks|bpf|ns|1' 'ticks are one stream, whatever the rate is'
period=$(sql "SELECT mean_period FROM stream WHERE event = 'ticks'")
note "a tick per $period ns"
# total_of EVENT: samples in the kernel's own code, by contexts of no kind.
total_of()
{
	sql "SELECT total(p.total) FROM profile p JOIN stream s ON s.id = p.stream
		JOIN image i ON i.id = p.image
		WHERE s.event = '$1' AND context = 0 AND p.kind = 0 AND i.name = '[kernel]'"
}
bound "$(total_of ticks)" '>' 0 'ticks sample the kernel'
# dd calls the kernel for nearly all of its time, whatever the machine does beside it.
cpi prof --db t.db --epoch all --event ticks --by image --comm dd --format=json >dd.json 2>/dev/null
bound "$(sql "SELECT total(json_extract(value, '\$.samples.ticks')
		* (json_extract(value, '\$.image') LIKE '[%'))
	/ total(json_extract(value, '\$.samples.ticks'))
	FROM json_each(readfile('dd.json'), '\$.rows')" :memory:)" '>=' 0.5 \
	'the ticks of a program that is in the kernel are in the kernel'
is "$(sql 'SELECT name FROM loss WHERE kind = 0 AND class = 1')" '' 'no sample is lost'
bound "$(sql "SELECT max(1.0 * received * mean_period / running_ns) FROM tally t
	JOIN stream s ON s.id = t.stream WHERE s.event = 'ticks'")" '<=' 1.02 \
	'a CPU has no more ticks than its period allows'

cpi prof --db t.db --epoch all --event ticks --image '*/split' --by image --format=json \
	>split.json 2>prof.err
ms=$(sql "SELECT total(json_extract(value, '\$.time_ns')) / 1e6
	FROM json_each(readfile('split.json'), '\$.rows')" :memory:)
# It runs without a pause, so its ticks are even, and no chance is involved: ten ticks are
# for the begin and end, a tenth is for the turns of other processes.
bound "$(awk -v x="$ms" -v three="$three" -v one="$one" -v period="$period" 'BEGIN {
	truth = three + one
	d = x - truth
	print (d < 0 ? -d : d) - 10 * period / 1e6 - 0.1 * truth
}')" '<=' 0 "the ticks of the program add up to its CPU time"

# Both streams as one time.
cpi prof --db t.db --epoch all --format=json >both.json 2>both.err
is "$(sql "SELECT value FROM json_each(readfile('both.json'), '\$.rows')
	WHERE coalesce(json_type(value, '\$.departs'), '') NOT IN ('true', 'false')" :memory:)" \
	'' 'each combined row says whether ticks differ'
kernel="json_extract(value, '\$.image') IN ('[kernel]', '[bpf]')"
bound "$(sql "SELECT count(*) FROM json_each(readfile('both.json'), '\$.rows') WHERE $kernel
	AND json_extract(value, '\$.samples.ticks') > 0" :memory:)" '>' 0 'combined rows of the kernel have ticks'
bound "$(sql "WITH r AS (SELECT total(json_extract(value, '\$.time_ns')) AS t
		FROM json_each(readfile('both.json'), '\$.rows') WHERE $kernel),
	c AS (SELECT total(json_extract(value, '\$.samples.cpu-clock')) AS n
		FROM json_each(readfile('both.json'), '\$.rows') WHERE $kernel)
	SELECT r.t > 0 AND c.n > 0 FROM r, c" :memory:)" '>' 0 'rows of the kernel have time'
bound "$(sql "WITH r AS (SELECT total(json_extract(value, '\$.time_ns')) AS t
		FROM json_each(readfile('both.json'), '\$.rows')),
	c AS (SELECT total(total * mean_period) AS t FROM profile p JOIN stream s ON s.id = p.stream
		JOIN image i ON i.id = p.image
		WHERE s.event = 'cpu-clock' AND context = 0 AND p.kind = 0 AND i.kind <> 4)
	SELECT abs(r.t - c.t) / c.t FROM r, c")" '<=' 0.1 \
	'the combined rows have the time of the random samples'
cpi prof --db t.db --epoch all --by comm -v >comm.txt 2>comm.err
like "$(cat comm.txt)" ' split$' 'cpi prof --by comm has rows of commands'
like "$(cat comm.txt)" '^Time: .* of cpu-clock and [0-9]* of ticks$' 'their time is that of both streams'

# Collectors and modifiers that ticks refuse.
for who in perf kmod; do
	cpid_start --db refused.db -e ticks --collector $who && bail "$who samples ticks"
	like "$cpid_status $(cat t.log)" 'ticks need the collector bpf' "the collector $who refuses ticks"
	rm -f t.log
done
# Only a process can be sampled without the kernel if that is refused, so ticks never are.
timeout 300 cpi record -o refused.db -e ticks -- true >out 2>&1
like "$? $(cat out)" '^1 .*ticks need the collector bpf' 'ticks of one process are refused'
for bad in ticks:u ticks@5; do
	cpid_start --db refused.db -e $bad && bail "$bad is an event"
	like "$cpid_status $(cat t.log)" 'neither modifiers nor another period' "cpid refuses the event $bad"
	rm -f t.log
done

# A tick in the kernel may interrupt the program of an event that happens there.
cpid_start --db user.db -e ticks,page-faults --collector bpf || bail 'cpid does not start'
await has_ticks 100
dd if=/dev/zero of=/dev/null bs=64k count=40000 2>/dev/null
bound "$(cpid_field elsewhere.ticks)" '>' 0 'beside page-faults ticks in the kernel are counted separately'
cpid_ask quit >/dev/null
cpid_wait
is "$(sqlite3 user.db "SELECT i.name, p.total FROM profile p JOIN stream s ON s.id = p.stream
	JOIN image i ON i.id = p.image WHERE s.event = 'ticks' AND i.kind NOT IN (0, 3)")" \
	'' 'and are no samples'

# The default events, on a machine without a counter of cycles.
cpid_rate=
cpid_start --db default.db --collector bpf || bail 'cpid does not start'
cpid_ask status >status.txt
cpid_ask quit >/dev/null
cpid_wait
if grep -q '^event.0 cycles' status.txt; then
	skip 2 'there is a counter of cycles'
else
	is "$(grep '^event\.' status.txt)" 'event.0 cpu-clock
event.1 ticks' 'the default events are cpu-clock and ticks'
	bound "$(sed -n 's/^rate_hz //p' status.txt)" '<=' 100 'the default rate is at most 100 Hz beside ticks'
fi
