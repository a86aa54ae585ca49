# SPDX-License-Identifier: GPL-2.0-or-later
# events that are counted in any context, and no interrupt's, are refused
# needs: module
. /cpi/case.sh
module_load
check 'events' kmod_refuse events
module_unload
