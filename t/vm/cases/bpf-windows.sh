# SPDX-License-Identifier: GPL-2.0-or-later
# needs: bpf
# The verifier takes the program that follows others, most windows are full, and their
# edges are those of the program that ran.
. /cpi/case.sh

cpid_start --collector bpf -F 100 --windows 499 --flush 100ms || fail 'cpid does not start'
[ "$(cpid_field windows)" = on ] || fail "no windows: $(grep windows: t.log)"
until # there are enough; the harness's own time limit ends it
	check 'the program runs' /cpi/t/programs/branch 2000
	cpid_ask status >status
	[ "$(status_sum windows_stored)" -gt 1000 ]
do
	:
done
grep '^window' status
received=$(status_sum windows_received)
lost=$(status_sum windows_lost.)
stored=$(status_sum windows_stored)
full=$(status_sum window_end.length)
check_that 'received = stored + lost' "$received == $stored + $lost"
# Code is translated after a window needed it, which takes an emulated machine a while.
translated=$(($(status_sum window_end.) - $(status_sum window_end.none) -
	$(status_sum window_end.no_code)))
check_that 'most are full, but for those that miss translated code' \
	"$full > 0.5 * $translated && $translated > 100"
cpid_stop
cpi cat --edges --db t.db --format=csv >edges.csv
taken=$(awk -F, '$1 == "branch" && $9 ~ /programs\/branch$/ { n += $5 } END { print n + 0 }' \
	edges.csv)
check_that 'jumps of the program were followed' "$taken > 1000"
check 'the database is whole' cpi cat --db t.db --check
