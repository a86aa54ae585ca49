#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every fuzz target runs through its committed inputs.
nr=0
for folder in "$srcdir"/t/fuzz/corpus/*/; do
	name=$(basename "$folder")
	nr=$((nr + 1))
	set -- "$folder"*
	if [ ! -e "$builddir/t/fuzz/fuzz_$name" ]; then
		echo "ok $nr - fuzz_$name # SKIP it is not built: a library is missing"
	elif "$builddir/t/fuzz/fuzz_$name" "$@" >&2; then
		echo "ok $nr - fuzz_$name takes its $# inputs"
	else
		echo "not ok $nr - fuzz_$name takes its $# inputs"
	fi
done
echo "1..$nr"
