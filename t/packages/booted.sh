#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# booted.sh - what the machine of t/0803 does; the service guest runs it
#
# The machine is booted twice; files in /srv tell the second boot what the first did.
. /srv/guest.sh

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
upgrade
first_install
restarts
too_new
killed
disk_full
page
web_confined
confined
ships
cpi flush
stored >stored
end GUEST-REBOOTS
systemctl reboot
