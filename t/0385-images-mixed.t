#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Everything at once: compilers, interpreters, code made at run time, containers, packages
# that are upgraded, programs that are replaced and deleted, and a known schedule of
# processes of 10 ms. Of the user samples of these programs 0.2 % may have no image, each
# with a reason. Of the samples of short processes 99.5 % are attributed to the program
# that ran. CPI_MIXED_SECONDS makes it longer: t/bench/what_ran.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
. "$srcdir/t/shares.sh"
need cc python3 unshare chroot
unshare -mpf --mount-proc true 2>/dev/null || skip_all 'no namespaces can be made here'
seconds=${CPI_MIXED_SECONDS:-12}
plan $((nr_stored_tests + 10))

# again COMMAND...: over and over until the time is over.
end=$(($(date +%s) + seconds))
again()
{
	while [ "$(date +%s)" -lt $end ]; do
		"$@" >/dev/null 2>&1 &
		echo "/tmp/perf-$!.map" >>maps
		wait $!
	done
}

# Removed at once: the file is there while its program runs for 200 ms of CPU time, and
# cpid looks for new programs ten times a second.
compile()
{
	cc -O2 -o "compiled.$1" "$srcdir/t/programs/burn.c" -DBURN=burn &&
		"./compiled.$1" 200 && rm -f "compiled.$1"
}

# packages: makes two versions of one that has a program.
packages()
{
	mkdir -p system/var/lib/dpkg
	: >system/var/lib/dpkg/status
	for version in a b; do
		mkdir -p "package.$version/DEBIAN" "package.$version/bin"
		cp "$programs/burn_$version" "package.$version/bin/packaged"
		printf '%s\n' 'Package: packaged' "Version: 1$version" 'Architecture: all' \
			'Maintainer: nobody' 'Description: a program' \
			>"package.$version/DEBIAN/control"
		dpkg-deb --build "package.$version" "packaged_$version.deb" >dpkg.out 2>&1 ||
			return
	done
}

# The version that was installed before runs on while the next one is unpacked.
reinstall()
{
	for version in a b; do
		dpkg --root="$PWD/system" --force-not-root --force-bad-path -i \
			"packaged_$version.deb" >>dpkg.out 2>&1
		"$PWD/system/bin/packaged" 200 &
	done
	wait
}

# Files of a mount namespace that ends with the process. Their names are removed before.
fleet()
{
	unshare -m sh -c "mount -t tmpfs fleeting '$PWD/fleeting' && cd fleeting &&
		cp '$programs/burn_a' fleeting && { ./fleeting $1 & rm fleeting; wait; }"
}

# The programs run in turn, 20 processes of 10 ms each, and their CPU time is known.
schedule()
{
	for program in short_a short_b short_c; do
		echo "$program $("$programs/spawn" 20 1 10 "$PWD/$program")" >>schedule.txt
	done
}

# As package managers do: the new file gets the name of the one that runs.
upgrade()
{
	for program in burn_a burn_b; do
		cp "$programs/$program" upgraded.new
		mv upgraded.new upgraded
		"$PWD/upgraded" 200
	done
}

# Files that a container's program writes vanish with it, so cpid reads them at sweeps.
contained()
{
	unshare -mpf chroot "$PWD/root" /inside 200
	unshare -mpf chroot "$PWD/root" /jit_inside 3000 made_inside
}

count='
import collections, sys
words = collections.Counter(str(i * 7919 % 1009) for i in range(200000))
sys.exit(0 if words else 1)'

mkdir -p root/tmp fleeting
: >schedule.txt
for name in a b c; do
	cp "$programs/burn_$name" short_$name
done
cp "$programs/burn_a" root/inside
# Names of this test alone: samples of other programs are not judged.
cp "$programs/jit" root/jit_inside
cp "$programs/jit" jit_mixed
collect_start -F 1000 --sweep 2s
pids=
start()
{
	again "$@" &
	pids="$pids $!"
}
start compile 1
start python3 -c "$count"
start upgrade
start contained
start schedule
for ms in 5 20 50; do
	start fleet $ms
