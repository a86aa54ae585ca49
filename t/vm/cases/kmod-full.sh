# SPDX-License-Identifier: GPL-2.0-or-later
# both buffers overflow, are drained in use, and the losses are counted
# needs: module
. /cpi/case.sh
module_load
check 'full' kmod_check full
module_unload
