#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Samples on conditional jumps know whether the jump was taken: one that always is, one
# that never is, and one that is taken seven times of eight. So do samples on a compare
# that precedes a jump which is taken three times of four.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
. "$srcdir/t/shares.sh"
need nm readelf
[ "$(uname -m)" = x86_64 ] || skip_all 'tried on x86-64 alone'
plan $((nr_stored_tests + 8))

collect_start -F 2000
"$programs/branch" ${CPI_TEST_MS:-2500}
collect_stop
check_stored
cpi cat --db t.db --image '*/branch' --format=csv >counts.csv

# at SYMBOL: sets n, taken and not_taken of the jump there.
at()
{
	set -- "$(nm "$programs/branch" | sed -n "s/ . $1\$//p")"
	set -- "$(printf '0x%x' $((0x$1 - $(bias "$programs/branch"))))"
	set -- $(sqlite3 -separator ' ' :memory: '.import --csv counts.csv c' \
		"SELECT coalesce(sum(n), 0), coalesce(sum(taken), 0), coalesce(sum(not_taken), 0)
		FROM c WHERE offset = '$1'")
	n=$1 taken=$2 not_taken=$3
}

# The processor decides where samples land. Too few of them prove nothing.
skip_few()
{
	[ "$n" -lt 100 ] && skip 1 "only $n samples land on the jump"
}

at branch_taken
skip_few || is "$taken $not_taken" "$n 0" 'all samples of the jump that is always taken say so'
at branch_not_taken
skip_few || is "$taken $not_taken" "0 $n" 'all samples of the jump that is never taken say so'
at branch_some
is "$((taken + not_taken))" "$n" 'each sample of a jump has an outcome'
skip_few || share_near "$taken" "$n" 0.875 'seven of eight samples say that the jump was taken'
at branch_pair
is "$((taken + not_taken))" "$n" 'each sample of a compare before a jump has an outcome'
skip_few || share_near "$taken" "$n" 0.75 'three of four samples say that the next jump was taken'
is "$(sqlite3 :memory: '.import --csv counts.csv c' "SELECT * FROM c WHERE taken + not_taken > n")" \
	'' 'no jump has more outcomes than samples'
