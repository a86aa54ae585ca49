# SPDX-License-Identifier: GPL-2.0-or-later
# boot.sh - starts QEMU and reads the console; for run
#
# QEMU ends with 0 even after a panic: only a console that has GUEST-DONE counts.
# The guest's own lines begin with a word that is drawn for each boot.

qemu_arch()
{
	[ "$arch" = arm64 ] && echo aarch64 || echo x86_64
}

# qemu MACHINE: the console is stdin and stdout.
#
# On x86: cmpxchg16b of TCG crashes new kernels; vmlinux (PVH) saves unpacking in the
# guest, but the kernel's place is drawn while it is unpacked. With icount time goes by
# as instructions do, whatever the host's load, so that rates are exact; but only one
# CPU is emulated well then (README.md).
qemu()
{
	cpus=$(field "$1" cpus) limit=$(field "$1" limit)
	case $arch in
	x86_64)
		options='-machine q35 -cpu qemu64,-cx16'
		image=vmlinux
		[ -z "$(field "$1" kaslr)" ] || image=vmlinuz
		console='console=ttyS0 tsc=reliable'
		;;
	arm64)
		options='-machine virt -cpu neoverse-n1'
		image=vmlinuz
		console='console=ttyAMA0'
		;;
	esac
	if [ -n "$(field "$1" icount)" ]; then
		options="$options -accel tcg -icount shift=1,sleep=off"
	else
		options="$options -accel tcg,thread=multi"
	fi
	[ -z "$disk" ] || options="$options -drive if=none,id=disk,format=raw,file=$disk
		-device virtio-blk-pci,drive=disk"
	[ -z "$(field "$1" nodes)" ] ||
		options="$options $(qemu_nodes "${cpus:-2}" "$(field "$1" nodes)")"
	# shellcheck disable=SC2086 # a list of words
	timeout --foreground -k 5 "${limit:-$time_limit}" "qemu-system-$(qemu_arch)" $options \
		-smp "${cpus:-2},sockets=${cpus:-2}" -m 1024 -nodefaults -display none -serial stdio \
		-no-reboot -kernel "$kernel/boot/$image-$release" -initrd "$work/initrd" \
		-append "$console panic=-1 oops=panic quiet $(field "$1" append)"
}

# qemu_nodes CPUS NODES: NUMA nodes whose CPUs take turns, each with its share of memory.
qemu_nodes()
{
	awk -v cpus="$1" -v nodes="$2" 'BEGIN {
		for (node = 0; node < nodes; node++) {
			size = 1024 / nodes
			print "-object memory-backend-ram,id=m" node ",size=" size "M"
			printf "-numa node,nodeid=%d,memdev=m%d", node, node
			for (cpu = node; cpu < cpus; cpu += nodes)
				printf ",cpus=%d", cpu
			print ""
		}
	}'
}

# field MACHINE KEY
field()
{
	echo ";$1" | sed -n "s/.*;$2=\([^;]*\);.*/\1/p"
}

# boot_machine MACHINE CASE...: as often as the cases want it; what a boot leaves in
# /carry the next one finds there.
boot_machine()
{
	machine=$1
	shift
	boots=$(field "$machine" boots) disk=
	if [ -n "$boots" ]; then
		disk=$work/disk
		rm -f "$disk"
		truncate -s 64M "$disk"
	fi
	boot=1
	while [ $boot -le "${boots:-1}" ]; do
		boot_once "$machine" "$@"
		boot=$((boot + 1))
	done
}

# prepare_boot CASE...: an archive of what this boot alone has, behind the other.
prepare_boot()
{
	word=$(od -An -N 8 -t x8 /dev/urandom | tr -d ' ')
	rm -rf "$work/more"
	mkdir "$work/more"
	[ -z "$disk" ] || : >"$work/more/disk"
	printf '%s\n' "$@" >"$work/more/list"
	echo "$word" >"$work/more/word"
	echo "$boot" >"$work/more/boot"
	{
		cat "$work/initramfs"
		pack "$work/more"
	} >"$work/initrd"
}

boot_once()
{
	machine=$1
	shift
	prepare_boot "$@"
	log=$work/console-$(echo "$machine-$boot" | tr -c 'a-z0-9\n' -)
	qemu "$machine" </dev/null 2>&1 | sed -u 's/\r*$//' >"$log"
	for name; do
		take_result "$name"
	done
	take_kernel
}

# add_result NAME STATUS: the first that is not 0 stays.
add_result()
{
	[ -s "$work/result/$1" ] && [ "$(cat "$work/result/$1")" != 0 ] ||
		echo "$2" >"$work/result/$1"
}

take_result()
{
	sed -n "s/^$word CASE $1 .*seconds=/seconds: /p" "$log" >>"$work/result/$1.out"
	awk -v word="$word" -v name="$1" '
		$1 == word && $2 == "CASE" {
			if ($3 == name)
				printf "%s", text
			text = ""
		}
		/^[|] / { text = text substr($0, 3) "\n" }' "$log" >>"$work/result/$1.out"
	rc=$(sed -n "s/^$word CASE $1 rc=\([0-9]*\) .*/\1/p" "$log")
	if [ -z "$rc" ]; then
		rc=1
		echo "the guest did not get to its end; $log" >>"$work/result/$1.out"
	fi
	add_result "$1" "$rc"
}

# Whether the kernel was content, and all of it came to an end in time.
take_kernel()
{
	complaints=$(sed -n 's/^| dmesg: //p' "$log")
	if ! grep -q "^$word GUEST-DONE\$" "$log"; then
		{
			echo "no end in time, or a panic; $log:"
			tail -n 20 "$log"
		} >>"$work/result/kernel.out"
		add_result kernel 1
	elif [ -n "$complaints" ]; then
		echo "$complaints" >>"$work/result/kernel.out"
		add_result kernel 1
	else
		: >>"$work/result/kernel.out"
		add_result kernel 0
	fi
}

boot_shell()
{
	boot=1 disk='' time_limit=0
	prepare_boot
	qemu ''
}
