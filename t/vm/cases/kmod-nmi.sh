# SPDX-License-Identifier: GPL-2.0-or-later
# The handler in genuine NMIs, which nothing keeps out of the flush's steps.
# needs: module
# arch: x86_64
. /cpi/case.sh
module_load /cpi_nmi.ko
check 'pcs' kmod_check pcs nmi
check 'branches' kmod_check branches nmi
check 'flush' kmod_check flush nmi
check 'full' kmod_check full nmi
module_unload cpi_nmi
dmesg | grep cpi_nmi
nr=$(dmesg | sed -n 's/.*cpi_nmi: \([0-9]*\) samples in NMI context/\1/p' | tail -n 1)
check_that 'the samples were taken in NMIs' "$nr > 8000"
