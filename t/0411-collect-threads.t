#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Profiles by thread, on this machine: a thread from before cpid, one that begins later,
# and the first thread of a process each have their own samples and names.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
. "$srcdir/t/shares.sh"
plan 22
CPI_SOCKET=t.sock
export CPI_SOCKET

cp "$programs/workers" workers || bail 'no program'
real=$(realpath workers)
mkfifo in out
"$real" <in >out &
workers=$!
tap_pids="$tap_pids $workers"
exec 4>in 5<out
read -r _ <&5

# samples PROCEDURE [OPTION...]: of the workers.
samples()
{
	samples_of=$1
	shift
	cpi prof --db $db --epoch all --image "$real" --procedure "$samples_of" "$@" \
		--format=csv | awk -F, 'NR > 1 { n += $1 } END { print n + 0 }'
}
rows()
{
	cpi prof --db $db --epoch all --by "$1" --image "$real" --format=csv 2>err |
		cut -d, -f5-
}
for collector in perf bpf; do
	db=$collector.db
	if ! cpid_start --db $db -F 1000 -e $event --collector $collector --sweep 1s \
		--by comm,thread; then
		skip 9 "the collector $collector cannot be used here"
		continue
	fi
	echo go >&4
	read -r _ <&5
	cpid_ask flush >/dev/null
	for of in first_hot:workers:$workers early_hot:early:* late_hot:late:*; do
		procedure=${of%%:*} thread=${of#*:}
		share_at_least "$(samples "$procedure" --thread "$thread")" \
			"$(samples "$procedure")" 0.98 \
			"$collector: the samples of $procedure are of the thread $thread"
		bound "$(samples "$procedure")" '>' 100 "$collector: $procedure has its samples"
	done
	is "$(samples child_hot --thread "workers:$workers")" 0 \
		"$collector: a child's samples are not of its parent's thread"
	like "$(rows comm,thread)" '^workers,early:[0-9]*$' \
		"$collector: --by comm,thread has the thread in its process"
	is "$(cpi prof --db $db --epoch all --by thread --idle --format=csv |
		awk -F, 'NR > 1 { n += $1 } END { print n }')" \
		"$(cpi prof --db $db --epoch all --by image --idle --format=csv |
			awk -F, 'NR > 1 { n += $1 } END { print n }')" \
		"$collector: the samples by thread add up to all samples"
	cpid_ask quit >/dev/null
	cpid_wait
	try "$collector: the database is sound" cpi cat --check --db $db
done
exec 4>&- 5<&-

cpid --db k.db --collector kmod --by thread --socket k.sock >k.log 2>&1
is $? 1 'the module has no threads'
like "$(cat k.log)" 'kmod counts by process: profiles by thread need bpf or perf' \
	'the module is refused in a sentence'
