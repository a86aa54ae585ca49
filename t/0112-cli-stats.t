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

plan 47

cpi stats run >text 2>err
is "$?" 0 "cpi stats compares runs"
is "$(cat err)" "" "cpi stats writes no warnings"
is "$(sed -n '/^range%/,$p' text | tr -s ' ')" "$(cat <<'END'
range% sum sum% N mean std-dev min max procedure image
11.32% 4410.00 8.59% 8 551.25 167.36 381.00 880.00 ** smooth prog
 1.39% 717.00 1.40% 8 89.62 3.38 85.00 95.00 fft other
 0.94% 42420.00 82.64% 8 5302.50 114.18 5152.00 5551.00 ** parmvr prog
 0.66% 3786.00 7.38% 8 473.25 8.26 462.00 487.00 putb prog
END
)" "the columns of Figure 3; varying rows are marked"
like "$(cat text)" 'Number of epochs = 8.*values in samples' \
	"the text names the unit and the number of epochs"

csv()
{
	cpi stats --format=csv "$@" | tail -n +2
}
is "$(csv --by image run | cut -d, -f3,16 | tr '\n' ' ')" "50616,prog 717,other " "rows by image"
is "$(cpi stats --sort sum --format=csv --limit 2 run | cut -d, -f3,16)" \
	"$(printf '%s\n' sum,procedure 42420,parmvr 4410,smooth)" \
		"--sort sum orders the rows, --limit 2 prints two"
is "$(cpi stats --sort std-dev --format=csv run | sed -n 2p | cut -d, -f16)" \
	"smooth" "--sort std-dev puts the most varying row first"
is "$(cpi stats --sort=none 2>&1 >/dev/null)" \
	"cpi: error: --sort=none: say range, sum, mean, std-dev, min, max or excess" \
	"an unknown sort key is refused with the list of keys"
is "$(cpi stats 1 3 8 --format=csv | awk -F, '$16 == "smooth" { print $3, $5 }')" \
	"1373 3" "epochs are chosen one by one"
is "$(cpi stats --epoch=1..2 --format=csv | awk -F, '$16 == "smooth" { print $3, $5 }')" \
	"1261 2" "epochs are chosen as a range"
cpi stats run --epoch=1 2>err
is "$?" 2 "epochs as arguments and --epoch together are a usage error"
is "$(cpi stats 1 99 2>&1 >/dev/null | sed 's/.*runs.db: //')" \
	"there is no epoch '99': 'cpi epoch list' shows them" "an unknown epoch is named"

# An epoch half as long, one with half the rate: their time is what counts.
like "$(cpi stats run short half --format=json)" '^ *"unit": "ms",$' \
	"streams with several periods are compared as time"
like "$(cpi stats run short)" 'not of one length' "the text says that epochs differ in length"
is "$(cpi stats 1 short --normalize=time --format=csv |
	awk -F, '$16 == "parmvr" { print $9, $10 }')" "515.2 520" \
		"--normalize=time divides by the length of the epoch"
is "$(cpi stats 1 half --format=csv | awk -F, '$16 == "parmvr" { print $9, $10 }')" \
	"5152 5200" "half the rate does not change the time of a procedure"
is "$(cpi stats 1 short --normalize=total --format=csv | awk -F, '$16 ~ /./ && NR > 1 {
	n += $7 } END { print n }')" "100" "--normalize=total: the means of shares add up to 100"
is "$(cpi stats 1 short --format=csv | awk -F, '$16 == "fft" { print $5, $6, $9 }')" \
	"2 1 0" "a procedure that is missing in an epoch counts 0 there"
is "$(csv --by comm run | cut -d, -f3,16)" "51333,[unknown command]" \
	"without profiles by command, rows by command are one unknown command"
cpi stats run --by cgroup >/dev/null 2>err
is "$?" 1 "--by cgroup without profiles by cgroup is an error"
like "$(cat err)" "no profiles by cgroup: collect them with 'cpid --by comm,cgroup'" \
	"the message says how to collect profiles by cgroup"

is "$(cpi stats 1 2 --by category --format=csv | awk -F, '$16 == "not_tallied" && $3 > 0 {
	print $17, $3 }')" "deferred 13094" "rows by category have the categories of cpi sum"

is "$(cpi stats 1 2 --by category --format=csv | cut -d, -f17 | grep -c few_samples)" 1 \
	"--by category counts procedures with few samples"

