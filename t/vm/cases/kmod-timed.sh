# SPDX-License-Identifier: GPL-2.0-or-later
# the handler's cycles; memory per CPU
# needs: module
. /cpi/case.sh
check 'the module loads' insmod /cpi.ko
check 'timed' kmod_check timed
check 'the module goes' rmmod cpi
