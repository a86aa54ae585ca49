#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Text has plain names for code and samples that have none; CSV keeps the names for programs.
. "$srcdir/t/tap.sh"
need sqlite3

CPI_DB=names.db
export CPI_DB
for n in 0 1 2 3; do
	echo "a 10 1000 prog:[0x10]=1000 prog:main=$((3000 + n)) prog:walk=900 v1:common=500"
	echo "b 10 1000 prog:[0x10]=2000 prog:main=$((3000 - n)) prog:walk=901 v1:common=500"
done | "$builddir/t/runsdb" names.db || bail "no database"
stream=$(sqlite3 names.db 'SELECT min(id) FROM stream')
for name in anonymous no_process map_gap; do
	sqlite3 names.db "INSERT INTO loss (epoch, kind, stream, class, name, n)
		SELECT 1, 0, $stream, 0, '$name', 7;
		UPDATE tally SET received = received + 7 WHERE epoch = 1" || bail "cannot add $name"
done

plan 15

cpi prof --epoch 1 >text 2>/dev/null
like "$(cat text)" '  prog+0x10 (stripped)  *prog$' "code without a symbol is named by its image and offset"
like "$(cat text)" '  \[JIT or generated code\]  *anonymous$' "code without a file is called generated"
like "$(cat text)" '  \[process ended before it was seen\]  *no_process$' \
	"an unknown process is said to have ended"
like "$(cat text)" '  \[unknown\]  *map_gap$' "other reasons are unknown"
cpi prof --epoch 1 --format=csv >csv 2>/dev/null
is "$(grep "^1000," csv | cut -d, -f5,6)" "[0x10],prog" "CSV has the offset alone"
is "$(grep -c ',\[unknown\],' csv)" 3 "CSV has [unknown] and the reason"
like "$(cpi list --epoch 1 prog+0x10 2>/dev/null)" '^Procedure prog+0x10 (stripped) in prog' \
	"cpi list takes the name that text shows"
like "$(cpi list --epoch 1 'prog+0x10 (stripped)' 2>/dev/null)" '^Procedure prog+0x10 ' \
	"cpi list takes the whole name"
echo 'stacks 10 1000 prog:main;prog:[0x10]=100' | "$builddir/t/runsdb" stacks.db ||
	bail "no database of stacks"
like "$(cpi tree --db stacks.db)" ' prog+0x10 (stripped)  *prog$' "cpi tree names code without a symbol"
is "$(cpi tree --db stacks.db --format=csv | grep -c ',\[0x10\],')" 1 "CSV of cpi tree has the offset alone"
like "$(cpi diff a b)" ' prog+0x10 (stripped)  *prog ' "cpi diff names code without a symbol"
like "$(cpi stats a)" ' prog+0x10 (stripped)  *prog$' "cpi stats names code without a symbol"

# A process can name itself so.
echo 'line 10 1000 prog:main=100' | "$builddir/t/runsdb" line.db || bail "no database of a command"
sqlite3 line.db "INSERT INTO comm SELECT epoch, 'two' || char(10) || 'lines', image, stream, 100
	FROM profile" || bail "no command"
like "$(cpi prof --db line.db --by comm --format=json 2>/dev/null)" '"comm": "two.u000alines"' \
	"a command with a newline has its whole name"

# Who may read a database of root's.
if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null; then
	skip 2 "needs root and setpriv to be somebody else"
	exit 0
fi
chmod 755 .
cp "$(command -v cpi)" own-cpi # another user may not enter the build
refused()
{
	as_nobody ./own-cpi prof --db "$PWD/names.db" 2>&1
}
chmod 640 names.db
chgrp 0 names.db
like "$(refused)" 'readable by root only (group root): start cpid with --group cpi' \
	"a database of the group root: the message says how to share it"
chgrp daemon names.db
like "$(refused)" 'be a member of group daemon to read it' "the message names the group"
