#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# booted.sh - what the machine of t/0803 does; the service guest runs it
#
# The machine is booted twice; files in /srv tell the second boot what the first did.
. /srv/guest.sh

# part NAME: runs it, unless /srv/parts lists others alone.
part()
{
	if [ ! -e parts ] || grep -qwe "$1" parts; then
		part_began=$(now)
		"$1"
		note "$1: $(seconds "$part_began") s"
	fi
}

if [ -e stored ]; then
	rebooted
	purged
	end GUEST-DONE
	systemctl poweroff
	exit
fi
note "Linux $(uname -r), $(systemctl --version | head -n 1)"
try 'apt reads the packages' apt-get -q update
load_start
part upgrade
first_install
# The parts that ask the page, if the one that enables it is left out.
if [ -e parts ] && ! grep -qwe page parts; then
	try 'the page is enabled' systemctl -q enable --now cpi-web.socket
fi
part restarts
part too_new
part killed
part disk_full
part page
part web_confined
part confined
part ships
part pods
cpi flush
stored >stored
end GUEST-REBOOTS
systemctl reboot
