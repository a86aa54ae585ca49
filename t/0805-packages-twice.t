#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The packages are built a second time, in another folder, time zone, language and umask, and
# are the same, bit by bit; lintian finds no fault in them.
. "$srcdir/t/tap.sh"
. "$srcdir/t/packages/lib.sh"
packages_build
plan 4

# The archive, twice: its times are those of the files.
make -s -C "$builddir" dist >dist.log 2>&1 || bail "make dist: $(tail -n 3 dist.log)"
archive=$(echo "$builddir"/cpi-*.tar.xz)
mkdir -p "$tmp/another/place"
tar -C "$tmp/another/place" -xf "$archive"
sources=$(echo "$tmp"/another/place/cpi-*)
(umask 027 && cd "$sources" && env -u MAKEFLAGS -u MAKELEVEL TZ=Pacific/Chatham \
	LANG=C.UTF-8 LC_ALL=C.UTF-8 USER=somebody HOME=/nonexistent \
	DEB_BUILD_OPTIONS="nocheck parallel=$(nproc)" \
	dpkg-buildpackage -b -us -uc) >second.log 2>&1
ok $? 'the packages are built from the archive in another place'
tail -n 3 second.log | sed 's/^/# /'

is "$(cd another/place && echo *.deb)" "$(cd "$debs" && echo *.deb)" 'both builds have the same packages'
for package in another/place/*.deb; do
	cmp -s "$package" "$debs/${package##*/}" || echo "${package##*/}"
done >different
is "$(cat different)" '' 'each package of the second build is the same, bit by bit'
if [ -s different ] && command -v diffoscope >/dev/null; then
	while read -r package; do
		timeout 300 diffoscope --max-report-size 4000 "$debs/$package" \
			"another/place/$package" | sed 's/^/# /' | head -n 40
	done <different
fi

if command -v lintian >/dev/null; then
	is "$(lintian --allow-root --fail-on error,warning "$debs"/*.changes 2>&1 |
		grep -E '^[EW]:')" '' 'lintian finds no error and no warning'
else
	skip 1 'lintian is not installed'
fi
