#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs of containers: other mount and PID namespaces, other roots, overlays. Their
# files are found as they see them, and their maps by the process id inside.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
programs=$(realpath "$programs")
need unshare chroot
unshare -mpf --mount-proc true 2>/dev/null || skip_all 'no namespaces can be made here'
plan $((nr_stored_tests + 11))

mkdir -p root/tmp root/proc lower/bin upper work merged
cp "$programs/burn_a" root/inside
cp "$programs/jit" root/inside_jit
cp "$programs/burn_b" lower/bin/layered

# unknown_of COMM: its samples without an image.
unknown_of()
{
	samples "$1" '[[]unknown]'
}

collect_start -F 1000 --sweep 1s
run 'burn_a runs' "$programs/burn_a" 300
run 'burn_b runs' "$programs/burn_b" 300
run 'a program in another root runs' unshare -mpf chroot "$PWD/root" /inside 1500
run 'a program with code made at run time runs in another root' unshare -mpf chroot "$PWD/root" /inside_jit 1500 contained
if unshare -m mount -t overlay -o "lowerdir=$PWD/lower,upperdir=$PWD/upper,workdir=$PWD/work" \
	overlay merged 2>/dev/null; then
	run 'a program on an overlay runs' unshare -mpf --mount-proc sh -c "mount -t overlay -o \
		lowerdir=lower,upperdir=upper,workdir=work overlay merged &&
		merged/bin/layered 1500"
	layered=1500
else
	skip 1 'no overlay can be mounted here'
	layered=0
fi
collect_stop
check_stored
forget_maps

is "$(sql "SELECT DISTINCT a.build_id = b.build_id FROM image a, image b
	WHERE a.name = '/inside' AND b.name = '$programs/burn_a'")" 1 \
	'the program in another root has its build id'
bound "$(samples inside /inside)" '>=' 750 'the program in another root has at least half of its samples'
if [ $layered -gt 0 ]; then
	is "$(sql "SELECT DISTINCT a.build_id = b.build_id FROM image a, image b
		WHERE a.name GLOB '*/merged/bin/layered' AND b.name = '$programs/burn_b'")" 1 \
		'the program on the overlay has its build id'
else
	skip 1 'no overlay can be mounted here'
fi
bound "$(cpi prof --db "$db" --image '[[]jit:inside_jit]' --procedure contained --format=csv |
	awk -F, 'NR == 2 { print $1 }')" '>=' 750 'code made at run time in another root has its name'
is "$(unknown_of inside) $(unknown_of layered) $(unknown_of inside_jit)" '0 0 0' \
	'no sample of these programs is without an image'
