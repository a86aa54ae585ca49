#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi doctor: findings about this machine.
. "$srcdir/t/tap.sh"
plan 8

CPI_SOCKET=$PWD/none.sock
export CPI_SOCKET
cpi doctor --format=json >out.json 2>err
status=$?
is "$(cat err)" '' 'cpi doctor prints no message'
is "$(python3 - out.json $status <<'.'
import json, sys
r = json.load(open(sys.argv[1]))
rank = ["ok", "note", "problem", "fatal"]
worst = max((f["verdict"] for f in r["findings"]), key=rank.index)
assert r["verdict"] == worst
assert int(sys.argv[2]) == (rank.index(worst) >= 2)
names = [f["check"] for f in r["findings"]]
assert len(names) == len(set(names)), "each once"
for f in r["findings"]:
    assert f["what"] and (f["why"] is None) == (f["verdict"] == "ok"), f
print("right")
.
)" right 'verdict and exit status are of the worst finding'
is "$(python3 -c 'import json
print("\n".join(sorted(f["check"] for f in json.load(open("out.json"))["findings"])))')" \
	"$(sed -n '/^The checks are/,/^The options are/s/^\.It Cm //p' "$srcdir/man/cpi-doctor.1.in" |
		tr -s ' ,' '\n' | sort)" 'cpi-doctor(1) describes every check'
cpi doctor >out
is $? $status 'text has the same exit status'
like "$(head -n 1 out)" '^This machine can' 'the first line is the answer'
is "$(sed 's/^.\{80\}$//' out | awk 'length > 80')" '' 'no line is longer than 80 characters'
like "$(cat out)" 'cpid  *no cpid runs' 'a missing daemon is a finding'
cpi doctor --format=csv >out 2>err
is $? 2 'a format that is not there is refused'
