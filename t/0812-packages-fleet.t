#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# From apt install to a fleet of three: the commands of doc/fleet.md, at most five, are run as
# they stand there, under systemd in three containers with one network. One of them also has
# the store. t/packages/member.sh is what they do; t/initial_namespace.c hides from cpid that
# they have PIDs of their own.
. "$srcdir/t/tap.sh"
. "$srcdir/t/packages/lib.sh"
. "$srcdir/t/packages/contain.sh"
[ "$(id -u)" -eq 0 ] || skip_all 'making a root file system takes root'
can_sample || skip_all 'sampling the whole system is not permitted here'
need mmdebstrap dpkg-scanpackages systemd-nspawn ip

# The blocks of code of the section, without their indentation; each ends with an empty line.
sed -n '/^## Setting it up/,/^## Several/ {
	s/^    //p
	t
	s/.*//p
}' "$srcdir/doc/fleet.md" | cat -s >blocks
awk -v RS= 'NR <= 2' blocks >store.sh
awk -v RS= 'NR == 3' blocks >machine.sh
# Without what the file has that the first one makes.
commands=$(cat store.sh machine.sh | sed '/<<END$/,/^END$/ { /<<END$/!d }' | grep -c .)
sed 's/^/# /' store.sh machine.sh

packages_build
network=cpi-fleet-$$
ip netns add $network || skip_all 'there are no network namespaces here'
contained_end()
{
	for pid in $tap_pids; do
		kill -KILL "$pid" 2>/dev/null
	done
	ip netns del $network
	tap_end
}
trap contained_end EXIT
ip -n $network link set lo up
contain_network=--network-namespace-path=/run/netns/$network

# root N: the root file system of a machine.
root()
{
	bootable_root root$1 member.sh clickhouse-server
	: >root$1/srv/results
	cp machine.sh root$1/srv
	cp "$builddir/t/initial_namespace.so" root$1/srv/
	echo machine$1 >root$1/etc/hostname
	echo '127.0.0.1 localhost store' >root$1/etc/hosts
	echo 'APT::Get::Assume-Yes "true";' >root$1/etc/apt/apt.conf.d/yes
	mkdir root$1/etc/systemd/system/cpid.service.d
	cat >root$1/etc/systemd/system/cpid.service.d/container.conf <<'END'
[Service]
Environment=LD_PRELOAD=/srv/initial_namespace.so
ExecStart=
ExecStart=/usr/sbin/cpid --collector=perf
END
}
for n in 1 2 3; do
	root $n
done
cp store.sh root1/srv
began=$(date +%s)

# says N PATTERN: whether the machine has said that.
says()
{
	grep -q "$2" root$1/srv/results
}
# run N: boots a machine with a console of its own.
run()
{
	contain_start root$1 --hostname=machine$1
	mv console console$1
}
run 1
within 600 says 1 'the commands for the store'
run 2
run 3
for n in 2 3 1; do
	within 1200 says $n GUEST-DONE
done
note "the fleet took $(($(date +%s) - began)) s"
for n in 1 2 3; do
	: >root$n/srv/stop
	sed -n -E "s/^(ok|not ok) [0-9]* - /\\1 machine $n: /p; /^#/p" root$n/srv/results
done >results
awk '/^#/ { print; next } { sub(/^(not )?ok /, "&" ++n " - "); print }' results
tap_n=$(grep -cE '^(ok|not ok) ' results)
is "$(cat root[123]/srv/results | grep -c '^GUEST-DONE$')" 3 'all machines came to their end' ||
	tail -n 30 console[123] | sed 's/^/# console: /'
bound "$commands" '<=' 5 'doc/fleet.md needs at most five commands'
for pid in $tap_pids; do
	wait "$pid"
done
plan $tap_n
