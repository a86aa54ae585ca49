#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi prof on a database whose every count is known (t/mkdb.c).
. "$srcdir/t/tap.sh"
. "$srcdir/t/known.sh"

plan 53

# Text: the list without the header, and the header without what varies.
prof()
{
	cpi prof "$@" 2>err | sed "s#$target#TARGET#; s/ *\$//"
}

is "$(prof --epoch full)" "$(cat <<'END'
web1, 2026-01-02T03:00:00Z to 03:01:00Z (1 min, "full"), 2 s of CPU sampled, 50.0 % idle (not counted), 4 lost, 0.2 % unknown
Other events: page-faults (12 samples); --by-stream shows them

   ms       %     cum%  procedure            image
600.0  60.00%   60.00%  target_hot           TARGET
300.0  30.00%   90.00%  target_cold          TARGET
 55.0   5.50%   95.50%  do_syscall_64        [kernel]
 20.0   2.00%   97.50%  [unknown procedure]  /nonexistent/app
  8.0   0.80%   98.30%  [unknown procedure]  TARGET
  7.0   0.70%   99.00%  [unknown procedure]  /opt/?[31mred,"x"??
  5.0   0.50%   99.50%  [unknown procedure]  [kernel]
  3.0   0.30%   99.80%  [unknown]            map_gap
  2.0   0.20%  100.00%  [unknown]            ambiguous
Lost: 4 samples, ring_lost
END
)" "cpi prof lists every sample of an epoch"
like "$(cat err)" "/nonexistent/app: No such file" "the warning names a missing binary"
is "$(prof --epoch full -v --limit 1 | grep -v '^ ')" "$(cat <<'END'
web1, 2026-01-02T03:00:00Z to 03:01:00Z (1 min, "full"), 2 s of CPU sampled, 50.0 % idle (not counted), 4 lost, 0.2 % unknown
Epoch 1 "full": 2026-01-02T03:00:00Z to 2026-01-02T03:01:00Z
Host web1: x86_64, 2 CPUs, Test CPU, Linux 6.1.0
Stream cpu-clock from perf: a sample per 1 ms, 2004 received
Stream page-faults from perf: a sample per 100 events, 12 received
Time: 2.000 s, by 2000 samples of cpu-clock
Other events: page-faults (12 samples); --by-stream shows them

600.0  60.00%  60.00%  target_hot  TARGET
... 8 more (40.00%)
Lost: 4 samples, ring_lost
0.006 s not sampled by cpu-clock: CPUs asleep, or timers late
END
)" "--verbose shows epochs, the machine, streams and what was not sampled"

is "$(prof --epoch full --event page-faults)" "$(cat <<'END'
web1, 2026-01-02T03:00:00Z to 03:01:00Z (1 min, "full"), 12 samples of page-faults, 0 lost, 0.0 % unknown

samples        %     cum%  procedure    image
     12  100.00%  100.00%  target_cold  TARGET
END
)" "--event lists the samples of one event"

is "$(prof --epoch full --by-stream --limit 2 | sed -n '/cum/,/^[.]/p')" "$(cat <<'END'
cpu-clock       %    cum%  page-faults        %  procedure    image
      600  60.00%  60.00%            0    0.00%  target_hot   TARGET
      300  30.00%  90.00%           12  100.00%  target_cold  TARGET
... 7 more with 100 samples (10.00%)
END
)" "--by-stream lists the samples of each event"

# 600 samples at 1 ms and 100 at 2 ms: 800 ms of 1400.
is "$(prof -v --epoch all --event cpu-clock --limit 2 | sed -n '/^Note/,$p')" "$(cat <<'END'
Note: the rate of cpu-clock changed meanwhile; rows are ordered by time.
Time: 2.400 s, by 2200 samples of cpu-clock

   ms       %    cum%  procedure    image
800.0  57.14%  57.14%  target_hot   TARGET
500.0  35.71%  92.86%  target_cold  TARGET
... 7 more (7.14%)
Lost: 4 samples, ring_lost
0.006 s not sampled by cpu-clock: CPUs asleep, or timers late
Gap: 2026-01-02T03:02:00Z to 2026-01-02T03:11:00Z, the collector died
END
)" "streams with two periods are combined as time, and the gap is shown"

cp known.db throttled.db
sqlite3 throttled.db "UPDATE tally SET throttled = 1 WHERE not_delivered > 0"
like "$(cpi prof --db throttled.db --epoch all --event cpu-clock)" \
	'^0.006 s not sampled by cpu-clock: CPUs asleep, or timers late, or throttled by the kernel ([0-9]* times* or more)' \
	"what a timer lacks is not all blamed on throttling"
sqlite3 throttled.db "UPDATE tally SET throttled = 2, not_delivered = 7 WHERE stream IN
	(SELECT id FROM stream WHERE event = 'page-faults')"
like "$(cpi prof --db throttled.db --epoch all --event page-faults)" \
	'^[0-9]* samples of page-faults not delivered; throttling ([0-9]* times or more) suppressed others$' \
	"what a counter lacks is not blamed on throttling, which stops its count"

