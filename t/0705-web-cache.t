#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Answers about epochs that did not change are kept while the database is written to.
. "$srcdir/t/tap.sh"
. "$srcdir/t/web.sh"
need sqlite3 pgrep
plan 22

cp "$builddir/t/target" target
"$builddir/t/mkdb" known.db "$tmp/target" || bail "mkdb failed"
web_start --db=known.db

is "$(stat -c '%a %F' cpi-web/cpi)" "700 directory" "the server makes a cache of its own for its reports"

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
is "$(made "$full")" 1 "the first request makes a report"
cp got first
is "$(made "$full")" 0 "the second request makes no report"
is "$(made "$full&limit=1")" 1 "a request of another report makes a report"

# The database is written to: another epoch gets a label.
cpi epoch label --db known.db half other || bail "no label"
is "$(made "$full")" 0 "a change of other epochs makes no report"
is "$(cmp got first)" "" "after a change of other epochs the answer is the same"
is "$(made 'api/v1/prof?epoch=other')" 1 "a request of the changed epoch makes a report"

stamp=$(cpi epoch stamp --db known.db full)
cpi epoch label --db known.db full renamed || bail "no label"
is "$(cpi epoch stamp --db known.db renamed | grep -c "$stamp")" 0 \
	"a label changes the hash of the content"
cpi epoch label --db known.db renamed full || bail "no label"
is "$(cpi epoch stamp --db known.db full)" "$stamp" "removing the label restores the hash of the content"
sqlite3 known.db "UPDATE flush SET seq = seq + 1000 WHERE (run, seq) = (SELECT run, max(seq)
	FROM flush WHERE epoch = (SELECT id FROM epoch WHERE label = 'full'))" ||
	bail "no flush"
is "$(cpi epoch stamp --db known.db full | grep -c "$stamp")" 0 "a flush changes the hash of the content"
stamp=$(cpi epoch stamp --db known.db full)
touch -d 2001-01-01 target
is "$(cpi epoch stamp --db known.db full | grep -c "$stamp")" 0 "a replaced file changes the hash of the content"
is "$(made "$full")" 1 "after a file was replaced the report is made again"

# capture START: a name there in each image of the epoch.
capture()
{
	sqlite3 known.db "INSERT INTO symbol (image, start, size, name) SELECT DISTINCT image, $1, 1, 'name' FROM
		profile WHERE epoch = (SELECT id FROM epoch WHERE label = 'full')" || bail "no symbol"
}
capture 1000000000
stamp=$(cpi epoch stamp --db known.db full)
capture 3
is "$(cpi epoch stamp --db known.db full | grep -c "$stamp")" 0 \
	"a captured name below the others changes the hash of the content"

# Without epochs, cpi stats reads all.
get 'api/v1/stats' >got
is "$(made 'api/v1/stats')" 0 "a second cpi stats makes no report"
cpi epoch label --db known.db other relabelled || bail "no label"
is "$(made 'api/v1/stats')" 1 "cpi stats depends on all epochs"
cpi epoch label --db known.db relabelled other || bail "no label"

sides='api/v1/diff?A=full&B=other'
get "$sides" >got
get "$sides&history=none" >got
cpi epoch label --db known.db other again && cpi epoch label --db known.db again other ||
	bail "no label"
is "$(made "$sides&history=none") $(made "$sides")" "0 1" \
	"a comparison depends on its sides, or on the whole database"
like "$(cpi epoch stamp --db known.db nosuch 2>&1; echo $?)" "nosuch.*
1" "there is no hash of unknown epochs"
web_stop
is "$? $(cat web.log)" "0 " "the server logs nothing"

# The report of a new question does not wait for the hash of its content.
printf '#!/bin/sh\nexec sleep 1000\n' >"$tmp/program"
chmod +x "$tmp/program"
web_start --db=known.db --cpi="$tmp/program"
get "$full" >got 2>&1 &
asker=$!
tap_pids="$tap_pids $asker"
both_run()
{
	[ "$(pgrep -P "$web_pid" -x sleep | wc -l)" = 2 ]
}
try "the first request starts the report and the hash at once" await both_run
web_stop
! wait "$asker" || note "the client has an answer: $(cat got)"

# A year, so that the sums of its first epochs are worth keeping.
kept() { find cpi-web/cpi -name 'sums-*' -printf '%f %T@\n' | sort; }
"$builddir/t/mkyear" year.db 700 40 400 >/dev/null || bail "mkyear failed"
echo '[cpi-web]' >web.conf
CPI_WEB_CONFIG=$PWD/web.conf
web_start --db=year.db
echo 'patience = 30' >>web.conf
kill -HUP "$web_pid" # it still knows its cache
await grep -q 'changed: patience' web.log || bail "no reload"
get 'api/v1/prof?epoch=all' >got
web_stop
kept >before
like "$(cat before)" '^sums-' "a report of the page keeps the sums of epochs that have ended"
is "$(find cpi -name 'sums-*' 2>/dev/null)" '' "reports of the page write nothing into the cache of cpi"
web_start --db=year.db
get 'api/v1/prof?epoch=all' >again
web_stop
is "$(cmp got again)$(kept | cmp - before)" '' "the next server's report uses them, and is the same"
