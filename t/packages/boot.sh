# SPDX-License-Identifier: GPL-2.0-or-later
# boot.sh - a disk with a root file system, and QEMU; after lib.sh
#
# By KVM where it works; else the machine is emulated, which takes ten times as long.
# $machine is amd64 or arm64.

case ${machine:=amd64} in
amd64) qemu=qemu-system-x86_64 console=ttyS0 ;;
arm64) qemu=qemu-system-aarch64 console=ttyAMA0 ;;
esac

# accelerator KERNEL: sets $accelerator, QEMU's options. KVM counts as there when the
# kernel says its first word by it.
accelerator()
{
	if [ "$machine" = arm64 ]; then
		# It has one serial line, so results go over another console.
		accelerator='-machine virt -accel tcg,thread=multi -cpu cortex-a72
			-device virtio-serial-pci -device virtconsole,chardev=results'
		return
	fi
	for accelerator in '-accel kvm -cpu host' '-accel kvm -cpu host,-arch-capabilities'; do
		[ -w /dev/kvm ] || {
			accelerator=
			break
		}
		# shellcheck disable=SC2086 # a list of words
		timeout 20 qemu-system-x86_64 $accelerator -machine q35 -m 256 -nodefaults \
			-display none -no-reboot -serial stdio -kernel "$1" \
			-append 'earlyprintk=ttyS0 console=ttyS0 panic=-1' </dev/null 2>&1 |
			grep -qa 'Linux version' && break
		accelerator=
	done
	: "${accelerator:=-accel tcg,thread=multi -cpu qemu64,-cx16}"
	accelerator="-machine q35 $accelerator -device isa-serial,chardev=results"
}

# make_initrd ROOT: $tmp/initrd, which loads the modules for the disk and starts systemd.
make_initrd()
{
	mkdir -p initramfs/bin initramfs/dev initramfs/new initramfs/modules
	cp "$1/bin/busybox" initramfs/bin/busybox || bail 'the root file system has no busybox'
	nr_modules=100
	for file in $(modprobe -d "$kernel" -S "$(ls "$kernel/lib/modules")" -a --show-depends \
		crc32c_generic virtio_pci virtio_blk ext4 | sed -n 's/^insmod *//p' | awk '!n[$0]++'); do
		nr_modules=$((nr_modules + 1))
		case $file in
		*.xz) xz -dc "$file" ;;
		*) cat "$file" ;;
		esac >"initramfs/modules/$nr_modules"
	done
	cat >initramfs/init <<'END'
#!/bin/busybox sh
busybox mount -t devtmpfs none /dev
for module in /modules/*; do
	busybox insmod "$module"
done
until busybox mount -t ext4 /dev/vda /new 2>/dev/null; do
	busybox sleep 0.1
done
busybox mount --move /dev /new/dev
exec busybox switch_root /new /sbin/init
END
	chmod +x initramfs/init
	(cd initramfs && find . | cpio -o -H newc --quiet --owner 0:0) >initrd
}

# make_disk ROOT: a disk image of it, $tmp/disk, and kernel and initrd beside.
make_disk()
{
	cp -r "$kernel/lib/modules" "$1/usr/lib/"
	cp "$kernel"/boot/vmlinuz-* kernel || bail 'there is no kernel'
	make_initrd "$1"
	truncate -s 3G disk
	mkfs.ext4 -q -F -L root -d "$1" disk >mkfs.log 2>&1 || bail "mkfs.ext4: $(tail -n 1 mkfs.log)"
}

# boot LIMIT: adds what the guest says to results, once a boot; console has the rest.
boot()
{
	: >serial
	# shellcheck disable=SC2086 # a list of words
	timeout --foreground -k 5 "$1" $qemu -nodefaults -chardev file,id=results,path=serial \
		-serial file:console $accelerator -smp 2 -m 2048 -display none -no-reboot \
		-drive file=disk,format=raw,if=none,id=d,cache=unsafe -device virtio-blk-pci,drive=d \
		-kernel kernel -initrd initrd \
		-append "console=$console panic=-1 quiet net.ifnames=0 mitigations=off no_timer_check" \
		>qemu.log 2>&1
	tr -d '\r' <serial >>results
}
