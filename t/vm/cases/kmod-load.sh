# SPDX-License-Identifier: GPL-2.0-or-later
# loaded and unloaded 30 times; not while the device is open; no memory stays
# needs: module
. /cpi/case.sh

cycle()
{
	module_load
	mkfifo go ready
	kmod_check hold <go >ready &
	holder=$!
	exec 5>go 6<ready
	read -r line <&6
	[ "$line" = holding ] || fail "$line"
	[ -z "$1" ] || {
		rmmod cpi 2>rmmod.err && fail 'the module goes while it is in use'
		grep -q 'busy\|in use\|unavailable' rmmod.err || fail "$(cat rmmod.err)"
		kill -KILL $holder
	}
	exec 5>&- 6<&-
	wait $holder
	rm go ready
	module_unload
}

cycle busy
before=$(kernel_memory)
for _ in $(seq 30); do
	cycle ''
done
after=$(kernel_memory)
# 30 times the 512 KiB of each CPU would be 30 MiB.
check_that 'no memory stays (kB)' "$after - $before < 2048"
