#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Debian with SELinux is booted under QEMU: cpid, cpi-web and cpi-ship do their work in
# domains of their own, which the policy enforces, and it denies them nothing.
# t/packages/selinux.sh is what the machine does.
. "$srcdir/t/tap.sh"
. "$srcdir/t/packages/lib.sh"
[ "$(id -u)" -eq 0 ] || skip_all 'making a root file system takes root'
suite=bookworm machine=amd64
. "$srcdir/t/packages/boot.sh"
need mmdebstrap $qemu mkfs.ext4 dpkg-scanpackages unshare checkmodule semodule_package
packages_build "$suite" "$machine"
root_archive selinux systemd-sysv,udev,dbus,linux-image-cloud-amd64,initramfs-tools,zstd,procps,kmod,selinux-policy-default,policycoreutils,selinux-utils

unpack_root root
repository root
guest_files root selinux.sh
for module in cpid cpi_web cpi_ship; do
	checkmodule -M -m -o "$module.mod" "$srcdir/deploy/selinux/$module.te" >checkmodule.out 2>&1 &&
		semodule_package -o "root/srv/$module.pp" -m "$module.mod" \
			-f "$srcdir/deploy/selinux/$module.fc" || bail "$(tail -n 3 checkmodule.out)"
done
# Labels are set before the first boot, since systemd's own domain depends on them.
unshare --mount sh -c 'mount -t proc proc root/proc && chroot root sh -ec "
	export DEBIAN_FRONTEND=noninteractive
	apt-get -q update
	apt-get -qy install cpi cpid cpi-web cpi-ship
	sed -i s/^SELINUX=.*/SELINUX=permissive/ /etc/selinux/config
	semodule -n -i /srv/cpid.pp /srv/cpi_web.pp /srv/cpi_ship.pp
	setfiles -F -e /proc -e /sys -e /dev /etc/selinux/default/contexts/files/file_contexts /"' \
	>install.log 2>&1 || bail "$(tail -n 5 install.log)"
make_disk root
accelerator kernel
note "QEMU with $accelerator"
boot 3600 'security=selinux selinux=1 enforcing=0 audit=1 log_buf_len=4M'
results_end
