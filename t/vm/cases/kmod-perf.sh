# SPDX-License-Identifier: GPL-2.0-or-later
# The module and perf see the same run of the same programs alike: the shares of
# procedures differ by no more than those of two random samples do.
# needs: module
# long: arm64
. /cpi/case.sh

programs=/cpi/t/programs
# For as long as it takes to get enough samples, whatever the host's load is.
cat >workload <<EOF
. /cpi/case.sh
$programs/split >/dev/null &
while
	$programs/spawn 12 2 50 $programs/burn_a $programs/burn_b $programs/burn_c
	cpid_ask flush >/dev/null
	[ "\$(samples procedure split_three)" -lt 250 ]
do :; done
kill -TERM \$!
EOF
record_both()
{
	rm -f t.db* p.db*
	cpid_start --collector kmod -F 2000 || fail 'cpid does not start'
	check 'record' cpi record -a -F 2000 -o p.db -- sh workload
	cpid_ask flush >/dev/null
	check_accounting
	cpid_stop
	profile procedure >kmod
	profile procedure --db p.db >perf
}

# The emulated PMU now and then hardly interrupts for a second counter of cycles, which
# leaves nothing to compare.
module_load
for _ in 1 2 3; do
	record_both
	[ "$(awk '{ n += $1 } END { print n + 0 }' perf)" -lt 600 ] || break
done
module_unload

# Chi-square of homogeneity, 4 degrees of freedom: above 30 once in 200,000 runs.
awk -F '\t' '
	BEGIN {
		for (i = split("split_three split_one burn_a burn_b burn_c", names, " "); i; i--)
			kmod[names[i]] = perf[names[i]] = 0
	}
	!($2 in kmod) { next }
	FILENAME == "kmod" { kmod[$2] += $1; nk += $1 }
	FILENAME == "perf" { perf[$2] += $1; np += $1 }
	END {
		for (i in kmod) {
			print i, kmod[i], perf[i]
			if (kmod[i] && perf[i])
				seen++
			chi += (kmod[i] * np - perf[i] * nk) ^ 2 / (kmod[i] + perf[i]) / nk / np
		}
		printf "chi-square %.1f\n", chi
		exit !(seen == 5 && nk >= 500 && np >= 500 && chi < 30)
	}' kmod perf || fail 'the shares differ'
