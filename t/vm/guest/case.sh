# SPDX-License-Identifier: GPL-2.0-or-later
# case.sh - what every case begins with: . /cpi/case.sh
#
# A case passes with exit status 0, is skipped with 77 (its last line says why)
# and fails with any other. It runs as root in a directory of its own.

set -u
srcdir=/cpi builddir=/cpi
export srcdir builddir
tap_pids=

# The shell prefers its own, which has neither powers nor roots.
awk()
{
	mawk "$@"
}

fail()
{
	echo "failed: $*"
	[ ! -e t.log ] || sed 's/^/cpid: /' t.log
	kill_all
	exit 1
}

skip_all()
{
	kill_all
	echo "$*"
	exit 77
}

kill_all()
{
	for pid in $tap_pids; do
		kill -KILL "$pid" 2>/dev/null
	done
}

# check NAME COMMAND...: fails unless the command succeeds.
check()
{
	check_name=$1
	shift
	"$@" || fail "$check_name: $*"
}

# check_that NAME EXPRESSION: an arithmetic one, of awk's.
check_that()
{
	echo "$1: $2"
	awk "BEGIN { exit !($2) }" || fail "$1: $2"
}

# The machine is the test's own: what cannot be sampled there is a failure, no reason to skip.
can_sample()
{
	true
}

. /cpi/t/cpid.sh

# cpid_stop: in good order.
cpid_stop()
{
	cpid_ask quit >/dev/null || fail 'cpid does not answer'
	cpid_wait
	[ "$cpid_status" = 0 ] || fail "cpid exits with $cpid_status"
}

# await COMMAND...: until it succeeds; the harness's own time limit ends it.
await()
{
	until "$@"; do
		usleep 100000
	done
}

# Says the sum of the status' lines that begin so.
status_sum()
{
	awk -v prefix="$1" 'index($1, prefix) == 1 { n += $2 } END { printf "%d\n", n }' status
}

# check_accounting: every sample that was received is somewhere.
check_accounting()
{
	cpid_ask status >status || fail 'cpid does not answer'
	received=$(status_sum received.)
	kept=$(($(status_sum stored.) + $(status_sum unknown.) + $(status_sum lost.) +
		$(status_sum pending_samples)))
	check_that 'every sample is somewhere' "$received == $kept && $received > 0"
	check_that 'no sample is lost' "$(status_sum lost.) == 0"
}

# await_samples N: until cpid has received so many.
has_samples()
{
	cpid_ask status >status && [ "$(status_sum received.)" -ge "$1" ]
}

await_samples()
{
	await has_samples "$1"
}

# split_start [COMMAND...]: t/programs/split, under a command, is running.
split_start()
{
	mkfifo split.fifo
	"$@" /cpi/t/programs/split >split.fifo &
	split_pid=$!
	tap_pids="$tap_pids $split_pid"
	exec 4<split.fifo
	read -r _ <&4
}

# split_stop: sets $three and $one, the ms that its procedures took, and $share.
split_stop()
{
	kill -TERM "$split_pid"
	read -r three one share <&4
	exec 4<&-
	rm split.fifo
	wait "$split_pid"
}

# check_share: what cpid saw of split is what split measured, within 4 sigma and 2 %;
# by the medians of its calls, as an emulated machine stands still while its host's does.
check_share()
{
	a=$(samples procedure split_three "$@") b=$(samples procedure split_one "$@")
	echo "split: $a and $b samples, $three and $one ms, $share"
	check_that 'the procedures have their shares' "($a / ($a + $b) - $share) ^ 2 < (4 * sqrt(0.1875 / ($a + $b)) + 0.02) ^ 2"
}

# profile BY [OPTION...]: samples and name of each row.
profile()
{
	profile_by=$1
	shift
	cpi prof --db t.db --by "$profile_by" --idle --format csv "$@" |
		awk -F , -v by="$profile_by" '
		NR == 1 {
			for (i = 1; i <= NF; i++)
				column[$i] = i
			next
		}
		{ print $1 "\t" $column[by] }'
}

# samples BY NAME [OPTION...]: samples of the row with that name.
samples()
{
	samples_by=$1 samples_name=$2
	shift 2
	profile "$samples_by" "$@" | awk -F '\t' -v name="$samples_name" '
		$2 == name { n += $1 }
		END { printf "%d\n", n }'
}

# run_test SCRIPT: one of the project's own, which needs the better awk, too.
run_test()
{
	(. "/cpi/t/$1") >"$1.out" 2>&1
	sed "s/^/$1: /" "$1.out"
	! grep -q '^not ok\|^Bail out' "$1.out" || fail "$1"
	awk '/^1[.][.]/ { plan = substr($1, 4) } /^ok / { n++ }
		END { exit !(plan != "" && n == plan) }' "$1.out" || fail "$1: is cut short"
}

# module_load [FILE]: cpi.ko, or another that makes /dev/cpi, in place of any other.
module_load()
{
	for module in cpi cpi_nmi; do
		! grep -q "^$module " /proc/modules || rmmod "$module"
	done
	check 'the module loads' insmod "${1:-/cpi.ko}"
}

module_unload()
{
	check 'the module goes' rmmod "${1:-cpi}"
}

# kernel_memory: kB that the kernel cannot give back: slabs and mappings of its own.
kernel_memory()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
	awk '/^(SUnreclaim|VmallocUsed):/ { n += $2 } END { print n }' /proc/meminfo
}

# procedures WHERE BASE: for each offset in the file offsets, which cpi cat made, a
# line "OFFSET PROCEDURE SAMPLES", as this boot's kallsyms has them, from BASE on.
# WHERE is "[MODULE]", or "" for the kernel itself.
procedures()
{
	awk -F '[ ,\t]' -v where="$1" -v base="$2" '
		function number(hex,  i, n) {
			sub(/^0x/, "", hex)
			hex = substr(hex, length(hex) - 11) # exact as a double
			for (i = 1; i <= length(hex); i++)
				n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
			return n
		}
		FILENAME == "/proc/kallsyms" {
			if ($4 == where && $2 ~ /[tTwW]/ && $3 !~ /^[$]/)
				at[number($1) - number(base)] = $3
			next
		}
		FNR > 1 {
			for (offset = number($8); offset >= 0 && !(offset in at); offset--)
				;
			print $8, at[offset], $9
		}' /proc/kallsyms offsets
}
