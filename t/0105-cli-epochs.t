#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi epoch, cat and status on a database whose every count is known (t/mkdb.c).
. "$srcdir/t/tap.sh"
. "$srcdir/t/known.sh"
"$builddir/t/mkdb" empty.db || bail "mkdb failed"

plan 56

is "$(cpi epoch list)" "$(cat <<'END'
id  from                  to                    seconds  samples  start uncertain by, ms  state  host  label
 1  2026-01-02T03:00:00Z  2026-01-02T03:01:00Z     60.0     2016                      10  ended  web1  full
 2  2026-01-02T03:01:00Z  2026-01-02T03:02:00Z     60.0      100                      10  ended  web1  half
 3  2026-01-02T03:11:00Z  2026-01-02T03:12:00Z     60.0      100                      10  ended  web1
END
)" "cpi epoch list shows every epoch"
is "$(cpi epoch list --limit 1 --format=csv)" "$(cat <<'END'
id,from,to,seconds,samples,uncertainty_ms,state,host,release,boot_id,label
3,2026-01-02T03:11:00Z,2026-01-02T03:12:00Z,60.0,100,10,ended,web1,6.1.0,00000000-0000-0000-0000-000000000001,
END
)" "--limit 1 lists the newest epoch as CSV"

ids()
{
	cpi epoch list --epoch "$1" --format=csv | sed 1d | cut -d, -f1 | tr '\n' ' '
}

is "$(ids all)" "1 2 3 " "--epoch all chooses every epoch"
is "$(ids last)" "3 " "--epoch last chooses the newest epoch"
is "$(ids -1)" "2 " "--epoch -1 chooses the second newest epoch"
is "$(ids half)" "2 " "--epoch LABEL chooses the epoch with that label"
is "$(ids 1,3)" "1 3 " "--epoch 1,3 chooses two epochs by id"
is "$(ids 1..half)" "1 2 " "--epoch 1..half chooses a range of epochs"
is "$(ids 2026-01-02T03:00)" "1 " "--epoch TIME chooses the epoch at that time"

# Times that epochs do not match exactly, and what is no epoch.
cpi prof --epoch 2026-01-02T03:00:10..2026-01-02T03:00:20 >/dev/null 2>err
is "$(grep -v warning: err)" "$(cat <<'END'
cpi: asked 03:00:10Z to 03:00:20Z (10 s), shown 03:00:00Z to 03:01:00Z (1 min): epochs are whole
END
)" "cpi prof says that it shows more than the times that were asked for"
cpi prof --epoch 2026-01-02T03:00 >/dev/null 2>err
is "$(grep -v warning: err)" "" "times that are those of an epoch need no note"
cpi prof --epoch 2026-01-02T03:00:30.. >/dev/null 2>err
like "$(cat err)" "asked 03:00:30Z to 03:12:00Z (11 min 30 s), shown 03:00:00Z to 03:12:00Z" \
	"an open end is the end of the shown interval"
cpi prof --epoch 10:99 2>err
is "$?" 1 "a time that cannot be read is an error"
like "$(cat err)" "'10:99' is neither a label ('cpi epoch list') nor a time: say 2026-11-20T10:15" \
	"the message shows the forms of a time"
for word in -5q 5q..now 10:15..10h20 'last hours' firts; do
	cpi prof --epoch "$word" 2>>err.forms
done
is "$(grep -c "is neither a label ('cpi epoch list') nor a time: say 2026-11-20T10:15" err.forms)" 5 \
	'messages about words that are nearly times show the forms of a time'
cpi prof --epoch 'last 2 hours' 2>err
unlike "$(cat err)" 'is neither a label' "'last 2 hours' is a time"
cpi prof --epoch now-x 2>err
like "$(cat err)" "there is no epoch 'now-x': did you mean 'now'? Times are 2026-11-20T10:15" \
	'a misspelt word of time: the message suggests one and shows the forms'
cpi prof --epoch '2026-01-02T04..2026-01-02T05' 2>err
like "$(cat err)" "nothing is stored of 04:00:00Z to 06:00:00Z (2 h): there is 03:00:00Z to 03:12:00Z (12 min)" \
	'a time that is not stored: the message says which times are'