csv()
{
	cpi prof --format=csv --event cpu-clock --epoch full "$@" 2>/dev/null |
		sed "s#$target#TARGET#"
}

is "$(csv | head -n 4)" "$(cat <<'END'
samples:cpu-clock,percent,cum_percent,time_ns,procedure,image,build_id
600,60.00,60.00,600000000,target_hot,TARGET,
300,30.00,90.00,300000000,target_cold,TARGET,
55,5.50,95.50,55000000,do_syscall_64,[kernel],abcd
END
)" "CSV has the rows of the text, with build ids and times"
is "$(csv --by image)" "$(printf '%s\n' \
	'samples:cpu-clock,percent,cum_percent,time_ns,image,build_id' \
	'908,90.80,90.80,908000000,TARGET,' \
	'60,6.00,96.80,60000000,[kernel],abcd' \
	'20,2.00,98.80,20000000,/nonexistent/app,0123' \
	'7,0.70,99.50,7000000,"/opt/?[31mred,""x""??",' \
	'3,0.30,99.80,3000000,[unknown] map_gap,' \
	'2,0.20,100.00,2000000,[unknown] ambiguous,')" \
	"rows by image: odd names are quoted and control characters replaced"
is "$(csv --by comm | sed 's/^\([^,]*\),.*,\([^,]*\)$/\1,\2/' | head -n 4)" \
	"$(printf '%s\n' samples:cpu-clock,comm 958,target 20,app 10,sh)" \
		"rows by command add up the samples of each command"
is "$(csv --by comm --comm 's*')" "$(printf '%s\n' \
	'samples:cpu-clock,percent,cum_percent,time_ns,comm' \
	'10,100.00,100.00,10000000,sh')" "--by comm --comm lists one command"
is "$(csv --image '*target')" "$(printf '%s\n' \
	'samples:cpu-clock,percent,cum_percent,time_ns,procedure,image,build_id' \
	'600,66.08,66.08,600000000,target_hot,TARGET,' \
	'300,33.04,99.12,300000000,target_cold,TARGET,' \
	'8,0.88,100.00,8000000,[unknown procedure],TARGET,')" "--image lists one image"
is "$(csv --procedure '*_cold')" "$(printf '%s\n' \
	'samples:cpu-clock,percent,cum_percent,time_ns,procedure,image,build_id' \
	'300,30.00,30.00,300000000,target_cold,TARGET,')" \
	"one procedure alone has its share of all samples"
is "$(csv --idle --limit 2)" "$(printf '%s\n' \
	'samples:cpu-clock,percent,cum_percent,time_ns,procedure,image,build_id' \
	'1000,50.00,50.00,1000000000,[idle],,' \
	'600,30.00,80.00,600000000,target_hot,TARGET,')" \
		"--idle lists the idle loop and gives it a share"
cp known.db comma.db
sqlite3 comma.db "UPDATE stream SET event = 'cpu/event=1,umask=2/' WHERE event = 'page-faults'"
is "$(cpi prof --db comma.db --format=csv --event 'cpu/event=1,umask=2/' --epoch full --by image 2>err | head -n 1)" \
	'"samples:cpu/event=1,umask=2/",percent,cum_percent,time_ns,image,build_id' "a title with a comma is quoted"
# Equal names come in the order of their images.
is "$(csv --sort procedure | sed '1d; /^7,/d' | cut -d, -f5)" \
	"$(printf '%s\n' '[unknown procedure]' '[unknown procedure]' \
		'[unknown procedure]' ambiguous do_syscall_64 map_gap target_cold \
		target_hot |
		sed 's/ambiguous/[unknown]/; s/map_gap/[unknown]/')" \
			"--sort procedure orders the rows by name"

# Lines, where the target was built with debug information.
if target_has_lines; then
	like "$(csv --by line --procedure target_cold)" \
		'^300,30.00,30.00,300000000,.*/target.c,[0-9]*,target_cold,TARGET,$' \
		"rows by line have a source file and a line number"
else
	skip 1 "the target has no debug information"
fi
like "$(prof --epoch full --by line --procedure do_syscall_64)" \
	'5.50%.*  ?  *do_syscall_64 ' "rows by line of a kernel without lines are its procedures"

if ! command -v python3 >/dev/null; then
	skip 18 "no python3 to read JSON with"
	exit 0
fi

cat >sums.py <<'END'
"""Every total of a report, by every way to look at it."""
import json, sys

report = json.load(sys.stdin)
assert list(report) == ["epochs", "marks", "streams", "attribution", "rows", "idle",
                        "unknown", "losses", "left_out"]
for row in report["rows"]:
    assert list(row)[:3] == ["samples", "time_ns", "percent"], row
    assert {"procedure", "image", "build_id"} <= set(row), row
stored = sum(s["total"] for s in report["streams"])
rows = sum(sum(r["samples"].values()) for r in report["rows"])
idle = sum(report["idle"]["samples"].values())
unknown = sum(report["unknown"].values())
print(stored, rows + idle + unknown, rows, idle, unknown, sum(report["losses"].values()),
      round(sum(r["percent"] for r in report["rows"]), 2))
