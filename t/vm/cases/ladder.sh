# SPDX-License-Identifier: GPL-2.0-or-later
# Samples and windows of three programs, of which t/accuracy/aarch64 makes a table. Time
# goes by as instructions do: each takes 2 ns.
# needs: bpf
# arch: arm64
# long: yes
# cpus: 1
# icount: yes
# boots: 1
# limit: 3000
. /cpi/case.sh
. /cpi/t/aarch64_ladder.sh

ladder_input /cpi/t
cp /bin/sqlite3 /bin/deflate
cat >again <<-'EOF'
	. /cpi/t/aarch64_ladder.sh
	end=$(($(date +%s) + $1))
	while [ "$(date +%s)" -lt $end ]; do
		(ladder_run exec "$2" >/dev/null)
	done
EOF
for name in $ladder_names; do
	check "$name is recorded" cpi record --by=comm -F 997 -e cpu-clock -w 499 \
		-o "/carry/$name.db" -- sh again 7 "/bin/$name"
	windows=$(cpi cat --db "/carry/$name.db" --epoch all --comm "$name" --windows \
		--format=csv | awk -F , '
		NR == 1 {
			for (i = 1; i <= NF; i++)
				column[$i] = i
			next
		}
		{ n += $column["n"] }
		END { print n + 0 }')
	check_that "$name has windows" "$windows >= 500"
done
