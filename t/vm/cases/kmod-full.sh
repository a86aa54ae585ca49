# SPDX-License-Identifier: GPL-2.0-or-later
# both buffers overflow, are drained in use, and the losses are counted
# needs: module
. /cpi/case.sh
check 'the module loads' insmod /cpi.ko
check 'full' kmod_check full
check 'the module goes' rmmod cpi
