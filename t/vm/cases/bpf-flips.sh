# SPDX-License-Identifier: GPL-2.0-or-later
# long: yes
# needs: bpf
# Every sample is counted once while tables are flipped all the time; and the verifier
# is far from its limit.
. /cpi/case.sh

check 'flips' /cpi/t/bench/flips -F 1000 -r 200 -s 1
check 'flips by the grace period' /cpi/t/bench/flips -F 1000 -g -r 200 -s 1
check 'the verifier' /cpi/t/bench/verified
