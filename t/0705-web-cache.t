#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Answers about epochs that did not change are kept while the database is written to.
. "$srcdir/t/tap.sh"
. "$srcdir/t/web.sh"
need sqlite3
plan 14

cp "$builddir/t/target" target
"$builddir/t/mkdb" known.db "$tmp/target" || bail "mkdb failed"
web_start --db=known.db

# made PATH: how many reports an answer took; it is in got.
made()
{
	get metrics >before
	get "$1" >got
	get metrics >after
	for made_file in before after; do
		awk '$1 == "cpi_web_reports_total" { print $2 }' "$made_file"
	done | paste -s -d ' ' | awk '{ print $2 - $1 }'
}
full='api/v1/prof?epoch=full&by=image'
is "$(made "$full")" 1 "an answer takes a report"
cp got first
is "$(made "$full")" 0 "the second time it takes nothing"
is "$(made "$full&limit=1")" 1 "another report takes one, too"

# The database is written to: another epoch gets a label.
cpi epoch label --db known.db half other || bail "no label"
is "$(made "$full")" 0 "a change of other epochs takes nothing"
is "$(cmp got first)" "" "... and the answer is the same"
is "$(made 'api/v1/prof?epoch=other')" 1 "the epoch that has changed takes its report"

stamp=$(cpi epoch stamp --db known.db full)
cpi epoch label --db known.db full renamed || bail "no label"
is "$(cpi epoch stamp --db known.db renamed | grep -c "$stamp")" 0 \
	"a label changes the name of the content"
cpi epoch label --db known.db renamed full || bail "no label"
is "$(cpi epoch stamp --db known.db full)" "$stamp" "... and back"
sqlite3 known.db "UPDATE flush SET seq = seq + 1000 WHERE (run, seq) = (SELECT run, max(seq)
	FROM flush WHERE epoch = (SELECT id FROM epoch WHERE label = 'full'))" ||
	bail "no flush"
is "$(cpi epoch stamp --db known.db full | grep -c "$stamp")" 0 "so does a flush"
stamp=$(cpi epoch stamp --db known.db full)
touch -d 2001-01-01 target
is "$(cpi epoch stamp --db known.db full | grep -c "$stamp")" 0 "... and a file that is replaced"
is "$(made "$full")" 1 "then the report is made again"

sides='api/v1/diff?A=full&B=other'
get "$sides" >got
get "$sides&history=none" >got
cpi epoch label --db known.db other again && cpi epoch label --db known.db again other ||
	bail "no label"
is "$(made "$sides&history=none") $(made "$sides")" "0 1" \
	"a comparison depends on its sides, or on the whole database"
like "$(cpi epoch stamp --db known.db nosuch 2>&1; echo $?)" "nosuch.*
1" "there is no name of epochs that are not there"
web_stop
is "$? $(cat web.log)" "0 " "the server has nothing to say"
