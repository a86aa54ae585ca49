# SPDX-License-Identifier: GPL-2.0-or-later
# one owner, with the capability, read-only
# needs: module
. /cpi/case.sh
check 'the module loads' insmod /cpi.ko
check 'owner' kmod_check owner
check 'the module goes' rmmod cpi
