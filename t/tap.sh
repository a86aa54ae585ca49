# SPDX-License-Identifier: GPL-2.0-or-later
# tap.sh - what every TAP script begins with: . "$srcdir/t/tap.sh"
#
# Each script runs in a directory of its own, $tmp, which goes away at its end;
# processes listed in $tap_pids are killed by then. $srcdir and $builddir are
# absolute and come from the Makefile.

set -u
LC_ALL=C
export LC_ALL
unset CPI_DB CPI_SOCKET
: "${srcdir:?run me with make check}" "${builddir:?run me with make check}"

tap_n=0
tap_pids=
tap_planned=
tmp=$(mktemp -d "${TMPDIR:-/tmp}/cpi-t.XXXXXX") || exit 1

tap_end()
{
	for tap_pid in $tap_pids; do
		kill -KILL "$tap_pid" 2>/dev/null
	done
	cd / && rm -rf "$tmp"
}
trap tap_end EXIT
trap 'exit 1' HUP INT TERM
cd "$tmp" || exit 1

# plan N: how many tests follow.
plan()
{
	tap_planned=yes
	echo "1..$1"
}

# skip_all REASON: the machine lacks what this script needs. It had that when tests were
# planned.
skip_all()
{
	[ -z "$tap_planned" ] || bail "$1"
	echo "1..0 # SKIP $1"
	exit 0
}

# bail REASON: no test can be run, which is a failure.
bail()
{
	echo "Bail out! $1"
	exit 1
}

# ok STATUS NAME: passes when STATUS is 0.
ok()
{
	tap_n=$((tap_n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_n - $2"
	else
		echo "not ok $tap_n - $2"
	fi
}

# try NAME COMMAND...: passes when the command succeeds.
try()
{
	tap_name=$1
	shift
	if "$@" >"$tmp/tap.out" 2>&1; then
		ok 0 "$tap_name"
	else
		ok 1 "$tap_name"
		echo "# failed: $*"
		sed 's/^/# /' "$tmp/tap.out"
	fi
}

# is GOT WANTED NAME: passes when both are the same text.
is()
{
	if [ "$1" = "$2" ]; then
		ok 0 "$3"
	else
		ok 1 "$3"
		printf '%s\n' "got:" "$1" "wanted:" "$2" | sed 's/^/# /'
	fi
}

# like TEXT PATTERN NAME: passes when a line of TEXT matches the basic regex.
like()
{
	if printf '%s\n' "$1" | grep -q -e "$2"; then
		ok 0 "$3"
	else
		ok 1 "$3"
		printf '%s\n' "got:" "$1" "which has no: $2" | sed 's/^/# /'
	fi
}

# unlike TEXT PATTERN NAME: passes when no line of TEXT matches.
unlike()
{
	if printf '%s\n' "$1" | grep -q -e "$2"; then
		ok 1 "$3"
		printf '%s\n' "got:" "$1" "which has: $2" | sed 's/^/# /'
	else
		ok 0 "$3"
	fi
}

# skip N REASON: counts N tests as skipped.
skip()
{
	tap_i=0
	while [ $tap_i -lt "$1" ]; do
		tap_i=$((tap_i + 1))
		tap_n=$((tap_n + 1))
		echo "ok $tap_n # SKIP $2"
	done
}
