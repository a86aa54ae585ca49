#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Kernels that wait for one known thing: it is blamed first, at the right instruction.
. "$srcdir/t/tap.sh"
. "$srcdir/t/collect.sh"
need python3

plan "$("$programs/stall" | wc -l)"
"$srcdir/t/accuracy/culprits" --tools "$builddir" --ms 1000 2>&1 | while read -r line; do
	case $line in
	'ok '* | 'not ok '*) echo "$line" ;;
	*) echo "# $line" ;;
	esac
done
