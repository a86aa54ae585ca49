#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi prof --over-time: the intervals of a row add up to its total.
. "$srcdir/t/tap.sh"
need python3 sqlite3
plan 31

"$builddir/t/mkyear" t.db 100 30 300 3 >made || bail 'no database'
cpi prof --db t.db --epoch 1..5 --over-time --format json >five.json 2>/dev/null
is $? 0 '--over-time: each of a few epochs has an interval'
cpi prof --db t.db --epoch all --over-time --format json >all.json 2>/dev/null
is $? 0 '--over-time: many epochs share intervals'
cat >check.py <<'END'
import json, sys
p = json.load(open(sys.argv[1]))
assert len(p["intervals"]) == int(sys.argv[2]), len(p["intervals"])
hours = sum(i["seconds"] for i in p["intervals"]) / 3600
assert hours == int(sys.argv[3]), hours
assert p["rows"]
for r in p["rows"]:
    t = sum(v * i["seconds"] for v, i in zip(r["over_time"], p["intervals"]))
    assert abs(t - r["time_ns"] / 1e9) < 3600 * hours * 1e-6, (t, r)
END
try 'the intervals of five hours add up to the rows' python3 check.py five.json 5 5
try 'the intervals of a hundred hours add up to the rows' python3 check.py all.json 48 100
LC_ALL=C.UTF-8 cpi prof --db t.db --epoch all --over-time --svg t.svg --limit 1 >text 2>/dev/null
is "$(grep -o '[▁▂▃▄▅▆▇█]*' text | awk 'length > 10' | wc -l)" 1 \
	'the text has a line of blocks for the row'
is "$(cpi prof --db t.db --epoch all --over-time --limit 3 2>/dev/null | tr -d '\0-\177')" '' \
	'in the C locale the line is ASCII'
try 'the picture is XML with axes and lines' python3 - <<'END'
import xml.etree.ElementTree as e
r = e.parse("t.svg").getroot()
tags = [c.tag.split("}")[1] for c in r]
assert tags.count("path") > 15 and "CPUs" in [c.text for c in r], tags
END
cpi prof --db t.db --epoch all --over-time --svg by-name.svg --sort=procedure >text 2>/dev/null
cpi prof --db t.db --epoch all --over-time --svg by-time.svg >text 2>/dev/null
is "$(cmp by-name.svg by-time.svg && echo same)" same 'the picture has the busiest rows, however they are sorted'
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
	script -qec 'stty cols 80; LC_ALL=C.UTF-8 cpi prof --db t.db --epoch all --over-time --limit 1' \
		/dev/null </dev/null >text 2>/dev/null
	is "$(grep -o '[▁▂▃▄▅▆▇█][▁▂▃▄▅▆▇█ ]*[▁▂▃▄▅▆▇█]' text | awk 'length > 9' | wc -l) $(grep -c '█\.\.\.' text)" \
		'1 0' 'a narrow terminal shows the whole course'
else
	skip 1 'no script(1) to make a terminal with'
fi
cpi prof --db t.db --svg /nonexistent/t.svg >out 2>error
is $? 1 'an output path that cannot be written is an error'
cpi prof --db t.db --over-time --combine >out 2>error
is $? 2 '--over-time with --combine is a usage error'

# Four epochs without a gap, of which one has most of the time.
printf '%s\n' 'a 10 10000 main=100' 'b 100 10000 main=1000' 'c 10 10000 main=100' 'd 10 10000 main=100' |
	"$builddir/t/runsdb" runs.db || bail 'no database of runs'
cpi prof --db runs.db --epoch all --over-time --format json >runs.json 2>/dev/null
is "$(python3 -c 'import json
print(json.load(open("runs.json"))["rows"][0]["over_time"])')" '[0.1, 0.1, 0.1, 0.1]' \
	'an epoch is spread over the intervals that it covers'
