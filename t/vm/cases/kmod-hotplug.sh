# SPDX-License-Identifier: GPL-2.0-or-later
# a CPU goes and comes back five times
# needs: module
. /cpi/case.sh
module_load
check 'hotplug' kmod_check hotplug
module_unload
