# SPDX-License-Identifier: GPL-2.0-or-later
# outcomes of conditional jumps are those that they have
# needs: module
. /cpi/case.sh
check 'the module loads' insmod /cpi.ko
check 'branches' kmod_check branches
check 'the module goes' rmmod cpi