cpi prof --epoch '2026-01-02T05:00..06:01+01:00' 2>err
like "$(cat err)" "nothing is stored of 04:00:00Z to 05:01:00Z (1 h 1 min)" \
	'a zone at the right end of a range holds for the left end'
cpi prof --epoch '2026-01-02T03:04..03:02' 2>err
like "$(cat err)" "'2026-01-02T03:04..03:02' ends before it begins" \
	'a range that runs backwards: the message says so'
cpi prof --epoch now 2>err
is "$?" 1 'no epoch is open: now is an error'
cpi prof --epoch fulll..3 2>err
like "$(cat err)" "there is no epoch 'fulll': did you mean 'full'?" \
	"an unknown label: the message suggests a near one"

cpi prof -v --epoch 2026-01-02T03:01:00..2026-01-02T03:11:00 2>err |
	grep -c '^Epoch' >some
is "$(cat some) $(grep -c asked err)" "1 0" "a range of times ends where its right end begins"

zone()
{
	TZ=IST-5:30 cpi epoch list --local "$@"
}
is "$(zone --epoch '2026-01-02T08:31..08:32' --format=csv | cut -d, -f1-3 | tail -n 1)" \
	"2,2026-01-02T08:31:00+05:30,2026-01-02T08:32:00+05:30" \
	"--local reads and writes times of the local time zone"
is "$(zone --epoch '2026-01-02T03:01Z' --format=csv | cut -d, -f1 | tail -n 1)" 2 \
	"with --local a time may still be UTC"

# Three hours of minutes, in two runs of the same machine.
"$builddir/t/mkyear" minutes.db 190 3 20 1 60 >/dev/null || bail "no database"
cpi epoch label --db minutes.db 70 kept
cpi epoch list --db minutes.db >list
is "$(sed 1d list | awk '$NF == "kept" || ($8 == "epochs" && /^ *[0-9]/) { print $1, $7, $8 }')" "$(cat <<'END'
1..60 60 epochs
61..69 9 epochs
70 ended big1
71..120 50 epochs
121..180 60 epochs
END
)" "cpi epoch list has a row for the short epochs of an hour"
is "$(grep -c ended list) $(tail -n 1 list)" \
	"11 'cpi epoch list --epoch 121..180' shows the epochs of a row." \
	"the newest ten have a row each"
is "$(cpi epoch list --db minutes.db --format=csv | sed 1d | wc -l)" 190 \
	"CSV has a row for each epoch"

cpi prof --db minutes.db >/dev/null 2>err
is "$(grep -c 'its procedures have no names' err) $(tail -n 1 err)" \
	"1 cpi: warning: 1 more image could not be opened ('cpi prof -v' names them)" \
	'of several images that cannot be opened, a report names one and counts the others'
cpi prof -v --db minutes.db >/dev/null 2>err
is "$(grep -c 'its procedures have no names' err)" 2 'with -v it names all of them'

cpi epoch label 3 "a \"new\" one"
is "$?" 0 "cpi epoch label succeeds"
is "$(ids 'a "new" one')" "3 " "the new label chooses the epoch"
cpi epoch label -1 "by -1"
is "$?" 0 "cpi epoch label takes an epoch that is counted from the last"
is "$(ids 'by -1')" "2 " "the second newest epoch has the new label"
like "$(cpi diff -2 --limit 1 -1 --format=csv | head -n 1)" "procedure" \
	"an option may stand between such epochs"
cpi epoch label 2 half
cpi epoch list -1x 2>err
is "$?" 2 "an unknown option that begins with a digit is refused"
cpi epoch label all same 2>err
is "$?" 1 "cpi epoch label refuses several epochs"
like "$(cat err)" "names 3 epochs" "the message says how many epochs were named"
cpi epoch label 99 none 2>err
is "$?" 1 "cpi epoch label refuses an unknown epoch"
cp known.db one.db
cpi epoch label --db one.db 1 one
is "$(echo one.db*)" one.db "cpi epoch label leaves one file"
like "$(cpi epoch list --db empty.db)" "  open  " "an epoch that has not ended is listed as open"
cpi prof --db empty.db 2>err
is "$?" 1 "cpi prof fails on an epoch without samples"
like "$(cat err)" "no samples in epoch 1 yet: 'cpi flush'" "the message says to run cpi flush"

