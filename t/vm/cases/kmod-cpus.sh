# SPDX-License-Identifier: GPL-2.0-or-later
# each CPU has the samples of what ran on it
# needs: module
. /cpi/case.sh
check 'the module loads' insmod /cpi.ko
check 'cpus' kmod_check cpus
check 'the module goes' rmmod cpi
