#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Windows of a program whose jumps are known, as cpid stores them: their accounting, where
# they went, and the processes that they exclude.
#
# Statistic: how often a jump was taken, of the times that control came to it: some five in
# each of about a thousand windows, in a pattern that repeats after eight rounds. The share
# of one window is wrong by 0.15 at most, so the mean has a sigma of 0.005. The bound of
# 0.025 is five of these: by chance it fails in less than one of a million runs.
CPI_TEST_COLLECTOR=bpf
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need nm readelf
[ -x "$builddir/helpers/cpi-translate" ] || skip_all 'windows are not built in'
program=$(realpath "$programs/branch")

# windows_start [OPTIONS]: starts cpid, or skips the script if the kernel has no windows.
windows_start()
{
	collect_start --windows 499 "$@"
	[ "$(cpid_field windows)" = on ] ||
		skip_all "no windows here: $(grep windows: t.log | tail -n 1)"
}

windows_start
plan 29

check_windows()
{
	cpid_ask status >status.txt
	is "$(status_sum status.txt windows_received)" \
		"$(($(status_sum status.txt windows_stored) +
			$(status_sum status.txt windows_lost.)))" \
		"status: windows: received = stored + lost, $1"
}

"$program" 3000
check_windows 'after a while'
like "$(cat status.txt)" '^window_end.length [1-9]' 'some windows have their full length'
like "$(cat status.txt)" '^window_ns_p999 [1-9]' 'the status has the time that windows take'
collect_stop
is "$(sql 'SELECT count(*) > 0, sum(stored) > 0 FROM tally WHERE kind = 2')" '1|1' \
	'windows are stored'
is "$(sql 'SELECT t.* FROM tally t WHERE kind = 2 AND received <> stored +
	(SELECT total(n) FROM loss l WHERE l.epoch = t.epoch AND l.kind = t.kind
	AND l.stream = t.stream)')" '' 'database: windows: received = stored + lost'
try 'every profile decodes' cpi cat --check --db $db

# Offsets in the file.
at()
{
	echo "$((0x$(nm "$program" | awk -v name="$1" '$3 == name { print $1 }') -
		$(bias "$program") + ${2:-0}))"
}
cpi cat --edges --db $db --format=csv >edges.csv
# taken OFFSET: how often
taken()
{
	awk -F, -v image="$program" -v from="$(printf '0x%x' "$1")" '
		$1 == "branch" && $3 == from && $9 == image { n += $5 } END { print n + 0 }' edges.csv
}
# passed OFFSET: how often control went straight on
passed()
{
	awk -F, -v image="$program" -v at="$1" -f "$srcdir/t/hex.awk" -f /dev/stdin edges.csv <<'END'
$1 == "run" && $9 == image && hex_value(substr($3, 3)) <= at && at < hex_value(substr($4, 3)) {
	n += $5
}
END { print n + 0 }
END
}
# share OFFSET WANTED: how far from it is what was taken
share()
{
	awk -v taken="$(taken "$1")" -v passed="$(passed "$1")" -v want="$2" 'BEGIN {
		d = taken + passed ? taken / (taken + passed) - want : 1
		print d < 0 ? -d : d }'
}
bound "$(taken "$(at branch_taken)")" '>=' 2000 'jumps of the program are stored'
is "$(passed "$(at branch_taken)")" 0 'the jump that is always taken was'
is "$(taken "$(at branch_not_taken)")" 0 'the jump that is never taken was not'
bound "$(share "$(at branch_some)" 0.875)" '<=' 0.025 'the jump that is taken seven of eight times was'
bound "$(share "$(at branch_pair 4)" 0.75)" '<=' 0.025 'the jump that is taken three of four times was'
awk -F, -v image="$program" -v first="$(at branch_rounds)" -v last="$(at branch_pair 12)" \
	-v known=" $(at branch_taken) $(at branch_some) $(at branch_pair 4) $(at branch_pair 11) " \
	-f "$srcdir/t/hex.awk" -f /dev/stdin edges.csv >other_jumps <<'END'
$1 == "branch" && $9 == image {
	from = hex_value(substr($3, 3))
	if (from >= first && from <= last && index(known, " " from " ") == 0)
		print
}
END
is "$(cat other_jumps)" '' 'each stored jump is one of the program'

# Processes that windows exclude.
of_program()
{
	sql "SELECT total(e.total) FROM edge e JOIN image i ON i.id = e.image
		WHERE i.name = '$program'" | sed 's/\.0$//'
}
rm -f $db*
windows_start --windows-exclude comm=bran*
"$program" 500
check_windows 'with a command excluded'
like "$(cat status.txt)" '^windows_lost.excluded [1-9]' 'windows are lost as excluded: an excluded command'
collect_stop
is "$(of_program)" 0 'no window is stored: an excluded command'

rm -f $db*
windows_start --windows-exclude label=quiet*
cpi label quietly "$program" 500
check_windows 'with a label excluded'
like "$(cat status.txt)" '^windows_lost.excluded [1-9]' 'windows are lost as excluded: an excluded label'
collect_stop
is "$(of_program)" 0 'no window is stored: an excluded label'

# A child inherits secret memory of its parent.
program=$(realpath "$programs/guarded")
rm -f $db*
windows_start
"$program" inherited 500
guarded_status=$?
check_windows 'with secret memory'
like "$(cat status.txt)" '^windows_lost.excluded [1-9]' 'windows are lost as excluded: secret memory'
collect_stop
if [ $guarded_status = 77 ]; then
	skip 1 'this kernel has no secret memory'
else
	is "$(of_program)" 0 'no window is stored: secret memory'
fi
program=$(realpath "$programs/branch")

hierarchy=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
cgroup=cpi-test-$$
if [ "$hierarchy" ] && mkdir "$hierarchy/$cgroup" 2>/dev/null; then
	rm -f $db*
	windows_start --windows-exclude cgroup=$cgroup
	sh -c "echo 0 >$hierarchy/$cgroup/cgroup.procs; exec '$program' 500"
	check_windows 'with a cgroup excluded'
	like "$(cat status.txt)" '^windows_lost.excluded [1-9]' 'windows are lost as excluded: an excluded cgroup'
	collect_stop
	is "$(of_program)" 0 'no window is stored: an excluded cgroup'
	rmdir "$hierarchy/$cgroup"
else
	skip 4 'cgroups of version 2 cannot be made here'
fi
