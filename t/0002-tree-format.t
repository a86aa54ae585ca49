#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every C file is formatted as .clang-format says, has a licence, and compiles alone
# when it is a header.
. "$srcdir/t/tap.sh"
cd "$srcdir" || exit 1
plan 3

files=$(find abi kmod loader-hook base service db decode analysis daemon helpers report ship tools web t -name '*.[ch]')
if command -v clang-format >/dev/null; then
	# shellcheck disable=SC2086 # a list of words
	is "$(clang-format --dry-run $files 2>&1 | head -n 20)" '' 'C files are formatted'
else
	skip 1 'clang-format is not installed'
fi
# shellcheck disable=SC2086
is "$(grep -L SPDX-License-Identifier $files)" '' 'every C file names its licence'
# A header that its own file includes first, or first after config.h, is compiled alone by
# the build. The others are compiled here. The headers of the kernel module compile only
# within a kernel's build.
web=web
echo '#include <microhttpd.h>' | ${CC:-cc} -fsyntax-only -xc - 2>/dev/null || web=
headers=$(find abi kmod loader-hook base service db decode analysis daemon helpers report ship tools $web -name '*.h' ! -name 'cpi*.h')
find abi kmod loader-hook base service db decode analysis daemon helpers report ship tools web -name '*.c' | xargs awk '
	FNR == 1 { own = substr(FILENAME, 1, length(FILENAME) - 2) ".h"; first = 1 }
	first && /^#/ && $0 != "#include \"config.h\"" {
		first = 0
		if ($0 == "#include \"" own "\"")
			print own
	}' >"$tmp/built"
for h in $headers; do
	echo "$h"
done | grep -vxFf "$tmp/built" >"$tmp/others"
bad=
while read -r h; do
	printf '#include "config.h"\n#include "%s"\n' "$h" >"$tmp/alone.c"
	${CC:-cc} -std=gnu11 -fsyntax-only -I. -I"$builddir" "$tmp/alone.c" 2>"$tmp/said" ||
		bad="$bad $h: $(head -n 1 "$tmp/said")"
done <"$tmp/others"
is "$bad" '' 'every header compiles alone'
