# SPDX-License-Identifier: GPL-2.0-or-later
# case.sh - what every case begins with: . /cpi/case.sh
#
# A case passes with exit status 0, is skipped with 77 (its last line says why)
# and fails with any other. It runs as root in a directory of its own.

set -u
srcdir=/cpi builddir=/cpi
export srcdir builddir
tap_pids=

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
		usleep 20000
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

# samples BY NAME [OPTION...]: samples of the row with that name.
samples()
{
	samples_by=$1 samples_name=$2
	shift 2
	cpi prof --db t.db --by "$samples_by" --idle --format csv "$@" |
		awk -F , -v by="$samples_by" -v name="$samples_name" '
		NR == 1 {
			for (i = 1; i <= NF; i++)
				column[$i] = i
			next
		}
		$column[by] == name { n += $1 }
		END { printf "%d\n", n }'
}
