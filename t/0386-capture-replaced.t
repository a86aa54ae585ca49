#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Reports on programs and libraries are the same byte for byte after these were replaced
# or deleted.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need gcc g++ objcopy strip unshare chroot cmp
plan 29

source=$srcdir/t/programs
origin='-Wl,-rpath,$ORIGIN'

# reports OUT: all reports on the programs here, into the folder OUT
reports()
{
	mkdir "$1"
	for format in text json; do
		for report in 'prof --limit 500' 'prof --by line --limit 500' 'prof --inlines' 'hot' 'stalls' \
			'sum'; do
			cpi $report --db "$db" --image "*/p/*" --format=$format \
				>"$1/$report.$format" 2>>"$1.err"
		done
		for place in c_pie:replaced_table c_split:replaced_table \
			lib.so:replaced_library cc_pie:main; do
			for report in 'list' 'list --source' 'calc'; do
				cpi $report --db "$db" --format=$format "$place" \
					>"$1/$report $place.$format" 2>>"$1.err"
			done
		done
	done
	for place in c_pie:replaced_table cc_pie:main; do
		cpi cfg --db "$db" --format=dot "$place" >"$1/cfg $place" 2>>"$1.err"
	done
	cpi calc --all --db "$db" --image "*/p/*" --format=json >"$1/all" 2>>"$1.err"
}

# check_reports BEFORE AFTER NAME: the reports in both folders are equal and not empty; 2 tests
check_reports()
{
	diff -rq "$1" "$2" | sed 's/^/# /'
	diff -rq "$1" "$2" >/dev/null
	ok $? "$3: all reports are the same"
	is "$(find "$1" -size 0)" '' "$3: no report is empty"
}

mkdir p
(
	set -e
	cd p
	gcc -g -O2 -fPIC -shared -DLIBRARY "$source/replaced.c" -o lib.so
	gcc -g -O2 -fPIE -pie "$source/replaced.c" -L. -l:lib.so $origin -o c_pie
	gcc -g -O2 -fno-pie -no-pie "$source/replaced.c" -L. -l:lib.so $origin -o c_fixed
	cp c_pie c_stripped && strip c_stripped
	gcc -gdwarf-4 -O2 -Wl,--build-id=none "$source/replaced.c" -L. -l:lib.so $origin -o c_split
	objcopy --only-keep-debug c_split c_split.debug
	strip c_split
	objcopy --add-gnu-debuglink=c_split.debug c_split
	g++ -g -O2 -fPIE -pie "$source/replaced.cc" -o cc_pie
	g++ -g -O2 -fno-pie -no-pie "$source/replaced.cc" -o cc_fixed
	cp cc_fixed cc_stripped && strip cc_stripped
) || bail 'the programs cannot be built'
programs_here='c_pie c_fixed c_stripped c_split cc_pie cc_fixed cc_stripped'

# Other files get the names of the programs.
replace_all()
{
	mv p gone && mkdir p
	for replaced in $programs_here lib.so c_split.debug; do
		cp "$(command -v sort)" "p/$replaced"
	done
	rm p/c_pie # this one is deleted
}

# cpi record
cpi record -o "$db" -e cpu-clock -F 2000 -- sh -c "cd p && for i in $programs_here; do
	./\$i 250; done" >out 2>err
ok $? 'cpi record records the programs'
is "$(sql "SELECT name FROM image WHERE kind = 0 AND name GLOB '$PWD/p/*' AND
	id NOT IN (SELECT image FROM capture)")" '' 'the code of all programs is captured'
reports before
replace_all
reports after
check_reports before after 'programs replaced after cpi record'
like "$(cat 'after/list c_pie:replaced_table.text')" 'jmp' 'cpi list has the code of a deleted program'
like "$(cat 'after/list --source c_split:replaced_table.text')" 'return x / 7' \
	'cpi list --source has the source of a replaced program, by its debug file'
like "$(cat 'after/calc c_pie:replaced_table.text')" 'strlen\|replaced.c' \
	'cpi calc has the lines of a deleted program'
like "$(cat 'after/prof --limit 500.text')" 'std::__introsort_loop' 'cpi prof has the C++ names of a replaced program'

# A different file with the same build id is a different image.
id=$(readelf -n gone/c_pie | sed -n 's/.*Build ID: //p')
(cd gone && gcc -g -O1 -fno-pie -no-pie "$source/replaced.c" -L. -l:lib.so $origin \
	-o ../forged -Wl,--build-id=0x"$id") || bail 'no build id can be forged'
