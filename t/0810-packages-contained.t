#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What the machine of t/0803 does, under systemd in a container and so in minutes: cpid samples
# through an upgrade from the previous version, restarts under load, SIGKILL, a full disk and a
# restart of the whole container, and every sample is accounted for. AppArmor and other kernels
# take t/0803. The container has PIDs of its own, which cpid refuses; t/initial_namespace.c
# hides that from it. $SUITE is the Debian release.
. "$srcdir/t/tap.sh"
. "$srcdir/t/packages/lib.sh"
. "$srcdir/t/packages/contain.sh"
[ "$(id -u)" -eq 0 ] || skip_all 'making a root file system takes root'
can_sample || skip_all 'sampling the whole system is not permitted here'
need mmdebstrap dpkg-scanpackages systemd-nspawn
suite=${SUITE:-$(host_suite)}
packages_build "$suite"
previous_build
bootable_root root booted.sh "$pod_packages"
pod_files root
cp -r "$previous" root/srv/previous
cp "$builddir/t/initial_namespace.so" root/srv/
[ -z "${PARTS:-}" ] || echo "$PARTS" >root/srv/parts
: >root/srv/results
mkdir root/etc/systemd/system/cpid.service.d
cat >root/etc/systemd/system/cpid.service.d/container.conf <<'END'
[Service]
Environment=LD_PRELOAD=/srv/initial_namespace.so
ExecStart=
ExecStart=/usr/sbin/cpid --collector=perf
END

# The database has a file system of its own, as on a careful server.
mkdir data
mount -t tmpfs -o size=64M,mode=755 none data || skip_all 'no file system can be mounted here'
contained_end()
{
	for pid in $tap_pids; do
		kill -KILL "$pid" 2>/dev/null
	done
	umount -l "$tmp/data"
	tap_end
}
trap contained_end EXIT

began=$(date +%s)
contain root --bind="$tmp/data:/var/lib/cpi"
restart=$?
[ $restart -ne 133 ] || contain root --bind="$tmp/data:/var/lib/cpi"
note "the container took $(($(date +%s) - began)) s"
grep -E '^(ok|not ok|#) ' root/srv/results
tap_n=$(grep -cE '^(ok|not ok) ' root/srv/results)
is $restart 133 'systemctl reboot asks for the container to be started again'
grep -q '^GUEST-DONE$' root/srv/results
ended=$?
[ $ended -eq 0 ] || sed 's/^/# console: /' console | tail -n 30
ok $ended 'the container came to its end'
plan $tap_n
