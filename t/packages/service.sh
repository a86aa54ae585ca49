#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# service.sh - what the container of t/0809 does; its service guest runs it
. /srv/guest.sh

says_why()
{
	journalctl -q -u cpid -o cat | grep -q 'initial PID namespace'
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
try 'apt purge' apt-get -qy purge cpid cpi-web cpi
nothing_stays
end GUEST-DONE
systemctl poweroff
