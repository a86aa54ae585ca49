#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The file of schedules that earlier analyses simulated: it saves time, and changes
# nothing else.
. "$srcdir/t/tap.sh"
. "$srcdir/t/known.sh"
. "$srcdir/t/cached.sh"
need_decoder

# reports: what the analysis says of everything.
reports()
{
	cpi calc --all --epoch full --format=json && cpi sum --epoch full &&
		cpi hot --epoch full && cpi stalls --epoch full
}

# file: its inode and size, so that a file that is replaced shows.
file()
{
	stat -c '%i %s' "$folder"/schedules-*
}

plan 18

(unset XDG_CACHE_HOME HOME; reports >without 2>err)
is "$? $(grep -vc 'images are missing, which could not be opened' err)" '0 0' \
	'without a home there is no file, and no message of it'
ok $((! $(wc -l <without) > 0)) 'there are reports to compare'

unchanged 'the reports that write the file are the same'
is "$(stat -c %a "$folder") $(stat -c %a "$folder"/schedules-*)" '700 600' \
	'folder and file are for their owner alone'
old=$(file)
unchanged 'reports with a stored file are the same'
is "$(file)" "$old" 'the file is not written again if nothing was simulated'

path=$(echo "$folder"/schedules-*)
unchanged_if_damaged "$path" 100 0 20 60 90 120
is "$(stat -c %s "$path")" "$(stat -c %s whole)" 'a complete file replaces the truncated one'

chmod 777 "$folder"
rm "$path"
unchanged 'the reports are the same if others may write to the folder'
is "$(ls "$folder" | grep '^schedules-')" '' 'no file is made in a folder to which others may write'
chmod 700 "$folder"
ln -s ../elsewhere "$path"
unchanged 'the reports are the same with a symbolic link in place of the file'
is "$(ls "$XDG_CACHE_HOME")" cpi 'the link is not followed'

# As sudo -E has it: the home is another user's.
other=$tmp/other
mkdir "$other"
chown 65534 "$other" 2>/dev/null || other=/
(unset XDG_CACHE_HOME; HOME=$other; export HOME; reports >out 2>err)
is "$(cmp out without && echo same) $(ls -A "$other" | grep -c '^[.]cache$')" 'same 0' \
	"nothing is made in another user's home"
