# SPDX-License-Identifier: GPL-2.0-or-later
# tap.sh - the Test Anything Protocol for the tests t/NNNN-*.t
#
#	. "${srcdir:-.}/t/tap.sh"
#	plan 2
#	ok 'the program runs' cpi help
#	is 'it adds' "$((1 + 1))" 2
#
# A test runs in a directory of its own, which is removed at the end; what it
# started in the background and listed in $tap_pids is killed by then.

tap_nr=0
tap_pids=
tap_home=$PWD
tap_dir=$(mktemp -d "${TMPDIR:-/tmp}/cpi-test.XXXXXX") || exit 99
cd "$tap_dir" || exit 99

tap_end() {
	for tap_pid in $tap_pids; do
		kill -KILL "$tap_pid" 2>/dev/null
	done
	cd "$tap_home" && rm -rf "$tap_dir"
}
trap tap_end EXIT
trap 'exit 1' HUP INT TERM

# plan N: so many tests follow.
plan() {
	echo "1..$1"
}

tap_result() { # "ok" or "not ok", description
	tap_nr=$((tap_nr + 1))
	echo "$1 $tap_nr - $2"
}

# ok DESCRIPTION COMMAND...: passes when the command succeeds.
ok() {
	tap_text=$1
	shift
	if "$@" >tap.out 2>&1; then
		tap_result ok "$tap_text"
	else
		tap_result 'not ok' "$tap_text"
		echo "# failed: $*"
		sed 's/^/# /' tap.out
	fi
}

# is DESCRIPTION GOT WANTED: passes when both are the same text.
is() {
	if [ "$2" = "$3" ]; then
		tap_result ok "$1"
	else
		tap_result 'not ok' "$1"
		printf '%s\n' "got:" "$2" "wanted:" "$3" | sed 's/^/# /'
	fi
}

# skip DESCRIPTION REASON: one test that cannot be made here.
skip() {
	tap_result ok "$1 # SKIP $2"
}

# skip_all REASON: instead of a plan.
skip_all() {
	echo "1..0 # SKIP $1"
	exit 0
}

# bail REASON: nothing that follows would make sense.
bail() {
	echo "Bail out! $1"
	exit 1
}
