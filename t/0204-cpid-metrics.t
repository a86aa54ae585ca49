#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What cpid says of itself, as text, JSON and metrics, and the file that it keeps.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
command -v python3 >/dev/null || skip_all 'no python3 to read JSON'
plan 17

mkdir m
has_checked()
{
	[ "$(cpid_field budget_checks)" -ge 2 ]
}

collect_start --metrics-file m/cpi.prom -e page-faults --check 300ms --sweep 100ms
await 60 has_checked
cpid_ask epoch another >/dev/null
cpid_ask flush >/dev/null

status()
{
	cpi status --socket t.sock --db t.db --format="$1"
}

status prometheus >status.prom
is $? 0 'cpi status writes metrics'
"$srcdir/t/prometheus_check.py" <status.prom >series
is $? 0 'which a strict reader takes'
sed 's/^/# /' series
for name in up uptime_seconds cpus rate_hertz rate_fixed rate_changes_total budget_ratio \
	budget_checks_total budget_exceeded_total 'cost_ratio part=daemon' \
	'sample_cost_seconds part=daemon' 'period event=cpu-clock' \
	'received_total event=cpu-clock' 'received_total event=page-faults' \
	'stored_total event=cpu-clock' 'idle_total event=cpu-clock' \
	mapping_records_lost_total memory_bytes memory_limit_bytes resident_memory_bytes \
	cpu_seconds_total wakeups_total flush_seconds_count flush_seconds_sum \
	flush_last_seconds flush_max_seconds last_flush_timestamp_seconds db_bytes; do
	grep -q "^cpi_daemon_$name " series || echo "$name"
done >missing
is "$(cat missing)" '' 'nothing is missing of the daemon'
bound_series()
{
	awk -v name="$1" -v min="$2" -v max="$3" '
		index($0, name " ") == 1 { found = $NF >= min && $NF <= max }
		END { exit !found }' series
}
try 'the budget is a ratio' bound_series cpi_daemon_budget_ratio 0.005 0.005
try 'the limit of the memory is in bytes' bound_series cpi_daemon_memory_limit_bytes \
	67108864 67108864
try 'so is what is resident' bound_series cpi_daemon_resident_memory_bytes 1e6 1e9
try 'flushes were counted' bound_series cpi_daemon_flush_seconds_count 1 100
try 'their times are possible' bound_series cpi_daemon_flush_seconds_sum 1e-6 1000
try 'the last one was today' bound_series cpi_daemon_last_flush_timestamp_seconds \
	$(($(date +%s) - 86400)) $(($(date +%s) + 1))

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
)" 'True sampling' 'JSON has each name once, and numbers where they belong'
like "$(status text)" '^rate_fixed  *1$' 'text has them, too'

await 60 [ -s m/cpi.prom ]
try 'a strict reader takes the file' "$srcdir/t/prometheus_check.py" <m/cpi.prom
is "$(stat -c %a m/cpi.prom)" 644 'whoever collects it may read it'
is "$(ls -A m)" cpi.prom 'nothing else is in its directory'
collect_stop
is "$(ls -A m)" '' 'and the file is gone'
ln -s m l
cpid --db u.db --socket u.sock --metrics-file l/cpi.prom 2>err
like "$? $(cat err)" '^1 .*l/cpi.prom: .*symlink' 'a directory behind a symlink is refused'
