# SPDX-License-Identifier: GPL-2.0-or-later
# contain.sh - boots Debian's systemd in a container, on this kernel; after lib.sh

# contain ROOT OPTIONS...: until the container ends. What it does is in ROOT/srv/results.
# Ends the script if systemd does not start. Returns systemd-nspawn's status.
contain()
{
	contain_start "$@"
	within 3000 contain_ended || kill -TERM $container
	wait $container
}

# contain_start ROOT OPTIONS...: until it has begun to do so; sets $container, its process.
contain_start()
{
	contain_root=$1 contain_size=$(stat -c %s "$1/srv/results")
	shift
	SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 systemd-nspawn -q --register=no --keep-unit \
		-D "$contain_root" --boot --capability=all "${contain_network:---private-network}" \
		--system-call-filter='bpf open_by_handle_at perf_event_open @keyring' --console=pipe "$@" \
		</dev/null >console 2>&1 &
	container=$!
	tap_pids="$tap_pids $container"
	within 600 contain_begun
	[ "$(stat -c %s "$contain_root/srv/results")" -gt "$contain_size" ] ||
		skip_all "systemd does not boot in a container here: $(tail -n 1 console)"
}

contain_begun()
{
	[ "$(stat -c %s "$contain_root/srv/results")" -gt "$contain_size" ] || contain_ended
}

contain_ended()
{
	! kill -0 $container 2>/dev/null
}
