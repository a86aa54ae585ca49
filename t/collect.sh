# SPDX-License-Identifier: GPL-2.0-or-later
# collect.sh - for tests that look at what cpid stored; after tap.sh and cpid.sh
#
# The database is $db; the event is $CPI_TEST_EVENT, else cpu-clock, which every
# machine has; the collector is $CPI_TEST_COLLECTOR, else perf, which every machine
# has too.

programs=$builddir/t/programs
db=t.db
event=${CPI_TEST_EVENT:-cpu-clock}
collector=${CPI_TEST_COLLECTOR:-perf}

# need COMMAND...: skips the script where one is missing.
need()
{
	for need_command; do
		command -v "$need_command" >/dev/null || skip_all "$need_command is missing"
	done
}

# note TEXT...: for whoever reads the log.
note()
{
	printf '# %s\n' "$@"
}

# bound VALUE RELATION LIMIT NAME: passes when VALUE is <=, >= or > than LIMIT.
bound()
{
	note "$4: $1, wanted $2 $3"
	awk -v value="$1" -v relation="$2" -v limit="$3" 'BEGIN {
		if (value !~ /^[-+]?[0-9.]+(e[-+]?[0-9]+)?$/)
			exit 1
		value += 0
		limit += 0
		if (relation == "<=")
			exit !(value <= limit)
		exit !(relation == ">=" ? (value >= limit) : (value > limit))
	}'
	ok $? "$4"
}

need sqlite3

# sql QUERY [DATABASE]: the rows that it gives.
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

# collect_stop: stops it in good order, which is one test.
collect_stop()
{
	cpid_ask quit >/dev/null
	cpid_wait
	is "$cpid_status" 0 'cpid stops, everything is stored'
}

# What a machine's kernel or this build does not offer is no failure.
[ $collector = perf ] || {
	cpid_start --db probe.db -e $event --collector $collector ||
		skip_all "$event and the collector $collector cannot be used here: $(tail -n 1 t.log)"
	cpid_ask quit >/dev/null
	cpid_wait
	rm -f probe.db*
}

# await SECONDS COMMAND...: asks again until it succeeds, or the time is over.
await()
{
	await_end=$(($(date +%s) + $1))
	shift
	until "$@"; do
		[ "$(date +%s)" -lt $await_end ] || return 1
		sleep 0.2
	done
}

has_samples()
{
	[ "$(cpid_field received.$event)" -ge "$1" ]
}

# await_samples N: until the running stream has that many.
await_samples()
{
	await 60 has_samples "$1" || bail "cpid does not get $1 samples"
}

# status_sum FILE PREFIX: the sum of the lines of a status that begin so.
status_sum()
{
	awk -v prefix="$2" 'index($1, prefix) == 1 { n += $2 } END { print n + 0 }' "$1"
}

# In one answer of the daemon: received = stored + unknown + lost + pending.
check_status()
{
	cpid_ask status >status.txt
	is "$(status_sum status.txt received.)" \
		"$(($(status_sum status.txt stored.) + $(status_sum status.txt unknown.) + \
		$(status_sum status.txt lost.) + $(status_sum status.txt pending_samples)))" \
		"status: received = stored + unknown + lost + pending, $1"
}

# check_stored: the database's accounting is exact; this many tests:
nr_stored_tests=8
check_stored()
{
	is "$(sql 'SELECT t.* FROM tally t WHERE received <> stored +
		(SELECT total(n) FROM loss l WHERE l.epoch = t.epoch AND l.stream = t.stream)')" \
		'' 'received = stored + unknown + lost, of each epoch and stream'
	is "$(sql 'SELECT t.* FROM tally t WHERE stored <>
		(SELECT total(total) FROM profile p WHERE p.epoch = t.epoch AND
		p.stream = t.stream AND context = 0 AND kind = 0)')" \
		'' 'stored = the sum of the profiles, of each epoch and stream'
	is "$(sql 'SELECT t.* FROM tally t WHERE stored +
		(SELECT total(n) FROM loss l WHERE l.epoch = t.epoch AND l.stream = t.stream
			AND class = 0) <>
		(SELECT total(n) FROM comm c WHERE c.epoch = t.epoch AND c.stream = t.stream)')" \
		'' 'stored + unknown = the sum of the commands, of each epoch and stream'
	is "$(sql 'SELECT sum(received), sum(stored), sum(lost) FROM flush')" \
		"$(sql 'SELECT sum(received), sum(stored), sum(received) - sum(stored) FROM tally')" \
		'the flushes add up to the same'
	is "$(sql 'SELECT r.id FROM run r JOIN flush f ON f.run = r.id GROUP BY r.id
		HAVING max(seq) <> count(*) OR min(seq) <> 1')" '' 'no flush is missing'
	# Two clocks are read for an interval, one after the other.
	is "$(sql 'SELECT * FROM (SELECT run, seq, from_ns - lag(to_ns)
		OVER (PARTITION BY run ORDER BY seq) AS hole FROM flush)
		WHERE abs(hole) > 100000000')" '' 'intervals follow one another'
	cpi prof --db "$db" --epoch all --format=json >prof.json 2>prof.err
	is "$(sql "WITH r (n) AS (
			SELECT n.value FROM json_each(readfile('prof.json'), '\$.rows') AS r,
				json_each(r.value, '\$.samples') AS n
			UNION ALL SELECT value FROM json_each(readfile('prof.json'), '\$.idle.samples')
			UNION ALL SELECT value FROM json_each(readfile('prof.json'), '\$.unknown'))
		SELECT sum(n) FROM r" :memory:)" \
		"$(sql 'SELECT (SELECT sum(stored) FROM tally) +
			(SELECT total(n) FROM loss WHERE class = 0)' | sed 's/\.0$//')" \
		'rows of cpi prof = stored + unknown'
	try 'every profile decodes' cpi cat --db "$db" --check
}

# samples COMM IMAGE: samples of these commands in these images (globs).
samples()
{
	sql "SELECT total(n) FROM comm c JOIN image i ON i.id = c.image
		WHERE c.comm GLOB '$1' AND i.name GLOB '$2'" | sed 's/\.0$//'
}

# run NAME COMMAND...: a test that passes when the command succeeds; its map of code that
# it made at run time stays until forget_maps.
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

# strangers: samples of a burn_* program under another's name; must be none.
strangers()
{
	sql "SELECT c.comm, i.name, c.n FROM comm c JOIN image i ON i.id = c.image
		WHERE i.name GLOB '*/burn_?' AND i.name NOT GLOB '*/' || c.comm"
}

# bias PROGRAM: what its code's addresses are above their offsets in the file; for
# programs that are not position independent.
bias()
{
	echo "$(($(readelf -lW "$1" | awk '$1 == "LOAD" && / R E / { print $3 "-" $2; exit }')))"
}
