#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Debian with systemd is booted under QEMU, and the packages are installed there: the service
# samples as a user of its own through an upgrade from the previous version, restarts under
# load, SIGKILL, a full disk, under AppArmor's profile and after a reboot. All samples are
# accounted for. t/packages/booted.sh is what the machine does. $SUITE and $MACHINE are the
# Debian release and its architecture. $PARTS are the parts of booted.sh to run between the
# installation and the reboot; without it all are run.
. "$srcdir/t/tap.sh"
. "$srcdir/t/packages/lib.sh"
[ "$(id -u)" -eq 0 ] || skip_all 'making a root file system takes root'
suite=${SUITE:-bookworm} machine=${MACHINE:-amd64}
. "$srcdir/t/packages/boot.sh"
need mmdebstrap $qemu mkfs.ext4 dpkg-scanpackages cpio depmod modprobe
packages_build "$suite" "$machine"
previous_build
bootable_root root booted.sh "$pod_packages"
pod_files root
kernel_fetch
[ -z "${PARTS:-}" ] || echo "$PARTS" >root/srv/parts
cp -r "$previous" root/srv/previous
# The database has a file system of its own, as on a careful server.
truncate -s 64M root/srv/data
mkfs.ext4 -q -F root/srv/data 2>/dev/null || bail 'mkfs.ext4 fails'
mkdir -p root/var/lib/cpi
cat >root/etc/fstab <<'END'
/dev/vda / ext4 rw 0 1
/srv/data /var/lib/cpi ext4 loop,nofail 0 0
END
preinstall root
make_disk root
accelerator kernel
note "QEMU with $accelerator"

began=$(date +%s)
boot 7200
note "the first boot took $(($(date +%s) - began)) s"
if grep -q '^GUEST-REBOOTS$' results; then
	boot 3600
	note "both boots took $(($(date +%s) - began)) s"
fi
grep -E '^(ok|not ok|#) ' results
nr=$(grep -cE '^(ok|not ok) ' results)
tap_n=$nr
grep -q '^GUEST-DONE$' results
guest=$?
[ $guest -eq 0 ] || sed 's/^/# console: /' console | tail -n 30
ok $guest 'the machine came to its end'
last=$(sed -n -E 's/^(not )?ok ([0-9]+) .*/\2/p' results | tail -n 1)
is "$nr" "$last" 'each result has a line of its own'
is "$(grep -aE 'BUG|WARNING: CPU|Oops|soft lockup' console)" '' 'the kernel did not complain'
plan $((nr + 3))
