#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# member.sh - what each container of t/0812 does: the commands of doc/fleet.md. The first one
# also makes the store. store.sh and machine.sh in /srv have the commands.
. /srv/guest.sh

note "Linux $(uname -r), $(systemctl --version | head -n 1)"
try 'apt reads the packages' apt-get -q update
if [ -e store.sh ]; then
	try 'the commands for the store succeed' sh -e store.sh
fi
try 'the commands for a machine succeed' sh -e machine.sh
sed 's/^/# /' try.out | tail -n 3
is_up()
{
	[ "$(systemctl is-active cpid cpi-ship | paste -s)" = 'active	active' ] &&
		[ "$(systemctl is-enabled cpid cpi-ship | paste -s)" = 'enabled	enabled' ]
}
await 10 is_up
ok $? 'cpid and cpi-ship run, also after a reboot' || systemctl status cpid cpi-ship | sed 's/^/# /'

lists()
{
	cpi fleet hosts --db clickhouse://store:8123/cpi --format=csv >hosts.out &&
		[ "$(tail -n +2 hosts.out | cut -d , -f 1 | sort | paste -s -d ' ')" = 'machine1 machine2 machine3' ]
}
if [ -e store.sh ]; then
	await 180 lists
	ok $? 'cpi fleet hosts lists three machines' || sed 's/^/# /' hosts.out
	cpi fleet top --limit 3 --db clickhouse://store:8123/cpi | sed 's/^/# /'
	pid=$(systemctl show -P MainPID cpi-ship)
	try 'a machine joins again' cpi fleet join --db clickhouse://store:8123/cpi
	[ "$(systemctl show -P MainPID cpi-ship)" = "$pid" ]
	ok $? 'it only reads its files again'
	systemctl stop cpi-ship
	mv /usr/sbin/cpi-ship /usr/sbin/gone
	cpi fleet join --db clickhouse://store:8123/cpi >join.out 2>&1
	[ $? -eq 1 ] && grep -q "cpi-ship does not start: 'systemctl status cpi-ship'" join.out
	ok $? 'a service that does not start is reported' || sed 's/^/# /' join.out
fi
end GUEST-DONE
until [ -e stop ]; do
	sleep 0.5
done
systemctl poweroff
