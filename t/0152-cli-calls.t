#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The file of call graphs that earlier reports have solved: it saves time, and changes
# nothing else.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cached.sh"

[ -x "$builddir/helpers/cpi-translate" ] || skip_all "windows are not built in"

cat >prog.c <<'END'
#include <stdlib.h>

__attribute__((noinline)) unsigned leaf(unsigned x)
{
	for (int i = 0; i < 20; i++)
		x = x * 7 + (x >> 3);
	return x;
}

__attribute__((noinline)) unsigned middle(unsigned x)
{
	return x & 1 ? leaf(x) ^ 1 : leaf(x + 1) + leaf(x);
}

int main(int argc, char **argv)
{
	unsigned s = 1;

	for (unsigned i = strtoul(argv[argc - 1], NULL, 10); i; i--)
		s += middle(s + i);
	return s == 12345;
}
END
cc -O2 -g -o prog prog.c || bail "cc failed"
for label in a b; do
	cpi record -v -F 999 --windows=499 -l $label -o t.db -- ./prog 40000000 >/dev/null 2>log ||
		skip_all "cannot record: $(tail -n 1 log)"
	grep -q '499 windows/s' log || skip_all "no windows here: $(grep windows log)"
done
CPI_DB=t.db
export CPI_DB

# reports: what depends on the scale of procedures. The last ones ask for other samples.
reports()
{
	cpi calc --all --epoch a --format=json && cpi sum --epoch a &&
		cpi calc leaf --epoch a --format=json &&
		cpi calc --all --epoch b --format=json && cpi sum --epoch a..b
}

# file: its inode and size, so that a file that is replaced shows.
file()
{
	stat -c '%i %s' "$folder/calls"
}

plan 16

(unset XDG_CACHE_HOME HOME; reports >without 2>err)
is "$?" 0 'without a home the reports are made'
ok $((! $(grep -c '"middle"' without) > 0)) 'the reports explain procedures'

unchanged 'the reports that write the file are the same'
is "$(stat -c %a "$folder/calls")" 600 'the file is for its owner alone'
ok $((! $(stat -c %s "$folder/calls") > 400)) 'it has call graphs'
old=$(file)
unchanged 'reports with a stored file are the same'
is "$(file)" "$old" 'the file is not written again if nothing was solved'

unchanged_if_damaged "$folder/calls" 330 0 20 60 304 312 330
unchanged 'the reports are the same with a complete file again'

# Another program at the same place has other procedures.
cp prog kept
sed 's/i < 20/i < 21/' prog.c >other.c
cc -O2 -g -o prog other.c
(unset XDG_CACHE_HOME HOME; reports >without 2>err)
unchanged 'another program at the same place is not taken for this one'
