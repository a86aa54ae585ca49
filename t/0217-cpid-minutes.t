#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# By default an epoch is a minute of the clock. Reports show the minutes that were asked
# for, by default those of the last hour, and minutes become hours.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
plan 15

# The clock that cpid sees is ahead: it goes to a second before each minute, of an hour of
# tomorrow.
first=$((($(date +%s) / 86400 + 1) * 86400 + 36000))
step()
{
	printf '%s\n' $((first + $1 * 60 - 1 - $(date +%s))) >clock.new
	mv clock.new clock
}
# minute N: goes to minute N of that hour, and waits for samples that are stored there.
minute()
{
	step "$1"
	await begun "$1" || bail "epoch $1 does not begin"
	await_samples $(($(cpid_field received.$event) + 20))
}
begun()
{
	[ "$(sql "SELECT count(*) FROM epoch WHERE from_ns >= $((first + $1 * 60)) * 1000000000")" -ge 1 ]
}
# samples OPTIONS: the stored samples that cpi prof tells of.
samples()
{
	CPI_SOCKET=t.sock cpi prof --db $db --format=json "$@" 2>err |
		python3 -c 'import json, sys
print(sum(s["total"] for s in json.load(sys.stdin)["streams"]))'
}
# counted FROM TO: the same by the flushes, of two minutes and what is between them. Reports
# show samples of unknown code, too, and none is lost: so it is what was received.
counted()
{
	cpi cat --db $db --intervals --epoch all --format=csv |
		awk -F, -v from="$(clock "$1")" -v to="$(clock "$2")" \
			'NR > 1 && $4 >= from && $4 < to { n += $7 } END { print n + 0 }'
}
clock()
{
	date -u -d "@$((first + $1 * 60))" +%Y-%m-%dT%H:%M:%S
}
command -v python3 >/dev/null || skip_all 'no python3 to read JSON with'

# In the middle of a minute, so that the first epoch is that minute's however long the start
# takes.
printf '%s\n' $((first + 30 - $(date +%s))) >clock
export LD_PRELOAD="$builddir/t/clock.so" CPI_TEST_CLOCK="$tmp/clock"
ASAN_OPTIONS="verify_asan_link_order=0:${ASAN_OPTIONS-}"
export ASAN_OPTIONS
collect_start -F 100 --sweep 100ms
unset LD_PRELOAD
await_samples 20
for i in 1 2 3 4 5; do
	minute $i
done
cpid_ask flush >/dev/null

is "$(sql 'SELECT count(*) FROM epoch')" 6 'each minute of the clock is an epoch'
is "$(sql "SELECT max(from_ns / 1000000 % 60000) < 5000 FROM epoch WHERE id > 1")" 1 \
	'an epoch begins with its minute'
bound "$(samples --epoch "$(clock 2)..$(clock 4)")" '>' 0 'two minutes have samples'
is "$(samples --epoch "$(clock 2)..$(clock 4)")" "$(counted 2 4)" \
	'two minutes have exactly the samples of the flushes in them'
is "$(grep -c asked err)" 0 'no line says that more is shown'
samples --epoch "$(clock 2 | sed 's/:00$/:20/')..$(clock 3)" >some
like "$(cat err)" 'asked 10:02:20Z to 10:03:00Z (40 s), shown 10:02:00Z to 10:03:0[0-5]Z' \
	'part of a minute is answered by the minute, and a line says so'
is "$(cat some)" "$(counted 2 3)" 'the answer for part of a minute has the samples of that minute'
is "$(samples)" "$(sql 'SELECT sum(received) FROM flush')" \
	'without --epoch a report has all of the last hour'
is "$(samples --epoch last)" \
	"$(sql 'SELECT sum(received) FROM flush WHERE epoch = (SELECT max(id) FROM epoch)')" \
	'--epoch last is one minute'

cpid_ask epoch named >/dev/null
step 7
await_samples $(($(cpid_field received.$event) + 200))
cpid_ask flush >/dev/null
is "$(sql "SELECT count(*) FROM epoch WHERE label = 'named'")" 1 \
	'an epoch with a label is stored'
minute 60
minute 61
is "$(sql "SELECT (max(to_ns) - min(from_ns)) / 1000000000 >= 3200 FROM epoch
	WHERE label = 'named'")" 1 'an epoch with a label lasts until its hour ends'

collect_stop
cpi epoch roll --db $db all >rolled
is "$(cat rolled)" "$(printf '2 hours rolled up\n1 day rolled up')" \
	'cpi epoch roll makes hours of minutes, and a day of these'
is "$(sql "SELECT group_concat(label || '.') FROM epoch")" '.,named.' \
	'the epoch with a label is left alone'
is "$(sql 'SELECT sum(received) FROM tally WHERE kind = 0') $(cpi cat --check --db $db >/dev/null && echo whole)" \
	"$(sql 'SELECT sum(received) FROM flush') whole" 'cpi epoch roll loses no sample'
