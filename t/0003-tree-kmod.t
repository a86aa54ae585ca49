#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The kernel's checkpatch.pl finds nothing in the module. $CHECKPATCH names the script;
# without it, the script beside a kernel's headers or sources is taken.
. "$srcdir/t/tap.sh"
for checkpatch in "${CHECKPATCH:-}" /lib/modules/*/build/scripts/checkpatch.pl \
	/usr/src/linux*/scripts/checkpatch.pl; do
	[ ! -f "$checkpatch" ] || break
done
[ -f "$checkpatch" ] || skip_all 'there is no checkpatch.pl, which kernel sources have'
need perl
plan 1
# checkpatch.pl reads its configuration from the current folder and writes its list of
# names there. On stderr it complains that there is no kernel's tree.
cp "$srcdir/kmod/.checkpatch.conf" .
cd "$srcdir" && files=$(echo "$PWD"/kmod/*.[ch] "$PWD"/abi/branch*.h "$PWD"/abi/entry.h \
	"$PWD/abi/kmod.h")
cd "$tmp" || exit 1
# shellcheck disable=SC2086 # a list of words
said=$(perl "$checkpatch" --quiet -f $files 2>/dev/null && echo content)
is "$said" content 'checkpatch.pl finds nothing in the module'
