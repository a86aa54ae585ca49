# SPDX-License-Identifier: GPL-2.0-or-later
# the samples of a known loop are in the loop
# needs: module
. /cpi/case.sh
check 'the module loads' insmod /cpi.ko
check 'pcs' kmod_check pcs
check 'the module goes' rmmod cpi
