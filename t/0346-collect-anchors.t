#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Anchors of a program that says how often it called what: the rate, in the interval that
# visits give; what is budgeted; and programs that come, go and change amid a visit.
#
# Statistic: the mean of visits' rates against the truth. Between visits it deviates by
# what is measured, of which five are allowed; what a hit costs is known to 20 % (a
# neighbour's load comes and goes), in the share of the time that hits took.
CPI_TEST_COLLECTOR=bpf
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
[ -x "$builddir/tools/cpi-translate" ] || skip_all 'windows are not built in'
program=$(realpath "$programs/called")

# anchors_start [OPTIONS]: cpid, or nothing where the machine has none.
anchors_start()
{
	collect_start --windows 499 --anchors 2000 "$@"
	[ "$(cpid_field windows)" = on ] ||
		skip_all "no windows here: $(grep windows: t.log | tail -n 1)"
	[ "$(cpid_field anchors)" = on ] ||
		skip_all "no breakpoints here: $(grep anchors: t.log | tail -n 1)"
}

# check_whole NAME: visits are stored or lost, in the status and in the database.
check_whole()
{
	is "$(sql 'SELECT (SELECT total(visits) FROM anchor_tally) -
		(SELECT total(visits) FROM anchor) - (SELECT total(n) FROM anchor_loss)')" 0.0 \
		"visits = stored + lost, $1"
	try "the database is whole, $1" cpi cat --check --db $db
}

anchors_start
plan 17

truth=$("$program" 4000 2)
note "calls, and per second: $truth"
cpid_ask status >status.txt
collect_stop
like "$(cat status.txt)" '^anchors_visits [1-9]' 'there are visits'
bound "$(awk '$1 == "anchors_hits" { hits = $2 } $1 == "uptime_s" { up = $2 + 1 }
	END { print hits / up }' status.txt)" '<=' 2000 'hits are within what is allowed'
check_whole 'of two threads'
is "$(sql 'SELECT count(*) FROM anchor WHERE hits > 40 * visits')" 0 \
	'no visit had more than the kernel lets through'
is "$(sql 'SELECT count(*) FROM anchor WHERE running_ns > 1.5 * enabled_ns')" 0 \
	'nor more CPU time than there was'

at=$((0x$(nm "$program" | awk '$3 == "called_now" { print $1 }') - $(bias "$program")))
sql "SELECT sum(visits), sum(rate), sum(squares), 1.0 * sum(hit_ns) / (sum(running_ns) - sum(hit_ns))
	FROM anchor a JOIN image i ON i.id = a.image
	WHERE i.name = '$program' AND a.start = $at AND a.comm = 'called'" >found.txt
bound "$(cut -d'|' -f1 found.txt)" '>=' 5 'what it calls was visited'
awk -F'|' -v truth="${truth#* }" '{
	mean = $2 / $1
	sd = sqrt(($3 / $1 - mean * mean) / ($1 - 1))
	off = mean / truth - 1
	printf "# %.0f per second, of %s: %.1f %% off, sd %.1f %%, hits took %.2f of the rest\n",
		mean, truth, 100 * off, 100 * sd / mean, $4
	exit !((off < 0 ? -off : off) < 5 * sd / mean + 0.2 * $4 + 0.05)
}' found.txt
ok $? 'its rate is the true one'

cpi calc --db $db --image called --format json called_now >calc.json
like "$(cat calc.json)" '"scale_source": *"anchors"' 'calc says whence the scale is'
cpi calc --db $db --image called called_now >calc.txt
like "$(cat calc.txt)" 'anchored by breakpoints' 'so it does as text'
cpi list --db $db --image called called_now >list.txt
like "$(cat list.txt)" 'anchored by breakpoints' 'and list'

# Short-lived ones, one that executes another, a library that comes and goes.
rm -f $db*
anchors_start
"$programs/loader" threads "$programs/loaded.so" 400 >/dev/null 2>&1 &
loader=$!
for i in 1 2 3 4 5 6 7 8; do
	"$program" 30 3 >/dev/null
	sh -c "exec $program 60" >/dev/null
done
wait $loader
collect_stop
check_whole 'of what comes and goes'

rm -f $db*
collect_start --windows off --anchors 100
is "$(cpid_field anchors)" off 'without windows there are none'
like "$(cat t.log)" 'anchors: not available' 'and it is said'
