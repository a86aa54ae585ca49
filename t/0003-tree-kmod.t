#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The kernel's own checkpatch.pl finds nothing in the module. $CHECKPATCH is where it
# is, if not beside the headers or the sources of a kernel.
. "$srcdir/t/tap.sh"
for checkpatch in "${CHECKPATCH:-}" /lib/modules/*/build/scripts/checkpatch.pl \
	/usr/src/linux*/scripts/checkpatch.pl; do
	[ ! -f "$checkpatch" ] || break
done
[ -f "$checkpatch" ] || skip_all 'there is no checkpatch.pl, which kernel sources have'
command -v perl >/dev/null || skip_all 'perl is missing'
plan 1
# It reads its configuration here, and writes here what names it found; that without a
# kernel's tree there are none in /include it says.
cp "$srcdir/kmod/.checkpatch.conf" .
cd "$srcdir" && files=$(echo "$PWD"/kmod/*.[ch] "$PWD"/abi/branch*.h "$PWD"/abi/entry.h \
	"$PWD/abi/kmod.h")
cd "$tmp" || exit 1
# shellcheck disable=SC2086 # a list of words
said=$(perl "$checkpatch" --quiet -f $files 2>/dev/null && echo content)
is "$said" content 'checkpatch is content'
