# SPDX-License-Identifier: GPL-2.0-or-later
# the samples of a known loop are in the loop
# needs: module
. /cpi/case.sh
module_load
check 'pcs' kmod_check pcs
module_unload
