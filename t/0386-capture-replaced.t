#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs and libraries that are replaced and deleted: what is shown of their epoch is
# byte for byte what it was.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need gcc g++ objcopy strip unshare chroot cmp
plan 29

source=$srcdir/t/programs
origin='-Wl,-rpath,$ORIGIN'

# Everything that can be asked of a database about the programs here, into OUT: reports OUT
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

# same BEFORE AFTER NAME: the reports are, and say something.
same()
{
	diff -rq "$1" "$2" | sed 's/^/# /'
	diff -rq "$1" "$2" >/dev/null
	ok $? "$3"
	is "$(find "$1" -size 0)" '' "$3: and none is empty"
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

# What replaces them: names and build ids may be the same, the code is not.
replace_all()
{
	mv p gone && mkdir p
	for replaced in $programs_here lib.so c_split.debug; do
		cp "$(command -v sort)" "p/$replaced"
	done
	rm p/c_pie # of this one there is nothing
}

# cpi record
cpi record -o "$db" -e cpu-clock -F 2000 -- sh -c "cd p && for i in $programs_here; do
	./\$i 250; done" >out 2>err
ok $? 'programs are recorded'
is "$(sql "SELECT name FROM image WHERE kind = 0 AND name GLOB '$PWD/p/*' AND
	id NOT IN (SELECT image FROM capture)")" '' 'all of them are captured'
reports before
replace_all
reports after
same before after 'replaced after cpi record'
like "$(cat 'after/list c_pie:replaced_table.text')" 'jmp' 'there is code'
like "$(cat 'after/list --source c_split:replaced_table.text')" 'return x / 7' \
	'and source, of lines from a debug file'
like "$(cat 'after/calc c_pie:replaced_table.text')" 'strlen\|replaced.c' \
	'blocks have their lines'
like "$(cat 'after/prof --limit 500.text')" 'std::__introsort_loop' 'and C++ its names'

# Another file with the same build id is another image.
id=$(readelf -n gone/c_pie | sed -n 's/.*Build ID: //p')
(cd gone && gcc -g -O1 -fno-pie -no-pie "$source/replaced.c" -L. -l:lib.so $origin \
	-o ../forged -Wl,--build-id=0x"$id") || bail 'no build id can be forged'
cp forged p/c_pie
cpi list --db "$db" c_pie:replaced_table >forged.list 2>err
cmp -s forged.list 'before/list c_pie:replaced_table.text'
ok $? 'a forged build id changes no listing of what ran'
rm -rf p && mv gone p && cp forged p/c_forged
cpi record -o forged.db -e cpu-clock -F 2000 -- p/c_forged 300 >out 2>err
mv p/c_forged p/c_old && cp p/c_pie p/c_forged
cpi record -o forged.db -e cpu-clock -F 2000 -- p/c_forged 300 >out 2>err
is "$(sql "SELECT count(*), count(DISTINCT build_id), count(DISTINCT content) FROM image
	WHERE name GLOB '*/c_forged'" forged.db)" '2|1|2' \
	'two files of one path and build id are two images'
is "$(sql "SELECT count(DISTINCT image) FROM capture JOIN image ON id = image
	WHERE name GLOB '*/c_forged'" forged.db)" 2 'and are captured apart'
rm p/c_forged p/c_old

cpi record -o off.db -e cpu-clock -F 1000 -- sh -c 'cd p && ./c_pie 100' >out 2>err
is "$(sql 'SELECT count(*) > 0 FROM capture' off.db)" 1 'a short run is captured too'

# cpid
rm -f "$db"
mkdir -p root/p && cp p/c_stripped root/p/inside
collect_start -F 1000 --sweep 1s
(
	cd p && for i in c_pie c_split cc_pie; do
		./$i 250
	done
) >out
ok $? 'programs run'
captured()
{
	[ "$(sql "SELECT count(DISTINCT image) FROM capture JOIN image ON id = image
		WHERE name = '$1'")" -ge 1 ]
}
cp p/c_pie p/deleted
"$PWD/p/deleted" 1500 >out &
pid=$!
is_running() { [ "$(readlink "/proc/$pid/exe")" = "$PWD/p/deleted" ]; }
await 10 is_running
has_run() { [ "$(awk '{ print $14 }' "/proc/$pid/stat")" -ge 50 ]; }
await 600 has_run
mv p/deleted kept
wait $pid
ok $? 'a program that is deleted meanwhile runs'
run 'a program in a root of its own' unshare -mp --fork sh -c "
	mount -t tmpfs none root && mkdir -p root/p root/lib root/lib64 &&
	cp p/c_pie root/p/inside && cp p/lib.so root/lib &&
	cp \$(ldd p/c_pie | grep -o '/lib/[^ ]*') root/lib &&
	cp /lib64/ld-linux-x86-64.so.2 root/lib64 2>/dev/null ||
	cp /lib/ld-linux-aarch64.so.1 root/lib
	LD_LIBRARY_PATH=/lib exec chroot root /p/inside 800"
cpi flush --socket t.sock >out
settled() { [ "$(cpid_field captures_waiting)" = 0 ]; }
await 600 settled
ok $? 'nothing waits after a while'
like "$(cpid_field capture)" on 'cpid says that it captures'
bound "$(cpid_field capture_bytes)" '>' 0 'and how much'
collect_stop
for name in "$PWD/p/deleted" /p/inside "$PWD/p/c_split"; do
	captured "$name"
	ok $? "captured: ${name##*/}"
done
mv kept p/deleted
reports cpid_before
cpi list --asm --db "$db" --image '*/p/deleted' replaced_table >deleted.before 2>err
mv p/deleted kept
replace_all
reports cpid_after
same cpid_before cpid_after 'replaced after cpid'
cpi list --asm --db "$db" --image '*/p/deleted' replaced_table >deleted.after 2>err
cmp -s deleted.before deleted.after
ok $? 'a program that was deleted while it ran'
like "$(cpi list --asm --db "$db" --image /p/inside replaced_table 2>&1)" 'jmp' \
	'a program of a mount namespace that is gone has its code'
like "$(cpi prof --by line --db "$db" --image /p/inside 2>&1)" 'replaced.c' 'and lines'
is "$(cpi status --db "$db" --format=json 2>/dev/null |
	sed -n 's/.*"captured_bytes": *\([0-9]*\).*/\1/p' | grep -c '^[1-9]')" 1 \
	'cpi status knows of captures from the database alone'
try 'every profile decodes' cpi cat --db "$db" --check
