#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Arm's SPE in recordings: each record has its thread, and lost records are counted.
. "$srcdir/t/tap.sh"
need python3
plan 25

# import FORM MODE SEED [HOW]: imports a made-up recording as made.db; fails if a sample
# or a loss differs from the made-up ones.
import()
{
	# shellcheck disable=SC2086
	"$srcdir/t/perfdata_spe.py" $1 $2 "$3" ${4-} want >made || return 1
	rm -f made.db
	cpi import -o made.db made >out 2>&1 || return 1
	grep -E '^(/|aux)' want | sort >all
	{
		cpi cat --db made.db --format=csv |
			sed -nE 's/^"?(\/[^,"]*)"?,file,[^,]*,.*,(0x[0-9a-f]+),([0-9]+),.*/\1 \2 \3/p'
		cpi prof --db made.db --format=json 2>err | python3 -c '
import json, sys
for loss in json.load(sys.stdin)["losses"].items():
    print(*loss)'
	} | sort >got
	cmp all got >&2
}

seed=${SEED:-1}
for mode in context switch aux thread; do
	for form in 'little file' 'big file' 'little pipe' 'big pipe'; do
		import "$form" $mode "$seed"
		ok $? "$form, threads identified by $mode: $(grep -c '^s' want) samples"
		seed=$((seed + 1))
	done
done
import 'little file' context 7 damage
ok $? 'damaged or incomplete records are counted as lost, by name'
import 'big pipe' switch 8 damage
ok $? 'big-endian pipe: damaged or incomplete records are counted as lost, by name'
like "$(cpi prof --db made.db 2>err)" '^Lost: .*aux_damaged' 'cpi prof shows the loss aux_damaged'
like "$(cpi prof --db made.db --format=json 2>err)" \
	'"mean_period": *1024' 'the period is that of the event'
like "$(cpi records --db made.db --limit=0 --format=json 2>err)" '"dispatch-to-complete"' \
	'cpi records has the latencies of the samples'
head -c "$(($(wc -c <made) - 30))" made >cut
cpi import -o cut.db cut >out 2>&1
is $? 1 'a truncated buffer is refused'
like "$(cat out)" 'cut: at offset 0x' 'the message says at which offset the buffer ends'

# perf reads the same samples. It needs whole records in each piece.
if command -v perf >/dev/null; then
	"$srcdir/t/perfdata_spe.py" little file context 4 whole want >made
	perf script -i made --itrace=i1i -F pid,tid,time,ip --ns 2>err |
		sed -nE 's|^ *[-0-9]+/([0-9]+) +([0-9]+)\.([0-9]+): +([0-9a-f]+)$|s \1 \2\3 \4|p' |
		sed -E 's/^(s [0-9]+) 0*([0-9])/\1 \2/' | sort >perf
	if [ -s perf ]; then
		grep '^s' want | sort | cmp - perf >&2
		ok $? "perf shows the same $(wc -l <perf) samples"
	else
		skip 1 'this perf reads no SPE'
	fi
else
	skip 1 'no perf to compare with'
fi

# Live.
if [ -d /sys/bus/event_source/devices/arm_spe_0 ]; then
	cpi record -e arm_spe -o live.db sleep 1 >out 2>&1
	ok $? 'cpi record samples SPE'
else
	cpi record -e arm_spe// -o live.db true >out 2>&1
	like "$(cat out)" 'Statistical Profiling Extension' \
		'the message says that the machine has no SPE'
fi
