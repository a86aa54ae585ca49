#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a wrong command line, or none of the things that it names, is told.
. "$srcdir/t/tap.sh"

# fails STATUS PATTERN NAME COMMAND...: the exit status, and stderr has PATTERN.
fails()
{
	want=$1 pattern=$2 name=$3
	shift 3
	"$@" >out 2>err
	is "$?" "$want" "$name: exit status"
	like "$(cat err)" "$pattern" "$name: message"
}

"$builddir/t/mkdb" good.db "$builddir/t/target" || bail "mkdb failed"

plan 95

fails 2 "see 'cpi help'" "no command" cpi
fails 2 "no command 'porf': did you mean 'prof'" "a mistyped command" cpi porf
fails 2 "no command 'xyzzy': see" "no command at all like it" cpi xyzzy
fails 2 "no option --fromat: did you mean --format" "a mistyped option" \
	cpi prof --fromat=csv
fails 2 "no option -x" "a letter that is no option" cpi prof -x
fails 2 "say one of text|json|csv" "a format that is none" cpi prof --format=xml
fails 2 "not a number" "a limit that is no number" cpi prof --limit=-1
fails 2 "needs a value" "an option without its value" cpi prof --limit
fails 2 "takes no value" "a flag with a value" cpi prof --idle=yes
fails 2 "one argument too many" "an argument too many" cpi prof main
fails 2 "needs " "an argument too few" cpi list
fails 2 "say one of --source" "two forms of a listing" cpi list -a -b main
fails 2 "say list" "an unknown verb" cpi epoch rename
fails 2 "no rate" "a rate that is none" cpi rate -- -5
fails 1 "record -o none.db" "a missing database" cpi prof --db none.db
fails 1 "no cpid listens" "no daemon" cpi flush --socket none.sock
fails 1 "no epoch 'none'" "an epoch that is not there" \
	cpi prof --db good.db --epoch none
fails 1 "is no epoch" "an epoch that cannot be" cpi prof --db good.db --epoch 1..2..3
fails 1 "events: " "an event that is not there" cpi prof --db good.db --event cycles
fails 1 "say time, samples" "an order that is none" cpi prof --db good.db --sort size
for kind in comm cgroup label process; do
	fails 1 "--by $kind" "profiles by $kind that were not kept" \
		cpi prof --db good.db --$kind sh
	[ $kind = comm ] && continue
	fails 1 "--by $kind" "a list by $kind that were not kept" \
		cpi prof --db good.db --by $kind
done
fails 2 "choose one" "two kinds of contexts" \
	cpi list --db good.db --comm sh --label x main
fails 2 "of another" "runs by one kind of another" \
	cpi stats --db good.db --by comm --cgroup x
fails 2 "of another" "rows of one kind of another" \
	cpi prof --db good.db --by label --cgroup x
fails 2 "is no label" "a label with a space" cpi label "a b" true
fails 2 "is no label" "an empty label" cpi label "" true
fails 2 "needs a command" "a label for nothing" cpi label x --
fails 2 "say some of" "contexts of no kind" cpi record --by comm,colour -- true
fails 1 "no procedure of that name" "a procedure that is not there" \
	cpi list --db good.db nothing
fails 1 "with --image" "an offset of no image" cpi list --db good.db 0x10

# Files that are no database, or were one.
echo "no database" >text.db
: >empty.db
head -c 20000 good.db >cut.db
cp good.db bad.db
printf 'garbage garbage garbage garbage' |
	dd of=bad.db bs=1 seek=30000 conv=notrunc 2>/dev/null
mkdir dir.db
mkfifo fifo.db
for db in text empty cut dir fifo; do
	fails 1 "$db.db" "a database that is a $db" timeout 20 cpi prof --db "$db.db"
done
timeout 20 cpi cat --check --db bad.db >out 2>err
status=$?
[ $status -eq 0 ] || [ $status -eq 1 ]
ok $? "a damaged page does not crash the check"
cp good.db blob.db
if command -v python3 >/dev/null; then
	python3 - <<-'END'
	import sqlite3
	db = sqlite3.connect("blob.db")
	db.execute("UPDATE profile SET counts = x'0001ff' WHERE epoch = 1")
	db.commit()
	END
	fails 1 "damaged\|too early\|newer" "a profile that does not decode" \
		cpi cat --check --db blob.db
	fails 1 "blob.db" "a report of it" cpi prof --db blob.db --epoch 1
	python3 - <<-'END'
	import sqlite3
	sqlite3.connect("foreign.db").execute("CREATE TABLE a (b)")
	END
	fails 1 "foreign.db" "another program's database" cpi prof --db foreign.db
else
	skip 6 "no python3 to change a database with"
fi

# The rest of the interface.
is "$(cpi --version | sed 's/ [0-9].*//')" "cpi" "cpi --version"
is "$(cpi --help | head -n 1)" "usage: cpi COMMAND [OPTION...] [ARGUMENT...]" \
	"cpi --help"
cpi prof --db good.db 2>/dev/null >/dev/full
is "$?" 1 "a full disk under the output is told"
CPI_DB=good.db cpi prof --limit 1 >out
like "$(cat out)" "^Epoch 3:" "CPI_DB names the database"
cpi status --db good.db --socket none.sock --format=json 2>err >out
is "$?" 0 "status without a daemon is that of the database"
like "$(cat err)" "no cpid listens" "and says so"
