#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# On bare root file systems of Debian 12 and 13, two commands lead to the first recording and a
# third to its report. An apt archive in the file system stands in for the network.
. "$srcdir/t/tap.sh"
. "$srcdir/t/packages/lib.sh"
[ "$(id -u)" -eq 0 ] || skip_all 'making a root file system takes root'
need mmdebstrap dpkg-scanpackages unshare
can_sample || skip_all 'sampling the whole system is not permitted here'

# inside SUITE COMMAND...: in the root file system, with /proc and /sys.
inside()
{
	inside_root=$tmp/$1
	shift
	unshare --mount sh -c 'mount --bind /proc "$0/proc" && mount --rbind /sys "$0/sys" &&
		mount --bind /dev "$0/dev" && exec chroot "$0" "$@"' "$inside_root" "$@"
}

# prepare SUITE
prepare()
{
	packages_build "$1"
	root_archive bare ''
	unpack_root "$1"
	repository "$1"
	inside "$1" apt-get -q update >update.out 2>&1 || bail "apt-get update: $(tail -n 1 update.out)"
}

# bare SUITE: five tests.
bare()
{
	began=$(date +%s%3N)
	try "$1: apt install" inside "$1" env DEBIAN_FRONTEND=noninteractive \
		apt-get -qy --no-install-recommends install cpi
	installed=$(date +%s%3N)
	try "$1: cpi record" inside "$1" cpi record -o /tmp/t.db -- \
		sh -c 'i=0; while [ $i -lt 40 ]; do gzip -9 <bin/bash >/dev/null; i=$((i + 1)); done'
	inside "$1" cpi prof --db /tmp/t.db >report.out 2>report.err
	ok $? "$1: cpi prof"
	note "$1: $(((installed - began) / 1000)) s for apt install, $((($(date +%s%3N) - began) / 1000)) s with recording and report"
	sed 's/^/# /' report.out | head -n 6
	like "$(cat report.out)" gzip "$1: the report shows what ran"
	like "$(inside "$1" dpkg --verify cpi)" '^$' "$1: every file is as the package has it"
}

prepare bookworm
prepare trixie
plan 10
bare bookworm
bare trixie
