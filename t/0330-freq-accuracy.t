#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Estimated frequencies are not far from exact counts. The margin is wide.
. "$srcdir/t/tap.sh"

out=$("$srcdir/t/accuracy/run" --short --tools "$builddir" 2>&1)
status=$?
printf '%s\n' "$out" | sed 's/^/# /'
if [ $status -eq 77 ]; then
	skip_all "${out#SKIP: }"
fi
plan 1
is "$status" 0 'estimated frequencies overlap with exact counts as much as they must'
