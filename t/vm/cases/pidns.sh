# SPDX-License-Identifier: GPL-2.0-or-later
# long: yes
# In another PID namespace process numbers mean nothing: cpid says so.
. /cpi/case.sh

unshare -p -f cpid --db t.db --socket t.sock 2>message && fail 'cpid starts'
cat message
check 'it names the cause' grep -q 'PID namespace' message
check 'it leaves no database' test ! -e t.db
