#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi stats on runs whose every count is known, against Python's statistics.
. "$srcdir/t/tap.sh"

CPI_DB=runs.db
export CPI_DB
# Eight runs of a program, as SOSP'97's Figure 3 has them; smooth differs.
"$builddir/t/runsdb" runs.db <<'END' || bail "no database"
run 10 1000 smooth=381 parmvr=5152 putb=462 other:fft=88
run 10 1000 smooth=880 parmvr=5551 putb=487 other:fft=93
run 10 1000 smooth=431 parmvr=5250 putb=470 other:fft=86
run 10 1000 smooth=560 parmvr=5301 putb=475 other:fft=90
run 10 1000 smooth=440 parmvr=5291 putb=466 other:fft=95
run 10 1000 smooth=702 parmvr=5260 putb=480 other:fft=85
run 10 1000 smooth=455 parmvr=5340 putb=468 other:fft=91
run 10 1000 smooth=561 parmvr=5275 putb=478 other:fft=89
short 5 1000 smooth=190 parmvr=2600 putb=230
half 10 2000 smooth=190 parmvr=2600 putb=230
END

plan 43

cpi stats run >text 2>err
is "$?" 0 "the statistics of runs"
is "$(cat err)" "" "without complaints"
is "$(sed -n '/^range%/,$p' text | tr -s ' ')" "$(cat <<'END'
range% sum sum% N mean std-dev min max procedure image
11.32% 4410.00 8.59% 8 551.25 167.36 381.00 880.00 ** smooth prog
 1.39% 717.00 1.40% 8 89.62 3.38 85.00 95.00 fft other
 0.94% 42420.00 82.64% 8 5302.50 114.18 5152.00 5551.00 ** parmvr prog
 0.66% 3786.00 7.38% 8 473.25 8.26 462.00 487.00 putb prog
END
)" "Figure 3's columns, and what varies by more than chance"
like "$(cat text)" 'Number of epochs = 8.*values in samples' "the unit is told"

csv()
{
	cpi stats --format=csv "$@" | tail -n +2
}
is "$(csv --by image run | cut -d, -f3,16 | tr '\n' ' ')" "50616,prog 717,other " "by image"
is "$(cpi stats --sort sum --format=csv --limit 2 run | cut -d, -f3,16)" \
	"$(printf '%s\n' sum,procedure 42420,parmvr 4410,smooth)" "sorted by sum, limited"
is "$(cpi stats --sort std-dev --format=csv run | sed -n 2p | cut -d, -f16)" \
	"smooth" "sorted by deviation"
is "$(cpi stats --sort=none 2>&1 >/dev/null)" \
	"cpi: error: --sort=none: say range, sum, mean, std-dev, min, max or excess" \
	"keys are told"
is "$(cpi stats 1 3 8 --format=csv | awk -F, '$16 == "smooth" { print $3, $5 }')" \
	"1373 3" "epochs one by one"
is "$(cpi stats --epoch=1..2 --format=csv | awk -F, '$16 == "smooth" { print $3, $5 }')" \
	"1261 2" "or a range"
cpi stats run --epoch=1 2>err
is "$?" 2 "not both"
is "$(cpi stats 1 99 2>&1 >/dev/null | sed 's/.*runs.db: //')" \
	"there is no epoch '99': 'cpi epoch list' shows them" "what is no epoch is told"

# An epoch half as long, one with half the rate: their time is what counts.
like "$(cpi stats run short half --format=json)" '^ *"unit": "ms",$' \
	"with several periods, time"
like "$(cpi stats run short)" 'not of one length' "lengths that differ are told"
is "$(cpi stats 1 short --normalize=time --format=csv |
	awk -F, '$16 == "parmvr" { print $9, $10 }')" "515.2 520" "per second"
is "$(cpi stats 1 half --format=csv | awk -F, '$16 == "parmvr" { print $9, $10 }')" \
	"5152 5200" "half the rate is no less time"
is "$(cpi stats 1 short --normalize=total --format=csv | awk -F, '$16 ~ /./ && NR > 1 {
	n += $7 } END { print n }')" "100" "means of shares add up"
is "$(cpi stats 1 short --format=csv | awk -F, '$16 == "fft" { print $5, $6, $9 }')" \
	"2 1 0" "what an epoch has not is 0 there"
is "$(csv --by comm run | cut -d, -f3,16)" "51333,[unknown command]" \
	"by command, where none is known"
cpi stats run --by cgroup >/dev/null 2>err
is "$?" 1 "by cgroup, where profiles are not by it, is an error"
like "$(cat err)" "no profiles by cgroup: collect them with 'cpid --by cgroup'" \
	"and what to do is told"

is "$(cpi stats 1 2 --by category --format=csv | awk -F, '$16 == "not_tallied" && $3 > 0 {
	print $17, $3 }')" "deferred 13094" "by what cpi sum has"

is "$(cpi stats 1 2 --by category --format=csv | cut -d, -f17 | grep -c few_samples)" 1 \
	"and procedures that have few samples by name"

