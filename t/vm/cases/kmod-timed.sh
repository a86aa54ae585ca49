# SPDX-License-Identifier: GPL-2.0-or-later
# the handler's cycles; memory per CPU
# needs: module
. /cpi/case.sh
module_load
check 'timed' kmod_check timed
module_unload
