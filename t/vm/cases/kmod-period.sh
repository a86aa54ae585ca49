# SPDX-License-Identifier: GPL-2.0-or-later
# periods are uniform between their bounds, and independent of each other
#
# The kernel tells when it sets the timer of cpu-clock, and for when: the distance
# of two settings on a CPU is the period that was drawn (or several, when the
# machine was late: those are longer than any single one).
# needs: module
. /cpi/case.sh
mount -t tracefs none /sys/kernel/tracing 2>/dev/null
trace=/sys/kernel/tracing
[ -e $trace/events/timer/hrtimer_start ] || skip_all 'this kernel has no trace events'
module_load
mkfifo go ready
kmod_check hold <go >ready &
exec 5>go 6<ready
read -r _ <&6
echo 8192 >$trace/buffer_size_kb
echo 1 >$trace/events/timer/hrtimer_start/enable
nr=0
while [ "$nr" -lt 2500 ]; do
	usleep 200000
	nr=$(grep -c 'function=perf_swevent_hrtimer' $trace/trace)
done
echo 0 >$trace/events/timer/hrtimer_start/enable
grep 'function=perf_swevent_hrtimer' $trace/trace >events
exec 5>&- 6<&-
wait
module_unload
awk '
	{
		match($0, /\[[0-9]+\]/)
		cpu = substr($0, RSTART, RLENGTH)
		match($0, / expires=[0-9]+/)
		at = substr($0, RSTART + 9, RLENGTH - 9)
		if (cpu in last) {
			period = at - last[cpu]
			if (period > 0 && period <= 2250000) {
				nr++
				sum += period
				bin[int((period - 1750000) / 500001 * 16)]++
				if (period < 1750000)
					low++
				if (cpu in before) {
					pairs++
					product += (period - 2e6) * (before[cpu] - 2e6)
				}
				before[cpu] = period
			} else {
				delete before[cpu]
			}
		}
		last[cpu] = at
	}
	# Squares, and no roots: variance of the uniform distribution is width^2 / 12.
	END {
		variance = 500001 * 500001 / 12
		for (i = 0; i < 16; i++)
			chi += (bin[i] - nr / 16) * (bin[i] - nr / 16) / (nr / 16)
		mean = (sum / nr - 2e6) * (sum / nr - 2e6) / (variance / nr)
		serial = product / pairs / variance
		serial = serial * serial * pairs
		printf "%d periods, %d too short, chi2(15) %.1f; squared, in sigma: mean %.1f, serial correlation %.1f\n",
			nr, low, chi, mean, serial
		exit !(nr > 1000 && !low && chi < 50 && mean < 25 && serial < 25)
	}' events || fail 'the periods are not uniform'
