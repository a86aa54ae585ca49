# SPDX-License-Identifier: GPL-2.0-or-later
# aarch64.sh - builds and runs programs for AArch64, here or emulated; after tap.sh

# Signal frames show only 128 bits of longer vector registers.
aarch64_cpu=max,sve=off,sme=off

# aarch64_find: sets aarch64_cc and aarch64_qemu, or skips the script. aarch64_qemu is
# empty on AArch64 itself.
aarch64_find()
{
	case $(uname -m) in
	aarch64)
		aarch64_cc=cc aarch64_qemu=
		return
		;;
	esac
	aarch64_cc=aarch64-linux-gnu-gcc aarch64_qemu=qemu-aarch64
	need "$aarch64_cc" "$aarch64_qemu"
	echo 'int main(void) { return 0; }' >probe.c
	$aarch64_cc -static -o probe probe.c 2>/dev/null && aarch64_run ./probe ||
		skip_all 'programs for AArch64 cannot be built and run here'
}

# aarch64_build PROGRAM SOURCE...: builds without the config.h of this machine.
aarch64_build()
{
	aarch64_program=$1
	shift
	mkdir -p plain && : >plain/config.h
	$aarch64_cc -static -O2 -D_GNU_SOURCE -Iplain -I"$srcdir" -o "$aarch64_program" "$@"
}

# aarch64_run PROGRAM [ARGUMENT...]: runs the program, emulated if necessary.
aarch64_run()
{
	if [ "$aarch64_qemu" ]; then
		$aarch64_qemu -cpu "$aarch64_cpu" "$@"
	else
		"$@"
	fi
}
