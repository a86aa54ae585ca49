# SPDX-License-Identifier: GPL-2.0-or-later
# ioctls, mappings and hotplug at random: the kernel stays content
# needs: module
. /cpi/case.sh
check 'the module loads' insmod /cpi.ko
check 'fuzz' kmod_fuzz "${SECONDS_OF_FUZZ:-8}" "${SEED:-}"
check 'pcs' kmod_check pcs
check 'the module goes' rmmod cpi
