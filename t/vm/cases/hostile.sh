# SPDX-License-Identifier: GPL-2.0-or-later
# modules: fuse
# A process that holds its own mmap_lock, which on this kernel holds up whoever reads
# its mappings: it was there before cpid, and it is registered.
. /cpi/case.sh

modprobe fuse || skip_all 'this kernel has no FUSE'
chmod 755 .
mkdir held
mkfifo said
/cpi/t/programs/lock_holder -n 3 -t 600 held >said &
tap_pids="$tap_pids $!"
exec 5<said
for _ in 1 2 3; do
	read -r held <&5 || fail 'the lock is not held'
done
cpid_start --collector perf -F 200 --sweep 200ms || fail 'cpid does not start'
has_given_up()
{
	cpid_ask status >status && [ "$(status_sum reads_timed_out)" -ge 1 ]
}
await has_given_up
check 'it answers' timeout 20 cpi status --socket t.sock
timeout 20 cpi register --socket t.sock "$held" && fail 'the process can be read'
/cpi/t/programs/burn_a 3000
cpid_ask flush >/dev/null
cpid_stop
check_that "another's samples are known" "$(samples procedure burn_a) > 100"
