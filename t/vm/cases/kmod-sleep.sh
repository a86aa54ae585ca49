# SPDX-License-Identifier: GPL-2.0-or-later
# long: yes
# kaslr: yes
# needs: module
# The machine is suspended to memory, and both CPUs are sampled when it is back. On
# x86-64 it does not come back when it was booted by PVH.
. /cpi/case.sh
grep -q mem /sys/power/state 2>/dev/null || skip_all 'this machine cannot be suspended'
module_load
kmod_check sleep
case $? in
0) ;;
77) skip_all 'this machine cannot be suspended, or not be woken by its clock' ;;
*) fail 'sleep' ;;
esac
module_unload
