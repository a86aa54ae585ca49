#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi epoch, cat and status on a database whose every count is known (t/mkdb.c).
. "$srcdir/t/tap.sh"
. "$srcdir/t/known.sh"
"$builddir/t/mkdb" empty.db || bail "mkdb failed"

plan 27

is "$(cpi epoch list)" "$(cat <<'END'
id  from                  to                    seconds  samples  edge ms  state  host  label
 1  2026-01-02T03:00:00Z  2026-01-02T03:01:00Z     60.0     2016       10  ended  web1  full
 2  2026-01-02T03:01:00Z  2026-01-02T03:02:00Z     60.0      100       10  ended  web1  half
 3  2026-01-02T03:11:00Z  2026-01-02T03:12:00Z     60.0      100       10  ended  web1
END
)" "the epochs"
is "$(cpi epoch list --limit 1 --format=csv)" "$(cat <<'END'
id,from,to,seconds,samples,uncertainty_ms,state,host,release,boot_id,label
3,2026-01-02T03:11:00Z,2026-01-02T03:12:00Z,60.0,100,10,ended,web1,6.1.0,00000000-0000-0000-0000-000000000001,
END
)" "the newest, as CSV"

ids()
{
	cpi epoch list --epoch "$1" --format=csv | sed 1d | cut -d, -f1 | tr '\n' ' '
}

is "$(ids all)" "1 2 3 " "all"
is "$(ids last)" "3 " "the last"
is "$(ids -1)" "2 " "the one before"
is "$(ids half)" "2 " "by label"
is "$(ids 1,3)" "1 3 " "by id"
is "$(ids 1..half)" "1 2 " "from and to"
is "$(ids 2026-01-02T03:00)" "1 " "by time"

cpi epoch label 3 "a \"new\" one"
is "$?" 0 "an epoch gets a name"
is "$(ids 'a "new" one')" "3 " "and is found by it"
cpi epoch label all same 2>err
is "$?" 1 "several epochs do not"
like "$(cat err)" "names 3 epochs" "and why"
cpi epoch label 99 none 2>err
is "$?" 1 "nor does one that is not there"
like "$(cpi epoch list --db empty.db)" "  open  " "an epoch that is still open"
cpi prof --db empty.db 2>err
is "$?" 1 "with nothing in it"
like "$(cat err)" "no samples in epoch 1 yet: 'cpi flush'" "says what to do"

is "$(cpi cat --epoch full --event page-faults | sed "s#$target#TARGET#; s/0x[0-9a-f]*/0x/")" \
	"$(cat <<'END'
TARGET (file), page-faults from perf, a sample per 100 events: 12 samples
offset  samples  taken  not taken
0x       12      0          0
END
)" "a profile as it is stored"
cpi cat --epoch all --format=csv >all.csv
is "$(head -n 1 all.csv)" \
	"image,kind,build_id,event,source,mean_period,unit,offset,n,taken,not_taken" \
	"the titles of the profiles"
is "$(grep '^\[kernel' all.csv)" "$(cat <<'END'
[kernel],kernel,abcd,cpu-clock,perf,1000000,ns,0x1010,50,0,0
[kernel],kernel,abcd,cpu-clock,perf,1000000,ns,0x1080,5,0,0
[kernel],kernel,abcd,cpu-clock,perf,1000000,ns,0x9000,5,0,0
END
)" "the kernel's profile"
is "$(grep -c ',30,10$' all.csv)" 1 "the outcomes of a jump"
is "$(cpi cat --intervals --epoch all)" "$(cat <<'END'
run  flush  epoch  from                  to                    seconds  received  stored  lost
  1      1      1  2026-01-02T03:00:00Z  2026-01-02T03:01:00Z   60.000      2016    2007     9
  1      2      2  2026-01-02T03:01:00Z  2026-01-02T03:02:00Z   60.000       100     100     0
  2      1      3  2026-01-02T03:11:00Z  2026-01-02T03:12:00Z   60.000       100     100     0
END
)" "the flushes"
like "$(cpi cat --check)" "known.db: every profile decodes" "the check of a whole database"

cpi status --epoch full --socket none.sock >status 2>/dev/null
is "$(sed -n '/^epoch /,$p' status | grep -v '^last_flush ')" "$(cat <<'END'
epoch                1
epoch_from           2026-01-02T03:00:00Z
epoch_to             2026-01-02T03:01:00Z
epoch_state          ended
epoch_samples        2016
last_flush_received  2016
last_flush_stored    2007
last_flush_lost      9
unknown_ambiguous    2
unknown_map_gap      3
lost_ring_lost       4
gaps                 1
gap_1                2026-01-02T03:02:00Z to 2026-01-02T03:11:00Z, the collector died
END
)" "what the database knows of losses and gaps"
like "$(cpi status --socket none.sock --format=csv 2>/dev/null)" "^database,gaps,1$" \
	"the status as CSV"
if command -v python3 >/dev/null; then
	is "$(cpi cat --epoch all --format=json | python3 -c '
import json, sys
print(sum(c["n"] for c in json.load(sys.stdin)["counts"]))')" 2207 \
		"the profiles as JSON hold every stored sample"
	is "$(cpi status --socket none.sock --format=json 2>/dev/null | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(r["daemon"], r["database"]["epoch"], r["database"]["gap_1"][-8:])')" \
		"None 3 tor died" "the status as JSON"
else
	skip 2 "no python3 to read JSON with"
fi
