#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# 'make dist' writes the same archive from the same tree: from the archive itself, in another
# folder, at another time, and with another umask.
. "$srcdir/t/tap.sh"
need git xz tar

# archive FOLDER: FOLDER/*.tar.xz, from FOLDER/tree.
archive()
{
	(mkdir "$1/build" && cd "$1/build" && ../tree/configure -q && make -s dist &&
		mv ./*.tar.xz ..) >log 2>&1 || { tail -n 5 log; return 1; }
}
mkdir -p one/tree two/tree
git -C "$srcdir" ls-files -z 2>/dev/null | tar -C "$srcdir" --null -T - -cf - 2>/dev/null |
	tar -C one/tree -xf - 2>/dev/null
[ -e one/tree/configure.ac ] || skip_all 'this is no clone'
plan 3
(cd one/tree && autoreconf -fi) >log 2>&1 || bail "autoreconf: $(tail -n 3 log)"
try 'an archive is made' archive one
umask 077
chmod g+s two
tar -C two/tree --no-same-permissions --strip-components=1 -xJf one/*.tar.xz
touch two/tree/*.md
try 'another one is made from it' archive two
try 'both are equal' cmp one/*.tar.xz two/*.tar.xz
