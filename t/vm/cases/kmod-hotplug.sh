# SPDX-License-Identifier: GPL-2.0-or-later
# a CPU goes and comes back five times
# needs: module
. /cpi/case.sh
check 'the module loads' insmod /cpi.ko
check 'hotplug' kmod_check hotplug
check 'the module goes' rmmod cpi
