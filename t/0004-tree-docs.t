#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Documents name files that exist, and keep to their maximal length. Sources begin with a
# comment.
. "$srcdir/t/tap.sh"
cd "$srcdir" || exit 1
plan 6

docs=$(echo *.md doc/*.md [a-z]*/README.md [a-z]*/[a-z]*/README.md)
find abi analysis base daemon db decode doc helpers kmod loader-hook man report service ship t tools web \
	-type f >"$tmp/files"

# words DOCUMENT: each text between backquotes on a line of its own, cut at the first ':',
# with '*' for the parts that a reader has to fill in.
words()
{
	awk '/^```/ { code = !code } !code' "$1" | grep -o '`[^` ]*`' | tr -d '`' |
		sed -E 's/:.*//; s/[{][^}]*[}]|<[^>]*>|NNNN|NAME|MACHINE|…/*/g' | sort -u
}

# missing PATTERN...: prints each pattern that matches no file, no folder, and no source
# of a program.
missing()
{
	for pattern; do
		found=
		for file in $pattern $pattern.c $pattern.cc $pattern.bpf.c; do
			[ ! -e "$file" ] || found=yes
		done
		[ -n "$found" ] || echo "$doc: $pattern"
	done
}

folders='abi|analysis|base|daemon|db|decode|doc|helpers|kmod|loader-hook|man|report|service|ship|t|tools|web'
for doc in $docs; do
	# shellcheck disable=SC2046 # a list of words
	set -f && set -- $(words "$doc" | grep -E "^($folders)/" |
		grep -v 'skel\.h$') && set +f
	missing "$@"
done >"$tmp/paths"
is "$(cat "$tmp/paths")" '' 'every path that a document names exists'

for doc in $docs; do
	words "$doc" | grep -xE '[a-z0-9_*]+\.(c|h|cpp)' | while read -r name; do
		pattern=$(echo "$name" | sed 's/[.]/[.]/g; s/[*]/[^\/]*/g')
		grep -qE "/$pattern\$" "$tmp/files" || echo "$doc: $name"
	done
done >"$tmp/names"
is "$(cat "$tmp/names")" '' 'every source file that a document names exists'

for doc in $docs; do
	grep -oE '\]\([^) ]+\)' "$doc" | sed -E 's/^..//; s/\)$//; s/#.*//' |
		grep -vE '^$|^https?:' | while read -r link; do
		[ -e "$(dirname "$doc")/$link" ] || echo "$doc: $link"
	done
done >"$tmp/links"
is "$(cat "$tmp/links")" '' 'every link leads to a file'

is "$(wc -l README.md ARCHITECTURE.md | awk '
	$2 == "README.md" && $1 > 150 || $2 == "ARCHITECTURE.md" && $1 > 250')" '' \
	'README.md has at most 150 lines, ARCHITECTURE.md has at most 250'
is "$(for doc in doc/*.md; do grep -qF "$doc" Makefile.am || echo "$doc"; done)" '' \
	'every document is installed'

# The first line is the licence; a comment follows that is not another one.
is "$(grep -E '[.](c|h|cc|cpp)$' "$tmp/files" | grep -vE '^t/|[.]skel[.]h$' |
	xargs awk 'FNR == 2 && !/^\/\*/ { print FILENAME }')" '' \
	'every source file begins with a comment that says what it does'
