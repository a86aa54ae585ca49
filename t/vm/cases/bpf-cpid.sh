# SPDX-License-Identifier: GPL-2.0-or-later
# needs: bpf
# Without the module cpid takes BPF by itself. Killed, it leaves no program in the kernel,
# and the next one starts at once. That finds what a program measured, and knows each
# process by its exec id, and where jumps went.
. /cpi/case.sh

# Before Linux 6.12 the verifier allows less stack than in newer kernels.
[ "$(uname -m)" != x86_64 ] || check 'the verifier' /cpi/t/bench/verified
bpf_ids >before
nothing_stays()
{
	bpf_ids >left
	cmp -s left before
}

cpid_start --collector bpf -F 1000 --flush 100ms || fail 'cpid does not start'
await_samples 100
bpf_ids >during
check_that 'programs are there' "$(wc -l <during) > $(wc -l <before)"
kill -KILL "$cpid_pid"
cpid_wait
await nothing_stays

cpid_start --collector auto --sweep 200ms -F 1000 --by comm ||
	fail 'cpid does not start again'
[ "$(cpid_field collector)" = bpf ] || fail "$(cpid_ask status)"
split_start
await_samples 1500
split_stop
# For as long as it takes to get enough samples, whatever the host's load is.
while
	/cpi/t/programs/spawn 12 2 30 /cpi/t/programs/burn_a /cpi/t/programs/burn_b
	cpid_ask flush >/dev/null
	[ "$(samples procedure burn_a)" -le 20 ] || [ "$(samples procedure burn_b)" -le 20 ]
do :; done
check_accounting
unknown=$(status_sum unknown.)
cpid_stop
await nothing_stays
cpi prof --db t.db --epoch all --limit 10
check_share --epoch all
check_that 'hardly any sample is without an image' "$unknown <= 0.005 * $received"
a=$(samples procedure burn_a) b=$(samples procedure burn_b)
check_that 'both programs were seen' "$a > 20 && $b > 20"
check_that 'each procedure is of its own program' \
	"$(samples procedure burn_a --image burn_b) == 0 && $(samples procedure burn_b --image burn_a) == 0"
check_that 'and of its own command' "$(samples procedure burn_a --comm burn_b) == 0"
cpi cat --db t.db --format=csv >counts
outcomes=$(awk -F , '
	NR == 1 {
		for (i = 1; i <= NF; i++)
			column[$i] = i
		next
	}
	{ n += $column["taken"] + $column["not_taken"] }
	END { print n + 0 }' counts)
check_that 'jumps have outcomes' "$outcomes > 50"
check 'the database is whole' cpi cat --db t.db --check
