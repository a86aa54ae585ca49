#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The status of cpid as text, JSON and metrics, and the metrics file that cpid writes.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need python3
plan 23

mkdir m
begun=$(date +%s)
has_checked()
{
	[ "$(cpid_field budget_checks)" -ge 2 ]
}

collect_start --metrics-file m/cpi.prom -e page-faults --check 300ms --sweep 100ms
await has_checked
cpid_ask epoch another >/dev/null
cpid_ask flush >/dev/null

status()
{
	cpi status --socket t.sock --db t.db --all --format="$1"
}

status prometheus >status.prom
is $? 0 'cpi status writes metrics'
"$srcdir/t/prometheus_check.py" <status.prom >series
is $? 0 'a strict parser accepts the metrics'
sed 's/^/# /' series
for name in up uptime_seconds cpus rate_hertz rate_fixed rate_changes_total budget_ratio \
	budget_checks_total budget_exceeded_total 'cost_ratio part=daemon' \
	'sample_cost_seconds part=daemon' 'period stream=cpu-clock' \
	'samples_total outcome=received stream=cpu-clock' \
	'samples_total outcome=received stream=page-faults' \
	'samples_total outcome=stored stream=cpu-clock' 'samples_idle_total stream=cpu-clock' \
	build_info store_failing \
	mapping_records_lost_total memory_bytes memory_limit_bytes resident_memory_bytes \
	cpu_seconds_total wakeups_total flush_duration_seconds_count flush_duration_seconds_sum \
	flush_last_duration_seconds flush_max_duration_seconds last_flush_timestamp_seconds db_bytes; do
	grep -q "^cpi_$name " series || echo "$name"
done >missing
is "$(cat missing)" '' 'every metric of the daemon is there'
bound_series()
{
	awk -v name="$1" -v min="$2" -v max="$3" '
		index($0, name " ") == 1 { found = $NF >= min && $NF <= max }
		END { exit !found }' series
}
try 'the budget is a ratio' bound_series cpi_budget_ratio 0.005 0.005
try 'the limit of the memory is in bytes' bound_series cpi_memory_limit_bytes \
	67108864 67108864
try 'the resident memory is in bytes' bound_series cpi_resident_memory_bytes 1e6 1e9
try 'the flushes are counted' bound_series cpi_flush_duration_seconds_count 1 100
try 'all flushes together took less time than this test' \
	bound_series cpi_flush_duration_seconds_sum 1e-6 $(($(date +%s) - begun + 1))
try 'the last flush was during this test' bound_series cpi_last_flush_timestamp_seconds \
	$begun $(($(date +%s) + 1))

status json >status.json
is "$(python3 - <<'END'
import json

def no_twice(pairs):
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names)), names
    return dict(pairs)

d = json.load(open("status.json"), object_pairs_hook=no_twice)["daemon"]
for name in ("rate_hz", "budget_percent", "cost_daemon_percent", "cpu_s", "wakeups",
             "rss_bytes", "memory_bytes", "memory_limit_bytes", "flushes", "flush_last_s",
             "flush_max_s", "flush_sum_s", "db_bytes", "mapping_records_lost",
             "idle.cpu-clock", "received.page-faults", "rate_changes"):
    assert type(d[name]) in (int, float), name
print(d["flush_last_s"] <= d["flush_max_s"] <= d["flush_sum_s"], d["state"])
END
)" 'True sampling' 'JSON has each name once, and numbers are numbers'
like "$(status text)" '^rate_fixed  *1$' 'the text has whether the rate is fixed'

await [ -s m/cpi.prom ]
try 'a strict parser accepts the metrics file' "$srcdir/t/prometheus_check.py" <m/cpi.prom
is "$(stat -c %a m/cpi.prom)" 644 'the metrics file is readable by everyone'
is "$(ls -A m)" cpi.prom 'the metrics file has no temporary file beside it'
"$srcdir/t/prometheus_check.py" <m/cpi.prom >series
try 'the metrics file has the time at which it was written' \
	bound_series cpi_file_timestamp_seconds $begun $(($(date +%s) + 1))
unlike "$(cat m/cpi.prom status.prom)" '^cpi_last_gap' 'there is no time of a gap without a gap'
collect_stop
is "$(ls -A m)" '' 'cpid removes the metrics file at its end'

collect_start --metrics-file m/cpi.prom
await [ -s m/cpi.prom ]
kill -KILL "$cpid_pid"
cpid_wait
like "$(cat m/cpi.prom)" '^cpi_up 1$' 'a cpid that is killed leaves its metrics file'
killed=$(date +%s)
collect_start
status prometheus | "$srcdir/t/prometheus_check.py" >series
try 'cpid reports when it found the gap after a kill' \
	bound_series cpi_last_gap_timestamp_seconds $killed $(($(date +%s) + 1))
is "$(grep -c '^cpi_file_timestamp' series)" 0 'only the metrics file has the time of the file'
collect_stop
ln -s m l
cpid --db u.db --socket u.sock --metrics-file l/cpi.prom 2>err
like "$? $(cat err)" '^1 .*l/cpi.prom: .*symlink' 'a metrics file behind a symlink is refused'
