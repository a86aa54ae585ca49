#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# service.sh - what the container of t/0809 does; its service guest runs it
. /srv/guest.sh

says_why()
{
	journalctl -q -u cpid -o cat | grep -q 'initial PID namespace'
}

has_name()
{
	journalctl -q -u cpi-containers -o cat | grep -q "^$id web$"
}

# cpi-containers has to be enabled, and reads Podman's file in its sandbox.
names()
{
	[ "$(systemctl is-enabled cpi-containers) $(systemctl is-active cpi-containers)" = 'disabled inactive' ]
	ok $? 'cpi-containers does not start by itself'
	id=$(printf '%064d' 7)
	storage=/var/lib/containers/storage/overlay-containers
	mkdir -p $storage /run/systemd/system/cpi-containers.service.d
	chmod 700 /var/lib/containers/storage
	printf '[{"id":"%s","names":["web"]}]' "$id" >$storage/containers.json
	printf '[Service]\nExecStart=\nExecStart=/usr/libexec/cpi/cpi-containers --list\n' \
		>/run/systemd/system/cpi-containers.service.d/list.conf
	systemctl daemon-reload
	systemctl start cpi-containers
	await 30 has_name
	ok $? 'in its sandbox it has the names' || journalctl -q -u cpi-containers -o cat | sed 's/^/# /'
	rm -r /run/systemd/system/cpi-containers.service.d
	systemctl daemon-reload
	try 'systemctl enable --now cpi-containers' systemctl enable --now cpi-containers
	try 'systemd-analyze security: at most 1.5' systemd-analyze security --threshold=15 cpi-containers
	rm -r /var/lib/containers
}

note "Linux $(uname -r), $(systemctl --version | head -n 1)"
try 'apt reads the packages' apt-get -q update
try 'apt install' apt-get -qy install cpi cpid cpi-web
await 60 says_why
ok $? 'cpid says that it cannot sample a machine from its container'
cpi doctor >doctor.out
[ $? -eq 1 ] && grep -q '^fatal  *container' doctor.out
ok $? 'cpi doctor says so' || sed 's/^/# /' doctor.out
systemctl stop cpid
try 'systemctl enable --now cpi-web.socket' systemctl enable --now cpi-web.socket
web / >page.out 2>&1
head -n 1 page.out | grep -q ' 200 '
ok $? 'the socket serves the page' || head -n 3 page.out | sed 's/^/# /'
reloads cpi-web patience 77
ships
names
try 'apt purge' apt-get -qy purge cpid cpi-web cpi
nothing_stays
end GUEST-DONE
systemctl poweroff
