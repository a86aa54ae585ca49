# SPDX-License-Identifier: GPL-2.0-or-later
# icount: yes
# cpus: 1
# As many samples as the counter's own count promises; on arm64 by real overflow
# interrupts of a PMU.
# needs: module
. /cpi/case.sh
module_load
event=clock
[ "$(uname -m)" = x86_64 ] || event=cycles
check 'rate' kmod_check rate $event
check 'pcs' kmod_check pcs $event
check 'branches' kmod_check branches $event
module_unload
