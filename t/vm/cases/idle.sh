# SPDX-License-Identifier: GPL-2.0-or-later
# needs: bpf
# long: yes
# limit: 590
# icount: yes
# cpus: 1
# An idle machine is left alone: with its defaults, cpid and its helpers together are woken
# at most once a second. Time passes by instructions, 2 ns each, so that the host's load
# changes nothing; CPU time is said in these, because a real machine needs less or more.
. /cpi/case.sh

# snap: of each thread of cpid and its helpers: id, name, sleeps, CPU time in ns. It uses
# what is built into the shell, because a new program would keep cpid busy.
snap()
{
	for process in /proc/[0-9]*; do
		read -r name 2>/dev/null <"$process/comm" || continue
		case $name in
		cpi*) ;;
		*) continue ;;
		esac
		for thread in "$process"/task/*; do
			read -r ns _ <"$thread/schedstat"
			while read -r key value; do
				[ "$key" != voluntary_ctxt_switches: ] || sleeps=$value
			done <"$thread/status"
			echo "${thread##*/} $name $sleeps $ns"
		done
	done
}

# watch [OPTION...]: prints what each thread does in two minutes, and checks the sum.
watch()
{
	cpid --db t.db --socket t.sock --log t.log "$@" >/dev/null &
	pid=$!
	tap_pids="$tap_pids $pid"
	sleep 40
	cpi status --socket t.sock --db t.db | grep '^rate' || fail 'cpid does not answer'
	sleep 60
	snap >before # whose code is new
	sleep 100
	snap >before
	sleep 120
	snap >after
	awk 'NR == FNR { sleeps[$1] = $3; ns[$1] = $4; next }
		{
			printf "%s %s: %d wakes, %.1f million instructions\n", $2, $1, \
				$3 - sleeps[$1], ($4 - ns[$1]) / 2e6
			all += $3 - sleeps[$1]
		}
		END { print "wakes", all }' before after | tee figures
	check_that "two idle minutes with '$*', wakes" "$(sed -n 's/^wakes //p' figures) <= 120"
	kill -TERM "$pid"
	wait "$pid" || fail "cpid ends with $?"
	rm t.db*
}

echo 2 >/proc/sys/kernel/perf_event_paranoid # as Debian's package sets it
watch
