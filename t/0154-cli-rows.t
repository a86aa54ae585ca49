#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The rows by procedure that earlier reports have made: they save time, and change nothing
# else.
. "$srcdir/t/tap.sh"
. "$srcdir/t/known.sh"
. "$srcdir/t/cached.sh"
command -v objcopy >/dev/null || skip_all 'objcopy is not installed'

# reports: with what they say of images that cannot be opened.
reports()
{
	cpi prof --epoch all --limit 0 --format=json 2>&1 &&
		cpi prof --epoch all --event cycles --idle --limit 0 --format=csv 2>&1 &&
		cpi prof --epoch all -v 2>&1 &&
		cpi list --epoch all --image "${target##*/}" 0x1000 2>&1
	return 0
}

# files: inodes, so that a file that is replaced shows.
files()
{
	stat -c '%n %i' "$folder"/rows-* 2>/dev/null
}

plan 25

(unset XDG_CACHE_HOME HOME; reports >without)
ok $((! $(grep -c '"target_hot"' without) > 0)) 'the reports name procedures'

unchanged 'the reports that write the files are the same'
is "$(stat -c %a "$folder"/rows-* | sort -u)" 600 'the files are for their owner alone'
old=$(files)
ok $((! $(echo "$old" | wc -l) >= 2)) 'another selection has a file of its own'
unchanged 'reports with kept rows are the same'
is "$(files)" "$old" 'no file is written again if nothing has changed'

for file in "$folder"/rows-*; do
	unchanged_if_damaged "$file" $(($(stat -c %s "$file") / 2)) 0 20 60 304 400
	is "$(cmp "$file" whole && echo same)" same 'a complete file replaces the truncated one'
	break
done

# Content that is wrong although its sum is right: a report may differ, but it ends.
if command -v python3 >/dev/null; then
	MKDB_TICKS=yes "$builddir/t/mkdb" ticks.db "$target" || bail 'mkdb failed'
	rm "$folder"/rows-*
	cpi prof --db ticks.db --epoch full >out 2>err
	file=$(echo "$folder"/rows-*)
	cp "$file" whole
	for seed in $(seq 40); do
		for report in prof 'list target_hot'; do
			cp whole "$file"
			python3 "$srcdir/t/rows_forge.py" "$file" "$seed" || echo "forge $seed"
			# shellcheck disable=SC2086 # two words
			timeout 60 cpi $report --db ticks.db --epoch full >out 2>err
			[ $? -le 1 ] || echo "$report $seed"
		done
	done >ended
	is "$(cat ended)" '' 'no forged file ends a report'
else
	skip 1 'python3 is missing'
fi

# A debug file goes, and comes back.
objcopy --only-keep-debug "$target" "$target.debug"
strip "$target"
objcopy --add-gnu-debuglink="$target.debug" "$target"
"$builddir/t/mkdb" linked.db "$target" || bail 'mkdb failed'
CPI_DB=linked.db
(unset XDG_CACHE_HOME HOME; reports >without)
ok $((! $(grep -c '"target_hot"' without) > 0)) 'a debug file has the names'
unchanged 'the reports with names of a debug file are the same'
unchanged 'they are the same with kept rows'
mv "$target.debug" gone
(unset XDG_CACHE_HOME HOME; reports >without)
is "$(grep -c '"target_hot"' without)" 0 'without the debug file there are no names'
unchanged 'kept rows are not used after a debug file was removed'
cp gone "$target.debug"
(unset XDG_CACHE_HOME HOME; reports >without)
ok $((! $(grep -c '"target_hot"' without) > 0)) 'with the debug file there are names again'
unchanged 'kept rows are not used after a debug file was installed'

# What cannot be opened is said each time.
rm "$target"
(unset XDG_CACHE_HOME HOME; reports >without)
ok $((! $(grep -c 'its procedures have no names' without) > 0)) 'a program that is gone is named'
unchanged 'kept rows are not used after a program was removed'
unchanged 'a program that is gone is named with kept rows, too'

# Other epochs have other rows.
cpi prof --epoch 1 --limit 0 --format=json >out
(unset XDG_CACHE_HOME HOME; cpi prof --epoch 1 --limit 0 --format=json >expected)
is "$(cmp out expected && echo same)" same 'rows of other epochs are not used'
