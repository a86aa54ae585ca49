# SPDX-License-Identifier: GPL-2.0-or-later
# tap.sh - every TAP script begins with: . "$srcdir/t/tap.sh"
#
# Each script runs in a directory of its own, $tmp, which goes away at its end;
# processes listed in $tap_pids are killed by then. $srcdir and $builddir are
# absolute and come from the Makefile.

set -u

# A shell cannot trap a signal that was ignored when it started, as SIGHUP is under nohup.
if [ -z "${CPI_TEST_SIGNALS:-}" ] && env --default-signal=HUP true 2>/dev/null; then
	CPI_TEST_SIGNALS=default
	export CPI_TEST_SIGNALS
	exec env --default-signal=HUP,INT,QUIT,PIPE,TERM "$0" "$@"
fi

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
# What takes long to make is kept; else there is no file of another run.
: "${CPI_TEST_CACHE:=${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}}"
XDG_CACHE_HOME=$tmp
export CPI_TEST_CACHE XDG_CACHE_HOME

# plan N: N tests follow.
plan()
{
	tap_planned=yes
	echo "1..$1"
}

# skip_all REASON: skips the script, because the machine lacks something. After plan this
# is a failure.
skip_all()
{
	[ -z "$tap_planned" ] || bail "$1"
	echo "1..0 # SKIP $1"
	exit 0
}

# need COMMAND...: skips the script if a command is missing.
need()
{
	for need_command; do
		command -v "$need_command" >/dev/null || skip_all "$need_command is missing"
	done
}

# bail REASON: ends the script with a failure.
bail()
{
	echo "Bail out! $1"
	exit 1
}

# note TEXT...: adds a comment to the log.
note()
{
	printf '# %s\n' "$@"
}

# ok STATUS NAME: passes when STATUS is 0.
ok()
{
	tap_n=$((tap_n + 1))
	if [ "$1" -eq 0 ]; then
		printf 'ok %s - %s\n' "$tap_n" "$2"
	else
		printf 'not ok %s - %s\n' "$tap_n" "$2"
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

# accepts NAME COMMAND...: passes when the command succeeds and prints nothing.
accepts()
{
	tap_name=$1
	shift
	"$@" >"$tmp/tap.out" 2>&1
	is "$? $(cat "$tmp/tap.out")" "0 " "$tap_name"
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
		printf '%s\n' "got:" "$1" "no line matches: $2" | sed 's/^/# /'
	fi
}

# unlike TEXT PATTERN NAME: passes when no line of TEXT matches.
unlike()
{
	if printf '%s\n' "$1" | grep -q -e "$2"; then
		ok 1 "$3"
		printf '%s\n' "got:" "$1" "a line matches: $2" | sed 's/^/# /'
	else
		ok 0 "$3"
	fi
}

# bad PATTERN NAME COMMAND...: a command is refused; "status N: " and what it prints match, on
# one line.
bad()
{
	tap_pattern=$1 tap_bad=$2
	shift 2
	"$@" >out 2>&1
	like "status $?: $(paste -s out)" "$tap_pattern" "$tap_bad"
}

# bound VALUE RELATION LIMIT NAME: passes when VALUE is <=, >= or > LIMIT.
bound()
{
	note "$4: $1, wanted $2 $3"
	awk -v value="$1" -v relation="$2" -v limit="$3" 'BEGIN {
		if (value !~ /^[-+]?[0-9.]+(e[-+]?[0-9]+)?$/)
			exit 1
		value += 0
		limit += 0
		if (relation == "<=")
			exit !(value <= limit)
		exit !(relation == ">=" ? (value >= limit) : (value > limit))
	}'
	ok $? "$4"
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

# within SECONDS COMMAND...: repeats the command until it succeeds; fails when the time is
# over.
within()
{
	within_end=$(($(date +%s) + $1))
	shift
	until "$@"; do
		[ "$(date +%s)" -lt $within_end ] || return 1
		sleep 0.2
	done
}

# await COMMAND...: the same for what must come, however busy the machine is. Only a failure
# takes long.
await()
{
	within 150 "$@"
}

# as_nobody COMMAND...: runs it as another user without privileges. Needs root.
as_nobody()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"
}

# can_sample: whether the whole system may be sampled here.
can_sample()
{
	"$builddir/t/cpid_peer" can-sample
}

# need_record: skips the script where cpi record cannot sample a command of this user.
# Sets $paranoid.
need_record()
{
	[ -r /proc/sys/kernel/perf_event_paranoid ] || skip_all 'the kernel has no perf events'
	paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
	[ "$(id -u)" -eq 0 ] || [ "$paranoid" -le 2 ] ||
		skip_all "kernel.perf_event_paranoid is $paranoid and this is not root"
}