is "$(cpi cat --epoch full --event page-faults | sed "s#$target#TARGET#; s/0x[0-9a-f]*/0x/")" \
	"$(cat <<'END'
TARGET (file), page-faults from perf, a sample per 100 events: 12 samples
offset  samples  taken  not taken
0x       12      0          0
END
)" "cpi cat prints the stored counts of an event"
cpi cat --epoch all --format=csv >all.csv
is "$(head -n 1 all.csv)" \
	"image,kind,build_id,event,source,mean_period,unit,offset,n,taken,not_taken" \
	"cpi cat: the column titles of CSV"
is "$(grep '^\[kernel' all.csv)" "$(cat <<'END'
[kernel],kernel,abcd,cpu-clock,perf,1000000,ns,0x1010,50,0,0
[kernel],kernel,abcd,cpu-clock,perf,1000000,ns,0x1080,5,0,0
[kernel],kernel,abcd,cpu-clock,perf,1000000,ns,0x9000,5,0,0
END
)" "cpi cat prints the counts of the kernel"
is "$(grep -c ',30,10$' all.csv)" 1 "cpi cat lists the outcomes of a jump"
is "$(cpi cat --intervals --epoch all)" "$(cat <<'END'
run  flush  epoch  from                  to                    seconds  received  stored  lost
  1      1      1  2026-01-02T03:00:00Z  2026-01-02T03:01:00Z   60.000      2016    2007     9
  1      2      2  2026-01-02T03:01:00Z  2026-01-02T03:02:00Z   60.000       100     100     0
  2      1      3  2026-01-02T03:11:00Z  2026-01-02T03:12:00Z   60.000       100     100     0
END
)" "cpi cat --intervals prints every flush"
is "$(cpi cat --intervals --epoch all --format=csv | cut -d, -f2,10 | tr '\n' ' ')" \
	'seq,flushes 1,1 2,1 1,1 ' 'cpi cat --intervals counts the flushes of a row'
like "$(cpi cat --check)" "known.db: every profile decodes" "cpi cat --check decodes every profile"

cpi status --all --epoch full --socket none.sock >status 2>/dev/null
is "$(sed -n '/^epoch /,$p' status | grep -v '^last_flush ')" "$(cat <<'END'
epoch                1
epoch_from           2026-01-02T03:00:00Z
epoch_to             2026-01-02T03:01:00Z
epoch_state          ended
epoch_samples        2016
last_flush_received  2016
last_flush_stored    2007
last_flush_lost      4
last_flush_unknown   5
unknown_ambiguous    2
unknown_map_gap      3
lost_ring_lost       4
gaps                 1
gap_1                2026-01-02T03:02:00Z to 2026-01-02T03:11:00Z, the collector died
END
)" "cpi status shows losses, unknown samples and gaps of an epoch"
is "$(cpi status --epoch full --socket none.sock 2>/dev/null | grep -v '^database')" "$(cat <<'END'
cpid      not running, or not at none.sock
epoch     1, 2026-01-02T03:00:00Z to 2026-01-02T03:01:00Z: 2016 samples
lost      4 samples: ring_lost 4
unknown   5 samples: ambiguous 2, map_gap 3
gaps      1, the last 2026-01-02T03:02:00Z to 2026-01-02T03:11:00Z, the collector died

'cpi status --all' shows every number.
END
)" "cpi status without --all is a summary"
like "$(cpi status --db empty.db --socket none.sock 2>/dev/null)" \
	'^epoch     1, open since [^ ]*: 0 samples stored$' \
	"cpi status says since when an epoch is open"
like "$(cpi status --socket none.sock --format=csv 2>/dev/null)" "^database,gaps,1$" \
	"cpi status writes CSV"
if command -v python3 >/dev/null; then
	is "$(cpi cat --epoch all --format=json | python3 -c '
import json, sys
print(sum(c["n"] for c in json.load(sys.stdin)["counts"]))')" 2207 \
		"cpi cat: the counts in JSON add up to the stored samples"
	is "$(cpi status --socket none.sock --format=json 2>/dev/null | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(r["daemon"], r["database"]["epoch"], r["database"]["gap_1"][-8:])')" \
		"None 3 tor died" "cpi status writes JSON"
else
	skip 2 "no python3 to read JSON with"
fi
