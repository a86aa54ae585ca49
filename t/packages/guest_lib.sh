# SPDX-License-Identifier: GPL-2.0-or-later
# guest_lib.sh - what booted machines say and ask; read first, in /srv
#
# Results are TAP lines on the second serial line, or on arm64 the virtual console.

set -u
LC_ALL=C DEBIAN_FRONTEND=noninteractive
HOME=/root
export LC_ALL DEBIAN_FRONTEND HOME
if [ -c /dev/ttyAMA0 ]; then
	exec >/dev/hvc0 2>&1
else
	exec >/dev/ttyS1 2>&1
fi
cd /srv || exit 1
tap_n=$(cat tap_n 2>/dev/null || echo 0)

note()
{
	printf '# %s\n' "$*"
}

ok()
{
	tap_n=$((tap_n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_n - $2"
	else
		echo "not ok $tap_n - $2"
		return 1
	fi
}

skip()
{
	tap_n=$((tap_n + 1))
	echo "ok $tap_n # SKIP $1"
}

# try NAME COMMAND...
try()
{
	try_name=$1
	shift
	if "$@" >try.out 2>&1; then
		ok 0 "$try_name"
	else
		ok 1 "$try_name"
		sed 's/^/# /' try.out | tail -n 15
		journalctl -q -u cpid -o cat -n 8 | sed 's/^/# cpid: /'
	fi
}

# await SECONDS COMMAND...: repeats the command until it succeeds; an emulated machine, on
# a busy host, gets ten times as long.
await()
{
	await_end=$(($(date +%s) + 10 * $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$(date +%s)" -lt $await_end ] || return 1
		sleep 0.3
	done
}

main_pid()
{
	systemctl show -P MainPID cpid
}

received()
{
	cpi status --all 2>/dev/null | awk '/^received[.]/ { n += $2 } END { print n + 0 }'
}

has_received()
{
	[ "$(received)" -ge "$1" ]
}

# Every sample of this daemon's is somewhere. An answer is one moment's.
accounted()
{
	cpi status --all | awk '/^database/ { exit }
		$1 ~ /^received[.]/ { n += $2; all += $2 }
		$1 ~ /^(stored|unknown|lost)[.]/ || $1 == "pending_samples" { n -= $2 }
		$1 ~ /^lost[.]/ { lost += $2 }
		END { print all, "received", n, "unaccounted for", lost + 0, "lost"
			exit !(all > 0 && n == 0 && lost == 0) }'
}

# whole NAME: after a flush.
whole()
{
	try "$1: a flush is stored" cpi flush
	try "$1: every sample of the daemon is somewhere, none is lost" accounted
	try "$1: the database is undamaged" cpi cat --check
}

load_start()
{
	systemd-run -q --unit=load sh -c 'while :; do gzip -9 </usr/bin/perl >/dev/null; done'
}

has_load()
{
	cpi flush && cpi prof --epoch all --by unit --format=csv | grep -q load.service
}

# web PATH: the status line and the body of an answer.
web()
{
	perl -MIO::Socket::UNIX -e '
		my $s = IO::Socket::UNIX->new(Peer => "/run/cpi/web.sock") or die "$!";
		print $s "GET $ARGV[0] HTTP/1.0\r\nHost: localhost\r\n\r\n";
		$s->flush; print while <$s>' "$1"
}

# end WORD: what the host waits for.
end()
{
	echo "$tap_n" >tap_n
	echo "$1"
	sync
}