cpi prof --db runs.db --epoch all --over-time --svg runs.svg >text 2>/dev/null
like "$(cat runs.svg)" '<path fill="none"[^>]* d="M70.0 20.0H295.0L295.0 20.0H520.0L520.0' \
	'the picture has a step for each interval'

# Idle time, and samples without an image.
"$builddir/t/mkdb" full.db "$builddir/t/target" || bail 'no database with idle time'
cpi prof --db full.db --epoch all --over-time --format json >full.json 2>/dev/null
try 'idle time, unknown and lost samples over time add up to their totals' python3 - <<'END'
import json
p = json.load(open("full.json"))
def total(course):
    return sum(v * i["seconds"] for v, i in zip(course, p["intervals"]) if v is not None)
idle = p["idle"]["samples"]["cpu-clock"] / 1e3
assert abs(total(p["idle"]["over_time"]) - idle) < 1e-3 * len(p["intervals"]), p["idle"]
assert abs(total(p["unknown_over_time"]) - sum(p["unknown"].values()) / 1e3) < 5e-3, p
assert sum(p["losses"].values()) > 0
assert abs(total(p["lost_over_time"]) - sum(p["losses"].values()) / 1e3) < 5e-3, p
END

cpi prof --db full.db --epoch all --over-time --format json --limit 2 >two.json 2>/dev/null
try 'rows behind --limit are one, with the sums of theirs' python3 - <<'END'
import json
p, two = json.load(open("full.json")), json.load(open("two.json"))
assert len(p["rows"]) > 3 and two["rows"] == p["rows"][:2]
rest = p["rows"][2:]
left = two["left_out"]
assert (left["rows"], left["time_ns"]) == (len(rest), sum(r["time_ns"] for r in rest)), left
for i, value in enumerate(left["over_time"]):
    want = [r["over_time"][i] for r in rest]
    assert value is None and None in want or abs(value - sum(want)) < 1e-5, (i, value, want)
assert p["left_out"]["rows"] == 0 and not any(p["left_out"]["over_time"])
END

# By image only the stored sums are read; by procedure the counts themselves.
cat >images.py <<'END'
import collections, json, sys
def times(by):
    rows = collections.defaultdict(float)
    for r in json.load(open(by))["rows"]:
        rows[r["image"]] += r["time_ns"]
    return rows
assert times("all.json") == times("images.json"), "different"
END
cpi prof --db t.db --epoch all --by image --format json >images.json 2>/dev/null
try 'images have the time of their procedures' python3 images.py

