#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Instructions of the system's files and of fixtures are as long as objdump says.
#
# The rest of a procedure is not compared after a "(bad)". At most one procedure in ten
# may have one.
. "$srcdir/t/tap.sh"
plan 4

# wanted OBJDUMP FILE STEP: "address size" of each instruction. objdump's lines
# are "  401000:	48 8b 07 	mov ..."; for AArch64 it shows words, of STEP bytes.
wanted() {
	"$1" -d -w "$2" | awk -F '\t' -v "step=$3" '
		/^ *[0-9a-f]+:\t/ {
			gsub(/[ :]/, "", $1)
			print $1, split($2, bytes, " ") * step
		}'
}

compare() {
	awk '
		NR == FNR { want[$1] = $2; next }
		!($1 in known) { known[$1]; all++ }
		$1 in lost { next }
		$4 == "(bad)" { lost[$1]; bad++; next }
		{ n++ }
		want[$2] != $3 {
			print "wanted size", want[$2] + 0, "for:", $0
			lost[$1]
			wrong++
		}
		END {
			print n + 0, "instructions;", bad + 0, "of", all + 0, \
				"procedures have an unknown instruction"
			exit !(n && !wrong && bad * 10 <= all)
		}' want got
}

# agree NAME OBJDUMP FILE STEP
agree() {
	if ! command -v "$2" >/dev/null; then
		skip 1 "$2 is not installed"
		return
	fi
	wanted "$2" "$3" "$4" >want
	"$builddir/t/isa_dump" "$3" >got || : >got
	try "$1" compare
}

fixtures=$srcdir/t/fixtures/elf
agree "ls decodes as objdump decodes it" objdump "$(readlink -f "$(command -v ls)")" 1
agree "sh decodes as objdump decodes it" objdump "$(readlink -f /bin/sh)" 1
agree "the x86-64 fixture decodes as objdump decodes it" objdump "$fixtures/x86-ibt" 1
agree "the AArch64 fixture decodes as objdump decodes it" aarch64-linux-gnu-objdump "$fixtures/arm-bti" 4
