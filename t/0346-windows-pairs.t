#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Pairs of samples: their accounting, and how fast they say that loops of known counts ran.
#
# Statistic: executions are also compared with their 90 % interval, widened by a fifth on each
# side, because the machine may be slower in the program's time than in its samples.
#
# Statistic: a pair has the rounds of some 10 ms or less, to one round. The mean of ten or
# more is within a few percent, unless other work slows the loop down in some of its time
# more than in the rest. The bound is a factor of 1.5.
CPI_TEST_COLLECTOR=bpf
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need nm readelf python3
[ -x "$builddir/helpers/cpi-translate" ] || skip_all 'windows are not built in'
program=$(realpath "$programs/rounds")

collect_start --windows 499
[ "$(cpid_field windows)" = on ] || {
	skip_all "no windows here: $(grep windows: t.log | tail -n 1)"
}
plan 17

# stolen: ns that the hypervisor took since boot, as the kernel has accounted for them.
stolen()
{
	awk -v hz="$(getconf CLK_TCK)" '$1 == "cpu" { printf "%.0f\n", $9 * 1e9 / hz }' /proc/stat
}
stolen=$(stolen)

# stored N: whether so many pairs are.
stored()
{
	[ "$(cpid_field pairs_stored)" -ge "$1" ]
}

"$program" 300 >all.txt # its code is translated meanwhile
for part in 1 2 3; do
	"$program" 1000 >truth.txt
	cat truth.txt >>all.txt
	within 20 stored 100 && break
done
cpid_ask status >status.txt
is "$(status_sum status.txt pairs_received)" \
	"$(($(status_sum status.txt pairs_stored) + $(status_sum status.txt pairs_lost.) +
		$(status_sum status.txt pairs_pending)))" \
	'status: pairs: received = stored + lost + pending'
# The kernel accounts at its ticks, in units of a tick for each CPU.
bound "$(status_sum status.txt pairs_stolen_ns)" '<=' \
	"$(($(stolen) - stolen + $(getconf _NPROCESSORS_ONLN) * 20000000))" \
	'pairs leave out at most the time that the hypervisor took'
bound "$(status_sum status.txt pairs_stored)" '>=' 100 'pairs are stored'
collect_stop
try 'every profile decodes' cpi cat --check --db $db
cpi cat --edges --db $db --format=csv >edges.csv

# Offsets in the file of the function's code: "FIRST LAST".
range()
{
	nm -S "$program" | awk -v name="$1" '$4 == name { print "0x" $1, "0x" $2 }' | {
		read -r start size
		echo "$((start - $(bias "$program"))) $((start - $(bias "$program") + size))"
	}
}
# For awk programs.
hex=$(cat "$srcdir/t/hex.awk")
# pace NAME: "PAIRS NS-PER-ROUND" of the instruction in it that ran most often.
pace()
{
	# shellcheck disable=SC2046 # two words
	set -- $(range "$1")
	awk -F, -v image="$program" -v first="$1" -v last="$2" "$hex"'
		$1 == "pace" && $9 == image && hex_value(substr($3, 3)) >= first &&
		hex_value(substr($3, 3)) < last &&
		hex_value(substr($4, 3)) <= 512 {
			rounds[$3] += $5 - $7
			ns[$3] += $6
			pairs[$3] += $7
		}
		END {
			for (at in rounds)
				if (best == "" || rounds[at] > rounds[best])
					best = at
			if (best != "" && rounds[best])
				print pairs[best], ns[best] / rounds[best]
			else
				print 0, 0
		}' edges.csv
}
for name in rounds_chain rounds_inner rounds_call; do
	# shellcheck disable=SC2046
	set -- $(pace $name)
	want=$(awk -v name=$name '$1 == name { print $3 / $2 }' truth.txt)
	bound "$1" '>=' 10 "$name: pairs count its rounds"
	ratio=$(awk -v a="$2" -v b="$want" 'BEGIN { print (a > b) ? a / b : (a ? b / a : 99) }')
	bound "$ratio" '<=' 1.5 "$name: ns per round"
done
# shellcheck disable=SC2046
set -- $(range rounds_inner)
bound "$(awk -F, -v image="$program" -v first="$1" -v last="$2" "$hex"'
	$1 == "pace" && $4 == "0x201" && $9 == image &&
	hex_value(substr($3, 3)) >= first && hex_value(substr($3, 3)) < last { n += $7 }
	END { print n + 0 }' edges.csv)" '>=' 10 \
	'rounds_inner: the register of the inner loop contradicts its pairs'

# interval NAME: "LOW LIKELY HIGH" of its block that ran most.
interval()
{
	cpi calc "$1" --db $db --image "$program" --format=json | python3 -c '
import json, sys
blocks = json.load(sys.stdin)["blocks"]
i = max(blocks, key=lambda b: b["frequency"])["frequency_interval"]
print(i["low"], i["likely"], i["high"])'
}
# ran NAME: its rounds, in all calls.
ran()
{
	awk -v name="$1" '$1 == name { n += $4 } END { printf "%.0f\n", n }' all.txt
}
# shellcheck disable=SC2046
set -- $(interval rounds_chain)
bound "$(ran rounds_chain)" '>=' "$(awk -v x="$1" 'BEGIN { printf "%.0f\n", x / 1.2 }')" \
	'rounds_chain: executions are not below the interval'
bound "$(ran rounds_chain)" '<=' "$(awk -v x="$3" 'BEGIN { printf "%.0f\n", x * 1.2 }')" \
	'rounds_chain: executions are not above the interval'
bound "$(awk -v low="$1" -v high="$3" 'BEGIN { print (low > 0) ? high / low : 99 }')" \
	'<=' 1.5 'rounds_chain: the interval is narrow'

# A command's share of them is not known.
comm=$(basename "$program" | cut -c1-15)
like "$(cpi calc rounds_chain --db $db --image "$program" --comm "$comm")" \
	'^Pairs of samples are not stored by command' 'the report of a command says that pairs are left out'
unlike "$(cpi calc rounds_chain --db $db --image "$program")" '^Pairs of samples are not stored' \
	'without --comm the report uses pairs'
