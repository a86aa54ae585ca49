# SPDX-License-Identifier: GPL-2.0-or-later
# under load and flushes all the time not one sample is missing
# needs: module
. /cpi/case.sh
check 'the module loads' insmod /cpi.ko
check 'flush' kmod_check flush
check 'the module goes' rmmod cpi
