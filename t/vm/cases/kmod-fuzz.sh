# SPDX-License-Identifier: GPL-2.0-or-later
# ioctls, mappings and hotplug at random: the kernel stays content
# needs: module
. /cpi/case.sh
module_load
check 'fuzz' kmod_fuzz 4
check 'pcs' kmod_check pcs
module_unload
