#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The rate is halved in the middle of a run. That begins a second stream, but changes
# neither shares nor times, because time = the sum of count x mean period.
#
# Each share is within 4.5 sigma: by chance that fails in less than one of 100,000 runs.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
plan $((nr_stored_tests + 8))

collect_start -F 1000 --sweep 100ms
mkfifo split.out
"$programs/split" >split.out &
split=$!
tap_pids="$tap_pids $split"
exec 4<split.out
read -r ready <&4
await_samples 4000
try 'cpi changes the rate' cpi rate 500 --socket t.sock
cpid_ask epoch slow >/dev/null
await_samples 2000
kill -TERM $split
read -r three one share <&4
wait $split
collect_stop
check_stored
note "the program: $ready, $three ms and $one ms, by medians $share"

is "$(sql "SELECT mean_period FROM stream WHERE event <> 'windows' ORDER BY 1")" '1000000
2000000' 'the database has one stream for each rate'
# Samples and not_delivered, times the period of their stream, are the time that passed
# on all CPUs, except for a part of a sample. The two clocks agree within 0.1 ms.
is "$(sql 'SELECT * FROM (SELECT sum((received + not_delivered) * mean_period) AS time,
		sum(running_ns) AS passed FROM tally t JOIN stream s ON s.id = t.stream AND t.kind = 0)
	WHERE abs(time - passed) > 2000000 + 200000')" '' 'no time is lost between the streams'

# ms EPOCH PROCEDURE: by cpi prof.
ms()
{
	cpi prof --db t.db --epoch "$1" --image '*/split' --format=json >split.json 2>prof.err
	sql "SELECT total(json_extract(value, '\$.time_ns')) / 1e6
		FROM json_each(readfile('split.json'), '\$.rows')
		WHERE json_extract(value, '\$.procedure') = '$2'" :memory:
}

# deviation THREE ONE VARIANCE: of the share of three, in sigma. The variance of a
# sum of counts x periods (ms) is that of Poisson's at most: periods are nearly even.
deviation()
{
	awk -v x="$1" -v y="$2" -v variance="$3" -v share="$share" 'BEGIN {
		all = x + y
		d = x / all - share
		print (d < 0 ? -d : d) / (sqrt(share * (1 - share) * variance) / all)
	}'
}

# variance EPOCHS: of the samples of split, in ms^2.
variance()
{
	sql "SELECT total(total * (mean_period / 1e6) * (mean_period / 1e6))
		FROM profile p JOIN stream s ON s.id = p.stream JOIN image i ON i.id = p.image
		WHERE i.name GLOB '*/split' AND context = 0 AND p.kind = 0 AND epoch IN ($1)"
}

for epoch in 1 2; do
	bound "$(deviation "$(ms $epoch split_three)" "$(ms $epoch split_one)" \
		"$(variance $epoch)")" '<=' 4.5 "epoch $epoch: the shares are the program's, in sigma"
done
all_three=$(ms all split_three)
all_one=$(ms all split_one)
bound "$(deviation "$all_three" "$all_one" "$(variance 1,2)")" '<=' 4.5 \
	"both epochs: the shares are the program's, in sigma"
# not_delivered is the time of idle CPUs and of samples that a busy host delayed. The
# program's part of these is between nothing and its share of the samples. They are not
# spread evenly, which a tenth of the time is for.
bound "$(awk -v x="$all_three" -v y="$all_one" -v truth="$three $one" \
	-v variance="$(variance 1,2)" -v delivered="$(sql 'SELECT
		total(received * mean_period) / sum((received + not_delivered) * mean_period)
		FROM tally t JOIN stream s ON s.id = t.stream AND t.kind = 0')" 'BEGIN {
	split(truth, t, " ")
	all = t[1] + t[2]
	over = x + y - all
	under = all - (x + y) / delivered
	print (over > under ? over : under) - 4.5 * sqrt(variance) - 0.1 * all
}')" '<=' 0 "the time is the program's, within 4.5 sigma and a tenth"