# By what their processes are in; the third epoch has no profiles by it.
box=/kubepods.slice/kubepods-burstable-pod11111111_2222_3333_4444_555555555555.slice/cri-containerd-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope
"$builddir/t/runsdb" whose.db <<END || bail "no database"
by 10 1000 cgroup=/system.slice/ssh.service@main=100 cgroup=$box@main=50 label=x@main=7 main=3
by 10 1000 cgroup=/system.slice/ssh.service@main=300 process=cc:12@main=20 comm=cc@main=4
no 10 1000 main=60 other:main=5 idle:idle=5000
END
whose()
{
	cpi stats --db whose.db --format=csv --sort=sum "$@" | tail -n +2
}
is "$(whose by --by cgroup | cut -d, -f3,9,10,16)" "400,100,300,/system.slice/ssh.service
50,0,50,$box
34,10,24,[unknown cgroup]" "rows by cgroup add up the samples of each cgroup"
is "$(whose by no --by unit | cut -d, -f3,5,16)" "400,3,ssh.service
99,3,[no unit]
50,3,${box##*/}" "rows by unit include an epoch without contexts, but not its idle time"
is "$(whose by --by container | cut -d, -f3,16-)" "434,[no container],,,,
50,0123456789ab,containerd,11111111-2222-3333-4444-555555555555,burstable," \
	"rows by container name the runtime, the pod and its class"
is "$(whose by --by label | cut -d, -f3,16)" "477,[no label]
7,x" "rows by label add up the samples of each label"
is "$(whose by --by process | cut -d, -f3,16)" "464,[other processes]
20,cc:12" "rows by process add up the samples of each process"
is "$(cpi stats --db whose.db by --by unit --format=json | grep -c '"unit": "ssh.service"')" \
	1 "rows by unit in JSON"
cpi stats --db whose.db by --by unit --label x >/dev/null 2>&1
is "$?" 1 "rows by unit of one label need profiles by both together"

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
is "$(varies 1..3 --normalize=time)" sanely \
	"--normalize=time: an epoch without the image has a bounded variance"
is "$(varies 1..3 --normalize=total)" sanely \
	"--normalize=total: an epoch without the image has a bounded variance"
is "$(varies 1..4)" sanely "several periods: an epoch without the image has a bounded variance"

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
h.commit()' || bail "no open epoch"
for by in procedure category; do
	cpi stats --db open.db --by "$by" --format=json >out 2>err
	is "$?" 0 "--by $by: an epoch that just began is no error"
	is "$(cat err)" "cpi: warning: stats: left out, of no length and no samples: 9" \
		"--by $by: the warning names the epoch that just began"
	is "$(python3 -c 'import json
d = json.load(open("out"))
print(sorted({(r["n"], r["present"]) for r in d["rows"] if r["sum"] > 1e-6}))')" \
		"$(test $by = procedure && echo '[(5, 1), (5, 3)]' || echo '[(5, 4)]')" \
		"--by $by: an epoch without length is no run, an idle epoch is one"
done
cpi stats --db open.db 9 >out 2>err
is "$?" 1 "cpi stats fails on an epoch that just began"
like "$(cat err)" 'no samples in epoch 9 yet' "the message says that the epoch has no samples yet"

# smooth=880 of mean 551 and deviation 167 is 1.97 deviations off; parmvr=5551 of
# mean 5302 and deviation 115 is 2.16.
cpi stats run --format=json >run.json 2>/dev/null
is "$(python3 -c 'import json
d = json.load(open("run.json"))
for r, row in enumerate(d["rows"]):
    for o in d["outliers"]:
        if o["row"] == r:
            print(row["procedure"], o["epoch"], o["value"], o["from"] == d["epochs"][1]["from"])')" \
	"parmvr 2 5551 True" "JSON has the epochs that are more than two deviations from the mean"

is "$(python3 "$srcdir/t/stats_check.py" none 1 2 3 4 5 6 7 8 9)" "agrees" \
	"Python's statistics agree with cpi stats on times"
is "$(python3 "$srcdir/t/stats_check.py" total 1 2 3 4 9)" "agrees" \
	"Python's statistics agree with cpi stats on shares"

# Of a command's samples, 80 have no image: their profile has the reason.
for n in 1 2; do
	echo "e$n 10 1000 comm=x@prog:main=100 comm=x@lost:[0x1]=40"
done | "$builddir/t/runsdb" unknown.db || bail "no database of a command"
sqlite3 unknown.db "UPDATE profile SET image = 0 WHERE context > 0 AND
	image = (SELECT id FROM image WHERE name = 'lost')" || bail "no samples without an image"
of_x()
{
	cpi "$@" --db unknown.db --comm x 2>/dev/null
}
like "$(of_x stats e1 e2 --by image)" ' 80.00  28.57% .* ?$' \
	"images of a command: samples without an image are a row"
like "$(of_x stats e1 e2 --by category)" ' 80.00  28.57% .* unknown$' \
	"categories of a command: so are they"
like "$(of_x sum --epoch all --format=csv)" '^not_tallied,unknown,80.000,.*,28.57$' \
	"cpi sum of a command has its samples without an image"
