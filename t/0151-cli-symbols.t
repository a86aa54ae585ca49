#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The files of procedures that earlier reports have read: they save time, and change
# nothing else.
. "$srcdir/t/tap.sh"
. "$srcdir/t/known.sh"
. "$srcdir/t/cached.sh"

# reports: what is said of procedures by name and by place.
reports()
{
	cpi prof --epoch all --limit 0 --format=json &&
		cpi prof --epoch all --by line --limit 0 --format=csv &&
		cpi list --epoch all main --format=json
}

# files: inodes and sizes, so that a file that is replaced shows.
files()
{
	stat -c '%n %i %s' "$folder"/symbols-* 2>/dev/null
}

plan 21

(unset XDG_CACHE_HOME HOME; reports >without 2>err)
is "$?" 0 'without a home the reports are made'
ok $((! $(grep -c '"main"' without) > 0)) 'the reports name procedures'

unchanged 'the reports that write the files are the same'
is "$(stat -c %a "$folder") $(stat -c %a "$folder"/symbols-* | sort -u)" '700 600' \
	'folder and files are for their owner alone'
old=$(files)
unchanged 'reports with stored files are the same'
is "$(files)" "$old" 'no file is written again if its program has not changed'

path=$(ls -S "$folder"/symbols-* | head -n 1)
unchanged_if_damaged "$path" 330 0 20 60 304 312 320 400 $(($(stat -c %s "$path") - 4))
is "$(cmp "$path" whole && echo same)" same 'a complete file replaces the truncated one'

# Its status changes, so it could have been replaced.
chmod 700 "$target"
unchanged 'the reports are the same after the status of the program has changed'
is "$(ls "$folder" | grep -c '^symbols-')" $(($(echo "$old" | wc -l) + 1)) \
	'another state of a program has a file of its own'
for file in "$folder"/symbols-*; do
	cp whole "$file"
done
unchanged 'a file that was made from another state of the program is not used'

chmod 777 "$folder"
rm "$folder"/symbols-*
unchanged 'the reports are the same if others may write to the folder'
is "$(ls "$folder" | grep '^symbols-')" '' 'no file is made in a folder to which others may write'
