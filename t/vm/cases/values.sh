# SPDX-License-Identifier: GPL-2.0-or-later
# Operands, targets and iterations have the values that the program gives them, by BPF
# and, on x86-64, by the module. A key that is an operand of everything is nowhere in the
# database. A process with secret memory has no windows.
# needs: bpf
# long: yes
# append: secretmem.enable=1
# limit: 900
. /cpi/case.sh

# Until code that is new here has windows, seconds pass on AArch64, where all is slower.
seconds=3
[ "$(uname -m)" = x86_64 ] || seconds=40
key=f$(tr -dc 0-9a-f </dev/urandom | head -c 15)

# values_of PROCEDURE: sets values.csv.
values_of()
{
	cpi values --db t.db --format=csv "$1" >values.csv 2>values.err ||
		fail "$1: $(cat values.err)"
}

# top KIND: of the operand of that kind with the most executions the most frequent value,
# its share, and the number of windows that saw it.
top()
{
	awk -F , -v kind="$1" -v column="${2:-3}" '
		$1 == kind {
			n[$2] += $9
			if ($9 > most[$2]) {
				most[$2] = $9
				text[$2] = $column " " $6 " " $10
			}
		}
		END {
			for (at in n)
				if (n[at] > n[best])
					best = at
			print text[best] ? text[best] : "none 0 0"
		}' values.csv
}

# check_top KIND VALUE SHARE [COLUMN]
check_top()
{
	# shellcheck disable=SC2046 # words
	set -- "$1" "$2" "$3" $(top "$1" "${4:-3}")
	echo "$1: $4 in $5 of executions, $6 windows"
	[ "$4" = "$2" ] || fail "the most frequent $1 is $4"
	check_that "the share of this $1" "($5 - $3) ^ 2 < 0.12 ^ 2"
}

# Windows of a busy emulated machine are few.
has_enough()
{
	cpid_ask flush >/dev/null || fail 'cpid does not flush'
	cpid_ask status >status
	grep '^window' status
	for wanted in operands:operands/divisor operands:calls/size operands:secret/dividend_bits \
		values:values/target; do
		cpi values --db t.db --format=csv "${wanted%/*}" >values.csv 2>values.err
		# shellcheck disable=SC2046 # words
		set -- $(top "${wanted#*/}")
		echo "$wanted: $3 windows"
		[ "$3" -ge 300 ] || return
	done
}

check_values()
{
	values_of operands:operands
	check_top divisor 10 0.75
	check_top dividend_bits 20 1
	check_top shift 3 0.75
	check_top multiplicand 7 0.75
	[ "$(uname -m)" != x86_64 ] || check_top size 24 0.81
	values_of operands:calls
	check_top size 40 0.75
	check_top alignment 8 1
	check_top second_alignment 4 1
	values_of operands:secret
	grep ^divisor values.csv && fail 'the key is a value'
	values_of values:values
	check_top target most 0.75 4
	check_top iterations 3 0.75
}

# A key that is put into a copy shows that the search finds something.
check_key()
{
	/cpi/t/find_key t.db "$key" || fail 'the key is in the database'
	rm -f copy.db
	sqlite3 t.db '.backup copy.db'
	sqlite3 copy.db "INSERT INTO mark (host, at_ns, text) VALUES ('x', 1, '$key')"
	! /cpi/t/find_key copy.db "$key" || fail 'the search finds nothing'
}

check_secret_memory()
{
	secret_ms=1000
	# What is inherited is not seen at the interrupt.
	until # cpid knew the process while it ran; the harness's own time limit ends it
		secret_ms=$((secret_ms * 2))
		/cpi/t/programs/guarded inherited "$secret_ms"
		guarded_status=$?
		cpid_ask flush >/dev/null
		cpid_ask status >status
		[ $guarded_status = 77 ] || [ "$(status_sum windows_lost.excluded)" -gt 0 ]
	do
		:
	done
	if [ $guarded_status = 77 ]; then
		echo 'this kernel has no secret memory'
		return
	fi
	grep '^windows_' status
	# What it ran before it had that memory may have windows, but none of its rounds.
	cpi calc --db t.db --image guarded approach >approach
	grep -i windows approach &&
		fail 'a process with secret memory has windows'
}

run_with()
{
	echo "values by $1"
	rm -f t.db
	cpid_start --collector "$1" -F 100 --windows 499 --values || fail 'cpid does not start'
	[ "$(cpid_field windows)" = on ] || fail "no windows: $(grep windows: t.log)"
	until # there are enough; the harness's own time limit ends it
		check 'the program runs' /cpi/t/programs/operands ${seconds}000 "$key"
		check 'the other one runs' /cpi/t/programs/values ${seconds}000
		has_enough
	do
		:
	done
	[ ! -x /cpi/t/programs/guarded ] || check_secret_memory
	cpid_stop
	check 'windows are of that source' test -n "$(sqlite3 -readonly t.db \
		"SELECT 1 FROM stream WHERE event = 'windows' AND source = '$1'")"
	check 'the database is whole' cpi cat --db t.db --check
	check_values
	check_key
}

run_with bpf
if [ -e /cpi.ko ] && [ -e /cpi/t/window_kmod ]; then
	module_load
	run_with kmod
	module_unload
fi
