# SPDX-License-Identifier: GPL-2.0-or-later
# collect.sh - for tests of the database that cpid writes; after tap.sh and cpid.sh
#
# The database is $db. The event is $CPI_TEST_EVENT or cpu-clock, the collector is
# $CPI_TEST_COLLECTOR or perf: every machine has those.

programs=$builddir/t/programs
db=t.db
event=${CPI_TEST_EVENT:-cpu-clock}
collector=${CPI_TEST_COLLECTOR:-perf}

need sqlite3

# sql QUERY [DATABASE]: prints the rows of the answer.
sql()
{
	sqlite3 -readonly -cmd '.timeout 20000' "${2:-$db}" "$1" || echo "sqlite3 fails: $?"
}

# collect_start [OPTIONS]: starts cpid.
collect_start()
{
	cpid_start --db "$db" -e $event --collector $collector "$@" || {
		sed 's/^/# /' t.log
		bail 'cpid does not start'
	}
}

# collect_stop: stops cpid with a request; this is one test.
collect_stop()
{
	cpid_ask quit >/dev/null
	cpid_wait
	is "$cpid_status" 0 'cpid exits with 0'
}

# The script is skipped if the kernel or this build lacks the event or the collector.
[ $collector = perf ] || {
	cpid_start --db probe.db -e $event --collector $collector ||
		skip_all "$event and the collector $collector cannot be used here: $(tail -n 1 t.log)"
	cpid_ask quit >/dev/null
	cpid_wait
	rm -f probe.db*
}

has_samples()
{
	[ "$(cpid_field received.$event)" -ge "$1" ]
}

# await_samples N: waits until N samples were received.
await_samples()
{
	await has_samples "$1" || bail "cpid does not get $1 samples"
}

# has_captured NUMBER IMAGE: whether the code of so many images of this name is stored.
has_captured()
{
	[ "$(sql "SELECT count(DISTINCT image) FROM capture JOIN image ON id = image
		WHERE name = '$2'")" -ge "$1" ]
}

# status_sum FILE PREFIX: adds up the lines of a status that begin with PREFIX.
status_sum()
{
	awk -v prefix="$2" 'index($1, prefix) == 1 { n += $2 } END { print n + 0 }' "$1"
}

# check_status NAME: in one answer, received = stored + unknown + lost + pending.
check_status()
{
	cpid_ask status >status.txt
	is "$(status_sum status.txt received.)" \
		"$(($(status_sum status.txt stored.) + $(status_sum status.txt unknown.) + \
		$(status_sum status.txt lost.) + $(status_sum status.txt pending_samples)))" \
		"status: received = stored + unknown + lost + pending, $1"
}

# check_stored: the database accounts for every sample. It is $nr_stored_tests tests.
nr_stored_tests=8
check_stored()
{
	is "$(sql 'SELECT t.* FROM tally t WHERE received <> stored +
		(SELECT total(n) FROM loss l WHERE l.epoch = t.epoch AND l.kind = t.kind AND
		l.stream = t.stream)')" \
		'' 'received = stored + unknown + lost, of each epoch and stream'
	is "$(sql 'SELECT t.* FROM tally t WHERE kind = 0 AND stored <>
		(SELECT total(total) FROM profile p WHERE p.epoch = t.epoch AND
		p.stream = t.stream AND context = 0 AND kind = 0)')" \
		'' 'stored = the sum of the profiles, of each epoch and stream'
	is "$(sql 'SELECT t.* FROM tally t WHERE kind = 0 AND stored +
		(SELECT total(n) FROM loss l WHERE l.epoch = t.epoch AND l.stream = t.stream
			AND l.kind = 0 AND class = 0) <>
		(SELECT total(n) FROM comm c WHERE c.epoch = t.epoch AND c.stream = t.stream)')" \
		'' 'stored + unknown = the sum of the commands, of each epoch and stream'
	is "$(sql 'SELECT sum(received), sum(stored), sum(lost) FROM flush')" \
		"$(sql 'SELECT sum(received), sum(stored), sum(received) - sum(stored) FROM tally WHERE kind = 0')" \
		'the flushes add up to the samples of the epochs'
	is "$(sql 'SELECT r.id FROM run r JOIN flush f ON f.run = r.id GROUP BY r.id
		HAVING max(seq) <> count(*) OR min(seq) <> 1')" '' 'no flush is missing'
	# An interval is read from two clocks, one after the other.
	is "$(sql 'SELECT * FROM (SELECT run, seq, from_ns - lag(to_ns)
		OVER (PARTITION BY run ORDER BY seq) AS hole FROM flush)
		WHERE abs(hole) > 100000000')" '' 'the intervals of flushes follow one another'
	cpi prof --db "$db" --epoch all --format=json >prof.json 2>prof.err
	is "$(sql "WITH r (n) AS (
			SELECT n.value FROM json_each(readfile('prof.json'), '\$.rows') AS r,
				json_each(r.value, '\$.samples') AS n
			UNION ALL SELECT value FROM json_each(readfile('prof.json'), '\$.idle.samples')
			UNION ALL SELECT value FROM json_each(readfile('prof.json'), '\$.unknown'))
		SELECT sum(n) FROM r" :memory:)" \
		"$(sql 'SELECT (SELECT sum(stored) FROM tally WHERE kind = 0) +
			(SELECT total(n) FROM loss WHERE kind = 0 AND class = 0)' | sed 's/\.0$//')" \
		'rows of cpi prof = stored + unknown'
	try 'every profile decodes' cpi cat --db "$db" --check
}

# samples COMM IMAGE: the samples of matching commands in matching images (globs).
samples()
{
	sql "SELECT total(n) FROM comm c JOIN image i ON i.id = c.image
		WHERE c.comm GLOB '$1' AND i.name GLOB '$2'" | sed 's/\.0$//'
}

# run NAME COMMAND...: passes when the command succeeds. The map of code that it made at
# run time stays until forget_maps.
run_pids=
run()
{
	run_name=$1
	shift
	"$@" >run.out 2>&1 &
	run_pids="$run_pids $!"
	wait $!
	ok $? "$run_name"
}

forget_maps()
{
	for run_pid in $run_pids; do
		rm -f "/tmp/perf-$run_pid.map"
	done
}

# strangers: prints samples of a burn_* program that have the name of another command.
strangers()
{
	sql "SELECT c.comm, i.name, c.n FROM comm c JOIN image i ON i.id = c.image
		WHERE i.name GLOB '*/burn_?' AND i.name NOT GLOB '*/' || c.comm"
}

# bias PROGRAM: the difference between addresses and file offsets of its code. The
# program is not position independent.
bias()
{
	echo "$(($(readelf -lW "$1" | awk '$1 == "LOAD" && / R E / { print $3 "-" $2; exit }')))"
}
