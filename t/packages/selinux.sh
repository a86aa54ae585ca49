#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# selinux.sh - what a machine does that was booted for t/0809; the service guest runs it
#
# The packages and the SELinux modules are installed; the kernel only reports what the policy
# denies. The second part of the work is done with the policy enforced.
. /srv/guest_lib.sh

# domain SERVICE: the type of the domain that its main process runs in.
domain()
{
	tr -d '\000' <"/proc/$(systemctl show -P MainPID "$1")/attr/current" | cut -d : -f 3
}

# denials: what the policy has denied to the services since the last mark, each kind once.
denials()
{
	dmesg | sed '1,/^.*GUEST-MARK '"$mark"'$/d' | grep 'avc:  denied' |
		grep -E 'context=[^ ]*:cpi(d|_web|_ship)[a-z_]*_t:' |
		sed -E 's/.*denied  (\{[^}]*\}).* comm="([^"]*)"(.* (name|path)="([^"]*)")?.*scontext=[^ ]*:([a-z_]*_t)(:[^ ]*)? tcontext=[^ ]*:([a-z_0-9]*_t)(:[^ ]*)? tclass=([a-z_0-9]*).*/\6 \8:\10 \1 (\2 \5)/' |
		sort | uniq -c | sort -rn
}

# mark NAME: denials are those from here on.
mark()
{
	mark=$1
	echo "GUEST-MARK $1" >/dev/kmsg
}

# work WHEN: each service does all that it is for.
work()
{
	mark "$1"
	systemctl restart cpid
	await 60 has_received 50
	ok $? "$1 cpid samples" || journalctl -q -u cpid -o cat -n 8 | sed 's/^/# cpid: /'
	await 60 has_load
	ok $? "$1 a report shows the load"
	[ "$(domain cpid)" = cpid_t ]
	ok $? "$1 cpid runs in its own domain" || note "$(cat "/proc/$(main_pid)/attr/current")"
	systemctl reload cpid
	ok $? "$1 cpid is reloaded"
	await 60 cpi flush
	await 60 sh -c 'cpi prof --epoch all --by procedure --format=csv | grep -q ",[a-z_]*,.*gzip"'
	ok $? "$1 procedures have names"
	systemctl stop cpi-web
	web '/api/v1/prof?epoch=all&by=unit' >report.out 2>&1
	grep -q load.service report.out
	ok $? "$1 cpi-web serves a report with the load" || {
		head -n 5 report.out | sed 's/^/# /'
		journalctl -q -u cpi-web -o cat -n 8 | sed 's/^/# cpi-web: /'
	}
	web '/metrics' | grep -q '^cpi_build_info'
	ok $? "$1 cpi-web serves metrics"
	[ "$(domain cpi-web)" = cpi_web_t ]
	ok $? "$1 cpi-web runs in its own domain" || note "$(domain cpi-web)"
	systemctl reload cpi-web
	ok $? "$1 cpi-web is reloaded"
	systemctl restart cpi-ship
	ok $? "$1 cpi-ship starts" || journalctl -q -u cpi-ship -o cat -n 8 | sed 's/^/# cpi-ship: /'
	await 60 grep -q '^cpi_ship_store_failing 1' /run/cpi-ship/metrics.prom
	ok $? "$1 cpi-ship says in its metrics that the store is away" ||
		journalctl -q -u cpi-ship -o cat -n 8 | sed 's/^/# cpi-ship: /'
	[ "$(domain cpi-ship)" = cpi_ship_t ]
	ok $? "$1 cpi-ship runs in its own domain" || note "$(domain cpi-ship)"
	systemctl reload cpi-ship
	ok $? "$1 cpi-ship is reloaded"
	try "$1 every sample of the daemon is somewhere, none is lost" accounted
	try "$1 the database is undamaged" cpi cat --check
	systemctl stop cpi-ship cpi-web
	ok $? "$1 cpi-ship and cpi-web end when asked"
	systemctl kill -s KILL cpid
	await 60 cpi status
	ok $? "$1 systemd starts cpid again after SIGKILL"
	denials >denied
	[ ! -s denied ]
	ok $? "$1 SELinux denies the services nothing" || sed 's/^/# /' denied
}

note "Linux $(uname -r), SELinux $(getenforce)"
sysctl -q kernel.printk_ratelimit=0
semodule -l | sed -n 's/^cpi/# module cpi/p'
mkdir -p /etc/cpi/cpi-ship.conf.d
printf '[cpi-ship]\nstore = clickhouse://127.0.0.1:9/cpi\n' >/etc/cpi/cpi-ship.conf.d/store.conf
systemctl enable --now cpi-web.socket 2>/dev/null
load_start
work 'permissive:'
setenforce 1
[ "$(getenforce)" = Enforcing ]
ok $? 'SELinux is enforced'
work 'enforced:'
mark 'foreign'
runcon -t cpi_web_t -r system_r -u system_u /bin/cat /etc/shadow >/dev/null 2>&1
ok $((! $?)) 'the domain of cpi-web does not read /etc/shadow'
end GUEST-DONE
systemctl poweroff
