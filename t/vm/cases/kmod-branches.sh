# SPDX-License-Identifier: GPL-2.0-or-later
# outcomes of conditional jumps are those that they have
# needs: module
. /cpi/case.sh
module_load
check 'branches' kmod_check branches
module_unload
