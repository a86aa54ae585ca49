#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The units of the packages under Debian's systemd, in a container: cpi-web and cpi-ship start
# in their sandboxes, take new settings, go on after an upgrade, and leave nothing behind. It
# shows in a minute what t/0803 shows on a machine, but for cpid's sampling.
# t/packages/service.sh is what the container does.
. "$srcdir/t/tap.sh"
. "$srcdir/t/packages/lib.sh"
[ "$(id -u)" -eq 0 ] || skip_all 'making a root file system takes root'
need mmdebstrap dpkg-scanpackages systemd-nspawn
packages_build
bootable_root root service.sh
: >root/srv/results

systemd-nspawn -q --register=no --keep-unit -D root --boot --capability=all --private-network \
	--system-call-filter='bpf open_by_handle_at perf_event_open' --console=pipe \
	</dev/null >console 2>&1 &
container=$!
tap_pids="$tap_pids $container"
has_begun()
{
	[ -s root/srv/results ] || ! kill -0 $container 2>/dev/null
}
has_ended()
{
	grep -q '^GUEST-DONE$' root/srv/results || ! kill -0 $container 2>/dev/null
}
within 600 has_begun
[ -s root/srv/results ] || skip_all "systemd does not boot in a container here: $(tail -n 1 console)"
within 3000 has_ended
grep -E '^(ok|not ok|#) ' root/srv/results
tap_n=$(grep -cE '^(ok|not ok) ' root/srv/results)
grep -q '^GUEST-DONE$' root/srv/results
ok $? 'the container came to its end'
wait $container
plan $tap_n
