#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The units of the packages under Debian's systemd, in a container: cpi-web and cpi-ship start
# in their sandboxes, take new settings, go on after an upgrade, and leave nothing behind. It
# shows in a minute what t/0803 shows on a machine, but for cpid's sampling.
# t/packages/service.sh is what the container does.
. "$srcdir/t/tap.sh"
. "$srcdir/t/packages/lib.sh"
. "$srcdir/t/packages/contain.sh"
[ "$(id -u)" -eq 0 ] || skip_all 'making a root file system takes root'
need mmdebstrap dpkg-scanpackages systemd-nspawn
packages_build
bootable_root root service.sh
: >root/srv/results
contain root
grep -E '^(ok|not ok|#) ' root/srv/results
tap_n=$(grep -cE '^(ok|not ok) ' root/srv/results)
grep -q '^GUEST-DONE$' root/srv/results
ok $? 'the container came to its end'
plan $tap_n