# By what their processes are in; the third epoch has no profiles by it.
box=/kubepods.slice/kubepods-burstable-pod11111111_2222_3333_4444_555555555555.slice/cri-containerd-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope
"$builddir/t/runsdb" whose.db <<END || bail "no database"
by 10 1000 cgroup=/system.slice/ssh.service@main=100 cgroup=$box@main=50 label=x@main=7 main=3
by 10 1000 cgroup=/system.slice/ssh.service@main=300 process=cc:12@main=20 comm=cc@main=4
no 10 1000 main=60 other:main=5
END
whose()
{
	cpi stats --db whose.db --format=csv --sort=sum "$@" | tail -n +2
}
is "$(whose by --by cgroup | cut -d, -f3,9,10,16)" "400,100,300,/system.slice/ssh.service
50,0,50,$box
34,10,24,[unknown cgroup]" "by cgroup"
is "$(whose by no --by unit | cut -d, -f3,5,16)" "400,3,ssh.service
99,3,[no unit]
50,3,${box##*/}" "by unit, and an epoch that has none"
is "$(whose by --by container | cut -d, -f3,16-)" "434,[no container],,,
50,0123456789ab,containerd,11111111-2222-3333-4444-555555555555,burstable" "by container"
is "$(whose by --by label | cut -d, -f3,16)" "477,[no label]
7,x" "by label"
is "$(whose by --by process | cut -d, -f3,16)" "464,[other processes]
20,cc:12" "by process"
is "$(cpi stats --db whose.db by --by unit --format=json | grep -c '"unit": "ssh.service"')" \
	1 "as JSON"
cpi stats --db whose.db by --by unit --label x >/dev/null 2>&1
is "$?" 2 "one kind of context does not choose among another's"

# An epoch that has nothing of what is selected: a sample there would stand for what
# others do, and two runs of three vary by no more than their mean.
"$builddir/t/runsdb" none.db <<'END' || bail "no database"
a 10 1000 prog:x=1000
b 10 1000 other:y=500
c 10 1000 prog:x=1000
d 10 2000 prog:x=500
END
varies()
{
	cpi stats --db none.db --image prog --format=json "$@" |
		sed -n 's/^ *"cv_between": \([-+.e0-9]*\),*$/\1/p' | head -n 1 |
		awk '{ print $1 <= 2 ? "sanely" : "by " $1 }'
}
is "$(varies 1..3 --normalize=time)" sanely "what an epoch has none of, per second"
is "$(varies 1..3 --normalize=total)" sanely "as a share"
is "$(varies 1..4)" sanely "and with several periods"

if ! command -v python3 >/dev/null; then
	skip 10 "no python3 to compute with"
	exit 0
fi

# The first has a length and no samples, as when nothing ran; the last just began.
cp none.db open.db
python3 -c 'import sqlite3
h = sqlite3.connect("open.db")
e = [r[1] for r in h.execute("PRAGMA table_info(epoch)") if r[1] != "id"]
def insert(id, of, **new):
    columns = ", ".join(str(new[c]) if c in new else c for c in e)
    h.execute(f"INSERT INTO epoch (id, {chr(44).join(e)}) SELECT {id}, {columns} "
              f"FROM epoch WHERE id = {of}")
end = h.execute("SELECT max(to_ns) FROM epoch").fetchone()[0]
insert(8, 3, from_ns=end, to_ns=end + 10 * 10**9, label=repr(""))
insert(9, 3, from_ns=end + 10**10, to_ns=end + 10**10, open=1, label=repr(""))
h.commit()' || bail "no epoch that is open"
for by in procedure category; do
	cpi stats --db open.db --by "$by" --format=json >out 2>err
	is "$?" 0 "by $by, an epoch that just began"
	is "$(cat err)" "cpi: warning: stats: left out, of no length and no samples: 9" "it is told of"
	is "$(python3 -c 'import json
d = json.load(open("out"))
print(sorted({(r["n"], r["present"]) for r in d["rows"] if r["sum"] > 1e-6}))')" \
		"$(test $by = procedure && echo '[(5, 1), (5, 3)]' || echo '[(5, 4)]')" \
		"is no run, but one of a length is"
done
cpi stats --db open.db 9 >out 2>err
is "$?" 1 "alone it has nothing"
like "$(cat err)" 'no samples in epoch 9 yet' "which is told"

cat >check.py <<'END'
"""Each number of cpi stats from the rows of cpi prof, by Python's statistics."""
import json, statistics, subprocess, sys

def ask(*args):
    return json.loads(subprocess.run(["cpi", *args, "--format=json"], check=True,
                                     capture_output=True).stdout)

normalize, epochs = sys.argv[1], sys.argv[2:]
values, sums = {}, []
for e in epochs:
    prof = ask("prof", "--epoch", e)
    rows = prof["rows"]
    scale = {"none": 1e6, "total": sum(r["time_ns"] for r in rows) / 100}.get(normalize)
    for r in rows:
        values.setdefault(r["procedure"], {})[e] = r["time_ns"] / scale
report = ask("stats", "--normalize", normalize, *epochs)
total = sum(sum(v.values()) for v in values.values())
worst = abs(report["sum"] / total - 1)
for r in report["rows"]:
    v = [values[r["procedure"]].get(e, 0.0) for e in epochs]
    want = {"sum": sum(v), "mean": statistics.mean(v), "std_dev": statistics.stdev(v),
            "min": min(v), "max": max(v), "range": max(v) - min(v), "n": len(v),
            "range_percent": 100 * (max(v) - min(v)) / sum(v),
            "sum_percent": 100 * sum(v) / total}
    worst = max([worst] + [abs(r[k] - w) / max(abs(w), 1e-300) if w else abs(r[k])
                           for k, w in want.items()])
print("agrees" if worst < 1e-9 and len(report["rows"]) == len(values) else worst)
END
is "$(python3 check.py none 1 2 3 4 5 6 7 8 9)" "agrees" "Python's statistics agree"
is "$(python3 check.py total 1 2 3 4 9)" "agrees" "of shares, too"