cp forged p/c_pie
cpi list --db "$db" c_pie:replaced_table >forged.list 2>err
cmp -s forged.list 'before/list c_pie:replaced_table.text'
ok $? 'a file with a forged build id does not change the listing'
rm -rf p && mv gone p && cp forged p/c_forged
cpi record -o forged.db -e cpu-clock -F 2000 -- p/c_forged 300 >out 2>err
mv p/c_forged p/c_old && cp p/c_pie p/c_forged
cpi record -o forged.db -e cpu-clock -F 2000 -- p/c_forged 300 >out 2>err
is "$(sql "SELECT count(*), count(DISTINCT build_id), count(DISTINCT content) FROM image
	WHERE name GLOB '*/c_forged'" forged.db)" '2|1|2' \
	'two files of one path and build id are two images'
is "$(sql "SELECT count(DISTINCT image) FROM capture JOIN image ON id = image
	WHERE name GLOB '*/c_forged'" forged.db)" 2 'two files of one path and build id are captured separately'
rm p/c_forged p/c_old

cpi record -o off.db -e cpu-clock -F 1000 -- sh -c 'cd p && ./c_pie 100' >out 2>err
is "$(sql 'SELECT count(*) > 0 FROM capture' off.db)" 1 'a run of 100 ms is captured'

# cpid
rm -f "$db"
mkdir -p root/p && cp p/c_stripped root/p/inside
collect_start -F 1000 --sweep 1s
(
	cd p && for i in c_pie c_split cc_pie; do
		./$i 250
	done
) >out
ok $? 'programs run under cpid'
cp p/c_pie p/deleted
"$PWD/p/deleted" 1500 >out &
pid=$!
is_running() { [ "$(readlink "/proc/$pid/exe")" = "$PWD/p/deleted" ]; }
await is_running
has_run() { [ "$(awk '{ print $14 }' "/proc/$pid/stat")" -ge 50 ]; }
await has_run
mv p/deleted kept
wait $pid
ok $? 'a program that is deleted meanwhile runs'
run 'a program in a root of its own runs' unshare -mp --fork sh -c "
	mount -t tmpfs none root && mkdir -p root/p root/lib root/lib64 &&
	cp p/c_pie root/p/inside && cp p/lib.so root/lib &&
	cp \$(ldd p/c_pie | grep -o '/lib/[^ ]*') root/lib &&
	cp /lib64/ld-linux-x86-64.so.2 root/lib64 2>/dev/null ||
	cp /lib/ld-linux-aarch64.so.1 root/lib
	LD_LIBRARY_PATH=/lib exec chroot root /p/inside 800"
cpi flush --socket t.sock >out
for name in "$PWD/p/deleted" /p/inside "$PWD/p/c_pie" "$PWD/p/c_split" "$PWD/p/cc_pie"; do
	await has_captured 1 "$name" || echo "$name"
done >waits
is "$(cat waits)" '' 'all captures finish'
like "$(cpid_field capture)" on 'the status says that captures are on'
bound "$(cpid_field capture_bytes)" '>' 0 'the status has the bytes captured'
collect_stop
for name in "$PWD/p/deleted" /p/inside "$PWD/p/c_split"; do
	has_captured 1 "$name"
	ok $? "the code of ${name##*/} is captured"
done
mv kept p/deleted
reports cpid_before
cpi list --asm --db "$db" --image '*/p/deleted' replaced_table >deleted.before 2>err
mv p/deleted kept
replace_all
reports cpid_after
check_reports cpid_before cpid_after 'programs replaced after cpid'
cpi list --asm --db "$db" --image '*/p/deleted' replaced_table >deleted.after 2>err
cmp -s deleted.before deleted.after
ok $? 'the listing of a program that was deleted while it ran is the same'
like "$(cpi list --asm --db "$db" --image /p/inside replaced_table 2>&1)" 'jmp' \
	'cpi list has the code of a program whose mount namespace has ended'
like "$(cpi prof --by line --db "$db" --image /p/inside 2>&1)" 'replaced.c' 'cpi prof has the lines of a program whose mount namespace has ended'
is "$(cpi status --db "$db" --format=json 2>/dev/null |
	sed -n 's/.*"captured_bytes": *\([0-9]*\).*/\1/p' | grep -c '^[1-9]')" 1 \
	'cpi status shows captures without the daemon'
try 'every profile decodes' cpi cat --db "$db" --check
