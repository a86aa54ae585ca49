# SPDX-License-Identifier: GPL-2.0-or-later
# one owner, with the capability, read-only
# needs: module
. /cpi/case.sh
module_load
check 'owner' kmod_refuse owner
module_unload
