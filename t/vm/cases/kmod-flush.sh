# SPDX-License-Identifier: GPL-2.0-or-later
# under load and flushes all the time not one sample is missing
# needs: module
. /cpi/case.sh
module_load
check 'flush' kmod_check flush
module_unload