# Intervals of a length begin at its multiples, and each is what its epochs are alone.
cpi prof --db t.db --epoch 3..9 --over-time --interval=2h --format json >two.json 2>/dev/null
is $? 0 '--interval: a length for the intervals'
cat >two.py <<'END'
import json, subprocess, sys
from datetime import datetime
by = sys.argv[1]
def prof(*words):
    return json.loads(subprocess.run(["cpi", "prof", "--db", "t.db", "--by", by, "--format", "json",
                                      *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout)
def rows(p):
    return {(r["procedure"], r["image"], r["build_id"], r.get(by)): r for r in p["rows"]}
p = prof("--epoch", "3..9", "--over-time", "--interval=2h")
starts = [datetime.fromisoformat(i["from"].replace("Z", "+00:00")) for i in p["intervals"]]
assert all(s.hour % 2 == s.minute == s.second == 0 for s in starts), starts
seen = 0
for b, i in enumerate(p["intervals"]):
    epochs = [e for e in p["epochs"] if i["from"] <= e["from"] < i["to"]]
    assert i["seconds"] == 3600 * len(epochs), (i, epochs)
    alone = rows(prof("--epoch", ",".join(str(e["id"]) for e in epochs)))
    for key, row in rows(p).items():
        want = alone[key]["time_ns"] / 1e9 / i["seconds"] if key in alone else 0
        assert abs(row["over_time"][b] - want) < 1e-6, (key, row["over_time"][b], want)
        seen += 1
assert seen > 3, seen
END
for by in image comm host procedure; do
	try "by $by each interval has what its epochs have alone" python3 two.py $by
done
cpi prof --db t.db --epoch all --over-time --interval=1s >out 2>error
is $? 1 'more than 4096 intervals are refused'
like "$(cat error)" 'choose longer ones' 'the refusal says what to do about too many intervals'
cpi prof --db t.db --epoch all --over-time --interval=soon >out 2>error
is $? 2 'a length that is none is a usage error'
sqlite3 runs.db "INSERT INTO platform SELECT id + 100, host, arch, cpu, release,
	'00000000-0000-0000-0000-000000000009', clock_hz, nr_cpus FROM platform LIMIT 1;
	INSERT INTO run SELECT id + 100, platform + 100, from_ns, to_ns, state FROM run LIMIT 1;
	UPDATE epoch SET run = run + 100 WHERE id > 2" || bail 'no other boot'
cpi prof --db runs.db --epoch all --over-time --format json >boots.json 2>/dev/null
is "$(python3 -c 'import json
p = json.load(open("boots.json"))
print(p["restarts"] == [{"at": p["epochs"][2]["from"], "host": p["epochs"][2]["host"]}])')" True \
	'the start of a machine between two epochs is a restart'
is "$(python3 -c 'import json
print(json.load(open("boots.json"))["collector_starts"])')" "[]" '... and not one of its collector'
sqlite3 runs.db "UPDATE run SET platform = platform - 100, from_ns = (SELECT from_ns FROM epoch WHERE id = 3)
	WHERE id > 100" || bail 'no other run'
cpi prof --db runs.db --epoch all --over-time --format json >starts.json 2>/dev/null
is "$(python3 -c 'import json
p = json.load(open("starts.json"))
print(p["restarts"], p["collector_starts"] == [{"at": p["epochs"][2]["from"], "host": p["epochs"][2]["host"]}])')" \
	"[] True" 'a new run on the same boot is a start of the collector, without a gap'
sqlite3 runs.db "UPDATE run SET platform = platform + 100 WHERE id > 100" || bail 'no other boot again'
sqlite3 runs.db "UPDATE platform SET host = 'web2' WHERE id > 100" || bail 'no other machine'
is "$(cpi prof --db runs.db --by host --epoch all --merge-platforms --format csv)" "$(cat <<'END'
samples:cpu-clock,percent,cum_percent,time_ns,host
1100,84.62,84.62,11000000000,web1
200,15.38,100.00,2000000000,web2
END
)" '--by host has a row for each machine'
cpi prof --db runs.db --by host,comm >out 2>error
is $? 2 'rows by machine and command are a usage error'
cpi epoch label --db t.db 40 special >/dev/null || bail 'no label'
sqlite3 t.db "UPDATE epoch SET to_ns = to_ns - 5000000000 WHERE id = 60" || bail 'no gap'
try '--max-epochs lists epochs that follow each other as one' python3 - <<'END'
import json, subprocess
def prof(*words):
    return json.loads(subprocess.run(["cpi", "prof", "--db", "t.db", "--by", "image", "--format", "json",
                                      *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout)
whole, few = prof("--epoch", "all"), prof("--epoch", "all", "--max-epochs", "50")
stretches, epochs = few.pop("epochs"), whole.pop("epochs")
assert few == whole
assert [s.get("epochs", 1) for s in stretches] == [39, 1, 20, 40], stretches
assert stretches[1]["label"] == "special" and stretches[1]["id"] == 40
assert [s["from"] for s in stretches] == [epochs[i]["from"] for i in (0, 39, 40, 60)]
assert [s["to"] for s in stretches] == [epochs[i]["to"] for i in (38, 39, 59, 99)]
assert prof("--epoch", "all", "--max-epochs", "100")["epochs"] == epochs
END
cpi prof --db t.db --format json --max-epochs 5x >out 2>error
is "$? $(cat out)" '2 ' '--max-epochs that is no number is a usage error'
