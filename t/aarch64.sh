# SPDX-License-Identifier: GPL-2.0-or-later
# aarch64.sh - programs for AArch64, and a machine that runs them; after tap.sh

# A vector length beyond 128 bits would need more of what signals show.
aarch64_cpu=max,sve=off,sme=off

# Sets aarch64_cc and aarch64_qemu, which is empty on AArch64 itself, or skips all.
aarch64_find()
{
	case $(uname -m) in
	aarch64)
		aarch64_cc=cc aarch64_qemu=
		return
		;;
	esac
	aarch64_cc=aarch64-linux-gnu-gcc aarch64_qemu=qemu-aarch64
	for aarch64_command in $aarch64_cc $aarch64_qemu; do
		command -v "$aarch64_command" >/dev/null ||
			skip_all "there is no $aarch64_command"
	done
	echo 'int main(void) { return 0; }' >probe.c
	$aarch64_cc -static -o probe probe.c 2>/dev/null && aarch64_run ./probe ||
		skip_all 'programs for AArch64 cannot be built and run here'
}

# aarch64_build PROGRAM SOURCE...: with none of this machine's configuration.
aarch64_build()
{
	aarch64_program=$1
	shift
	mkdir -p plain && : >plain/config.h
	$aarch64_cc -static -O2 -D_GNU_SOURCE -Iplain -I"$srcdir" -o "$aarch64_program" "$@"
}

# aarch64_run PROGRAM [ARGUMENT...]
aarch64_run()
{
	if [ "$aarch64_qemu" ]; then
		$aarch64_qemu -cpu "$aarch64_cpu" "$@"
	else
		"$@"
	fi
}