END

json()
{
	cpi prof --format=json "$@" 2>/dev/null
}

for by in procedure image comm line; do
	is "$(json --epoch full --by $by | python3 sums.py)" \
		"2012 2012 1007 1000 5 4 99.5" "rows by $by of the full epoch add up"
	is "$(json --epoch all --by $by | python3 sums.py)" \
		"2212 2212 1207 1000 5 4 99.64" "rows by $by of all epochs add up"
	is "$(json --epoch half --by $by | python3 sums.py)" \
		"100 100 100 0 0 0 100.0" "rows by $by at half the rate add up"
done
json --epoch full >full.json
get()
{
	python3 -c "import json; r = json.load(open('full.json')); print($1)"
}
is "$(get 'r["rows"][0]' | sed "s#$target#TARGET#")" \
	"{'samples': {'cpu-clock': 600, 'page-faults': 0}, 'time_ns': 600000000, 'percent': 60.0, 'procedure': 'target_hot', 'image': 'TARGET', 'build_id': None}" \
	"JSON: the members of a row"
is "$(get 'r["streams"][0]')" \
	"{'event': 'cpu-clock', 'source': 'perf', 'mean_period': 1000000, 'unit': 'ns', 'total': 2000}" \
	"JSON: the members of a stream"
is "$(get 'ascii([x["image"] for x in r["rows"] if x["image"].startswith("/opt")])')" \
	"['/opt/\\x1b[31mred,\"x\"\\n\\ufffd']" "JSON: an odd name is escaped"
is "$(get 'r["unknown"], r["losses"], r["idle"]')" \
	"{'map_gap': 3, 'ambiguous': 2} {'ring_lost': 4} {'samples': {'cpu-clock': 1000, 'page-faults': 0}}" \
	"JSON: samples without an image, lost samples and idle samples"
is "$(json --epoch full --event page-faults | python3 -c \
	'import json, sys; print(json.load(sys.stdin)["rows"][0]["time_ns"])')" \
	"None" "JSON: rows of an event that measures no time have no time"
is "$(json --epoch all --sort page-faults | python3 -c \
	'import json, sys; print(json.load(sys.stdin)["rows"][0]["procedure"])')" \
	"target_cold" "--sort by another event orders the rows by its samples"

# Contexts of several kinds together, and 3 samples in none.
box=/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
ssh=/system.slice/ssh.service
"$builddir/t/runsdb" contexts.db <<END || bail 'no database'
all 10 1000 comm=node&cgroup=$box&@main=100 comm=sh&cgroup=$box&@main=20 comm=sh&cgroup=$box&@other:part=1 comm=node&cgroup=$ssh&@main=7 comm=kthreadd&@main=5 main=3
END
of()
{
	cpi prof --db contexts.db --format=csv "$@" 2>err | sed 1d
}
is "$(of --by container --comm node | cut -d, -f1,5-)" "100,0123456789ab,docker,,,
7,[no container],,,," "--by container --comm lists the containers of a command"
is "$(of --by comm --container '0123*' | cut -d, -f1,5)" "100,node
21,sh" "--by comm --container lists the commands of a container"
is "$(of --by comm --container ${box##*/} | cut -d, -f1,5)" "100,node
21,sh" "--container takes a whole id"
is "$(of --by comm,container | cut -d, -f1,5-)" "100,node,0123456789ab,docker,,,
21,sh,0123456789ab,docker,,,
7,node,[no container],,,,
5,kthreadd,[no container],,,,
3,[unknown command],[no container],,,," "--by comm,container lists each combination"
is "$(of --by container,comm)" "$(of --by comm,container)" \
	"the order of kinds in --by does not matter"
is "$(of --by comm,unit,cgroup --unit ssh.service | cut -d, -f1,5-)" \
	"7,node,$ssh,ssh.service" "three kinds, and the unit chosen"
is "$(of --comm sh --container 0123456789ab | cut -d, -f1,5,6)" "20,main,prog
1,part,other" "--comm --container lists procedures"
is "$(of --by image --cgroup '/docker*' | cut -d, -f1,5)" "120,prog
1,other" "--cgroup chooses among contexts of several kinds"
is "$(of --comm sh --unit ssh.service; sed 's/.*: //' err)" 'no samples match' \
	"a combination without samples has no rows"
of --comm node --label x >out
like "$(cat err)" "no profiles by comm and label together: collect them with 'cpid --by comm,cgroup,label' or 'cpi record --by comm,label', and run" \
	"a kind that was not kept is named"
sum_of()
{
	of "$@" | awk -F, '{ n += $1 } END { print n }'
}
for by in comm cgroup comm,cgroup comm,container,unit image; do
	is "$(sum_of --by $by)" 136 "rows by $by add up to all samples"
done
cpi prof --db contexts.db --format=json --by comm,container >contexts.json
is "$(python3 -c "import json; r = json.load(open('contexts.json'))['rows'][0]
print(r['comm'], r['container'], r['runtime'], r['samples'])")" \
	"node 0123456789ab docker {'cpu-clock': 100}" "JSON: a row by two kinds has a member for each"