done
if packages; then
	start reinstall
fi
start "$programs/memfd" "$programs/burn_b" 100
start "$PWD/jit_mixed" -d 100 made
if command -v node >/dev/null; then
	start node --perf-basic-prof "$srcdir/t/programs/jit.js" 2000
fi
# shellcheck disable=SC2086
wait $pids
ok $? 'all programs run'
collect_stop
check_stored
xargs rm -f <maps
rm -f jit-*.dump isolate-*.log

# Other processes of this machine are not judged.
ours="'cc', 'cc1', 'as', 'collect2', 'ld', 'compiled.1', 'python3', 'upgraded', 'inside',
	'jit_inside', 'jit_mixed', 'memfd', 'program', 'node', 'burn_b', 'unshare', 'cp', 'mv', 'rm', 'sh', 'fleeting', 'packaged', 'dpkg',
	'dpkg-deb', 'tar', 'spawn', 'mount', 'short_a', 'short_b', 'short_c'"
note "$(sql "SELECT comm, sum(n), sum(n * (image = 0)) FROM comm WHERE comm IN ($ours)
	GROUP BY comm ORDER BY 2 DESC")"
note "reasons: $(sql 'SELECT name, sum(n) FROM loss WHERE kind = 0 GROUP BY name')"
user="SELECT %s FROM comm c JOIN image i ON i.id = c.image
	WHERE c.comm IN ($ours) AND i.kind NOT IN (1, 2, 4, 5)"
# shellcheck disable=SC2059
all=$(sql "$(printf "$user" 'sum(n)')")
# shellcheck disable=SC2059
unknown=$(sql "$(printf "$user" 'total(n * (c.image = 0))')" | sed 's/\.0$//')
bound "$all" '>=' $((seconds * 400)) 'the programs have enough samples'
share_at_most "$unknown" "$all" 0.002 'at most 0.2 % of their user samples have no image'
is "$(sql "SELECT n FROM loss WHERE kind = 0 AND name NOT IN ('ambiguous', 'map_gap', 'no_process',
	'no_mapping', 'anonymous', 'special', 'image_limit', 'kernel_unmapped')")" '' \
	'each sample without an image has a reason that cpid(8) names'
is "$(sql "SELECT i.name FROM image i JOIN profile p ON p.image = i.id JOIN comm c
	ON c.image = i.id AND c.comm IN ('upgraded', 'inside', 'compiled.1', 'program',
	'packaged')
	WHERE i.kind = 0 AND i.build_id = x'' GROUP BY i.id")" '' 'each file was read before it was removed'
note "fleeting files: $(sql "SELECT total(n), total(n * (i.build_id = x'')) FROM comm c
	JOIN image i ON i.id = c.image WHERE comm = 'fleeting' AND i.kind = 0" |
	sed 's/|/ samples, not read in time: /')"

# The schedule: the CPU time and the samples of each program.
attributed=0
for name in short_a short_b short_c; do
	ms=$(awk -v name=$name '$1 == name { n += $2 } END { print n }' schedule.txt)
	all=$(samples $name '*')
	own=$(sql "SELECT total(c.n) FROM comm c JOIN image i ON i.id = c.image
		WHERE c.comm = '$name' AND (i.name LIKE '%/$name' OR i.kind IN (1, 2, 3, 4))" |
		sed 's/\.0$//')
	foreign=$(sql "SELECT total(c.n) FROM comm c JOIN image i ON i.id = c.image
		WHERE c.comm <> '$name' AND c.comm <> 'spawn' AND i.name LIKE '%/$name'" |
		sed 's/\.0$//')
	note "$name: $ms ms of CPU time, $all samples, $own its own, $foreign with others"
	attributed=$((attributed + own))
	share_at_least "$own" $((all + foreign)) 0.995 \
		"$name: 99.5 % of its samples are attributed to it"
done
taken=$(awk '{ n += $2 } END { print n }' schedule.txt)
# A busy host delays timers, which costs samples.
bound "$((attributed * 100))" '>=' $((taken * 50)) \
	'the short programs have at least half of the samples that their CPU time promises'
