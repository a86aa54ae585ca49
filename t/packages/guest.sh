#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - what a machine does that was booted for t/0803; the service guest runs it
#
# The packages are in /srv/repo, which is all that apt knows. Results are TAP lines on the
# second serial line.
set -u
LC_ALL=C DEBIAN_FRONTEND=noninteractive
HOME=/root
export LC_ALL DEBIAN_FRONTEND HOME
exec >/dev/ttyS1 2>&1
tap_n=0
cd /srv || exit 1

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
	fi
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

# seconds SINCE: since that time of /proc/uptime.
seconds()
{
	awk -v since="$1" '{ printf "%.1f\n", $1 - since }' /proc/uptime
}

now()
{
	cut -d ' ' -f 1 /proc/uptime
}

first_install()
{
	try 'apt reads the packages' apt-get -q update
	load_start
	began=$(now)
	try 'apt install' apt-get -qy install cpi cpid
	await 60 has_load
	ok $? 'a report shows the load by its unit'
	note "from apt install to the first report: $(seconds "$began") s"
	cpi prof --epoch all --limit 5 | sed 's/^/# /'
	try 'the service is enabled' systemctl is-enabled cpid
	try 'systemctl enable --now cpid' systemctl enable --now cpid
	is_user=$(ps -o user= -p "$(main_pid)")
	[ "$is_user" = cpi ]
	ok $? 'the daemon runs as its own user'
	note "capabilities: $(sed -n 's/^CapPrm:\t*//p' "/proc/$(main_pid)/status")"
	# What is mounted after the start, is it seen?
	mount -t tmpfs none /mnt
	cp /usr/bin/sha256sum /mnt/later
	head -c 1500000000 /dev/zero | /mnt/later >/dev/null
	cpi flush
	try 'a program on a later mount has its name' \
		sh -c 'cpi prof --epoch all --by image --format=csv | grep -q /mnt/later'
	note "$(systemd-analyze security cpid 2>&1 | tail -n 1)"
	try 'systemd-analyze security: at most 2.5' \
		systemd-analyze security --threshold=25 cpid
	whole 'after the installation'
}

restarts()
{
	for round in 1 2 3; do
		await 60 has_received 50
		systemctl restart cpid || break
	done
	ok $? 'three restarts under load succeed'
	await 60 has_received 50
	try 'the service is active after them' systemctl is-active cpid
	whole 'after three restarts'
}

note "Linux $(uname -r), $(systemctl --version | head -n 1)"
first_install
restarts
systemctl stop load
echo 'GUEST-DONE'
sync
systemctl poweroff
