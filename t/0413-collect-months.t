#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Nine days of hours with 300 short processes each go through the daemon's core in seconds,
# by a stepped clock: memory, descriptors and the process map do not grow, and each sample is
# accounted for. t/bench/months does the same for a year.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
plan 4

mkdir made
"$builddir/t/bench/months" made 9 300 3600 >days.csv 2>judged.txt
status=$?
sed 's/^/# /' days.csv judged.txt
is "$status" 0 'nothing grows, and each sample is accounted for'
is "$(wc -l <days.csv)" 10 'each day was looked at'
is "$(sqlite3 made/months.db "SELECT sum(received) = (SELECT sum(stored) FROM tally) +
	(SELECT coalesce(sum(n), 0) FROM loss) AND sum(stored) > 0.99 * sum(received) FROM tally")" 1 \
	'nearly all samples were stored'
try 'the database is whole' cpi cat --db made/months.db --check
