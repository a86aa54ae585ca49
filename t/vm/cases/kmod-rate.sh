# SPDX-License-Identifier: GPL-2.0-or-later
# real overflow interrupts of a PMU, as many as the counter's own count promises
# needs: module
# arch: arm64
. /cpi/case.sh
module_load
check 'rate' kmod_check rate cycles
check 'pcs' kmod_check pcs cycles
check 'branches' kmod_check branches cycles
module_unload
