# SPDX-License-Identifier: GPL-2.0-or-later
# windows.sh - windows of programs, compared with single steps; after tap.sh
#
# t/window_stepped compares the kernel's windows with the steps of the same instructions:
# follow_stepped(), one.txt, summary.txt. t/window_truth and t/window_qemu interpret
# themselves: follow_exact(), all.txt.

stepped=$builddir/t/window_stepped
: >summary.txt
: >all.txt

# need_stepped: skips the script where the kernel has no windows.
need_stepped()
{
	[ -x "$stepped" ] || skip_all 'windows are not built in'
	follow_stepped true || ! grep -q 'load: \|open: ' stepped.err ||
		skip_all "no windows here: $(tail -n 1 stepped.err)"
	: >summary.txt
}

# follow_stepped COMMAND...: the comparison of its windows is in one.txt, that of all
# commands in summary.txt. The command must not execute another program, because the
# stepper would not be in that one.
follow_stepped()
{
	"$stepped" "$builddir/t/stepper.so" 997 "$@" >stepped.out 2>stepped.err
	follow_status=$?
	grep -a '^# ' stepped.out
	grep -a '^[^ ]*: compared' stepped.out >one.txt
	sed 's/^/# /' one.txt
	cat one.txt >>summary.txt
	[ $follow_status -le 1 ] || sed 's/^/# /' stepped.err
	return $follow_status
}

# stepped_sum FIELD FILE: the sum of this field over the lines of a comparison.
stepped_sum()
{
	awk -v field="$1" '{ for (i = 2; i < NF; i++) if ($i == field) n += $(i + 1) }
		END { print n + 0 }' "$2"
}

# follow_exact NAME COMMAND...: COMMAND is window_truth or window_qemu with its arguments;
# fails unless all windows are exact.
follow_exact()
{
	follow_name=$1
	shift
	"$@" >one.txt
	follow_status=$?
	sed "s/^windows/# $follow_name: windows/" one.txt
	grep '^windows' one.txt >>all.txt
	return $follow_status
}

# windows_reach LEAST NAME: a test that windows have more instructions on the mean.
windows_reach()
{
	awk -v least="$1" '{ n += $2; instructions += $2 * $6 } END {
		printf "# %d windows, %.1f instructions each\n", n, n ? instructions / n : 0
		exit !(n > 100 && instructions > least * n)
	}' all.txt
	ok $? "$2"
}
