#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The control-flow graphs of all procedures of some installed programs satisfy their
# invariants, and few of them have missing edges.
. "$srcdir/t/tap.sh"

fixtures=$srcdir/t/fixtures/elf
# Paths of the system have no spaces; those of fixtures may.
# shellcheck disable=SC2046
set -- $(command -v sh) $(command -v awk) $(command -v ls) $(command -v sqlite3) \
	/usr/bin/python3 \
	$(ldd "$(command -v sh)" | sed -n 's/.* => \(\/.*libc\.so[^ ]*\).*/\1/p') \
	$(ldd "$(command -v sqlite3)" | sed -n 's/.* => \(\/.*libsqlite3[^ ]*\).*/\1/p') \
	/usr/aarch64-linux-gnu/lib/libc.so.6 \
	"$fixtures/x86-dwarf5" "$fixtures/x86-stripped" "$fixtures/arm-dwarf5" "$fixtures/arm-stripped"
plan $((2 * $#))

for file; do
	if ! [ -f "$file" ]; then
		skip 2 "$file is not installed"
		continue
	fi
	name=${file##*/}
	"$builddir/t/cfg_dump" check "$(readlink -f "$file")" >out 2>err
	ok $? "$name: all invariants hold"
	sed "s/^/# /" out
	head -n 20 err | sed 's/^/# /'
	try "$name: at most one procedure in 100 has missing edges" awk -F '[ ,]+' \
		'{ exit !($1 > 0 && $6 * 100 <= $1) }' out
done
