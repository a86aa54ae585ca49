#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Wrong command lines, missing files and damaged databases get an error message that
# says what is wrong.
. "$srcdir/t/tap.sh"

# fails STATUS PATTERN NAME COMMAND...: the command exits with STATUS, and a line on
# stderr matches PATTERN.
fails()
{
	want=$1 pattern=$2 name=$3
	shift 3
	"$@" >out 2>err
	is "$?" "$want" "$name: cpi exits with $want"
	like "$(cat err)" "$pattern" "$name: the message says why"
}

"$builddir/t/mkdb" good.db "$builddir/t/target" || bail "mkdb failed"

plan 133

cpi >out 2>err
is "$?$(cat err)" 2 "cpi alone exits with 2"
is "$(cat out)" "$(cpi help)" "cpi alone prints what cpi help prints"
fails 2 "no command 'porf': did you mean 'prof'" "a mistyped command" cpi porf
fails 2 "no command 'anotate': did you mean 'annotate'" "a mistyped alias" cpi anotate
fails 2 "no command 'xyzzy': see" "a command unlike any other" cpi xyzzy
fails 2 "no option --fromat: did you mean --format" "a mistyped option" \
	cpi prof --fromat=csv
fails 2 "no option -x" "an unknown letter" cpi prof -x
fails 2 "no option -x" "an unknown letter in a cluster" cpi prof --idle -xz
fails 2 "say one of text|json|csv" "an unknown format" cpi prof --format=xml
fails 2 "not a number" "a negative limit" cpi prof --limit=-1
fails 2 "needs a value" "an option without its value" cpi prof --limit
fails 2 "takes no value" "a flag with a value" cpi prof --idle=yes
fails 2 "one argument too many" "an argument too many" cpi prof main
fails 2 "needs " "an argument too few" cpi list
fails 2 "say one of --source" "two forms of a listing" cpi list -a -b main
fails 2 "are for the formats of viewers" "call stacks for a compiler" \
	cpi export --db good.db --format=llvm-sample --stacks
fails 2 "is for the formats of compilers" "a newer build for a viewer" \
	cpi export --db good.db --format=collapsed --to=prog
fails 2 "compare all procedures" "a limit for one procedure" \
	cpi diff --db good.db 1 1 main --limit=3
fails 2 "say list" "an unknown verb of cpi epoch" cpi epoch rename
fails 2 "'x' is not the number of a process" "a word for a process" cpi register x
is "$(grep -c '^cpi: ' err)" 1 "a word for a process: there is no other message"
fails 2 "a period is a number from 1 to" "a period that is too long" \
	cpi record -e cpu-clock@18446744073709551616 -o no.db -- true
fails 2 "not a number from" "a rate below the lowest" \
	cpi record -F 1e-300 -o no.db -- true
fails 2 "duration=2e9: not a number from" "a duration of more than 31 years" \
	cpi record -d 2e9 -o no.db -- true
fails 2 "not a number" "a limit of more than 64 bits" \
	cpi prof --limit=18446744073709551616
fails 1 "is no epoch" "a year with no epoch" cpi prof --db good.db --epoch 9999
fails 2 "not a rate" "a negative rate" cpi rate -- -5
fails 1 "record -o none.db" "a missing database" cpi prof --db none.db
fails 1 "no cpid listens" "no daemon" cpi flush --socket none.sock
fails 1 "no epoch 'none'" "an unknown epoch" \
	cpi prof --db good.db --epoch none
fails 1 "neither a label" "a range with three ends" cpi prof --db good.db --epoch 1..2..3
fails 1 "events: " "an event that was not recorded" cpi prof --db good.db --event cycles
fails 1 "say time, samples" "an unknown order" cpi prof --db good.db --sort size
for kind in comm cgroup label process; do
	fails 1 "record --by $kind" "cpi prof --$kind without profiles by $kind" \
		cpi prof --db good.db --$kind sh
	[ $kind = comm ] && continue
	fails 1 "record --by $kind" "cpi prof --by $kind without profiles by $kind" \
		cpi prof --db good.db --by $kind
done
fails 1 "by comm and label together: collect them with 'cpid --by comm,cgroup,label'" \
	"two kinds of contexts without profiles by them" \
	cpi prof --db good.db --comm sh --label x
fails 1 "by comm and cgroup together" "rows by command of one container" \
	cpi stats --db good.db --by comm --container x
fails 1 "by cgroup: collect" "a unit without profiles by cgroup" \
	cpi prof --db good.db --unit x
fails 2 "stand alone" "rows by procedure and command" \
	cpi prof --db good.db --by procedure,comm
fails 2 "say some of" "rows by an unknown kind" cpi prof --db good.db --by comm,colour
fails 1 "'cpi record --by thread'" "rows by thread without profiles by thread" cpi prof --db good.db --by thread
fails 1 "--by process" "rows by process id" cpi prof --db good.db --by pid
fails 2 "is no label" "a label with a space" cpi label "a b" true
fails 2 "is no label" "an empty label" cpi label "" true
fails 2 "needs a command" "a label without a command" cpi label x --
fails 2 "say some of" "contexts of an unknown kind" cpi record --by comm,colour -- true
fails 1 "no procedure of that name" "an unknown procedure" \
	cpi list --db good.db nothing
fails 1 "with --image" "an offset without an image" cpi list --db good.db 0x10

# Files that are no database, and damaged databases.
echo "no database" >text.db
: >empty.db
head -c 20000 good.db >cut.db
cp good.db bad.db
printf 'garbage garbage garbage garbage' |
	dd of=bad.db bs=1 seek=30000 conv=notrunc 2>/dev/null
mkdir dir.db
mkfifo fifo.db
for db in text empty cut dir fifo; do
	fails 1 "$db.db" "cpi prof on $db.db, which is no database" timeout 300 cpi prof --db \
		"$db.db"
done
timeout 300 cpi cat --check --db bad.db >out 2>err
status=$?
[ $status -eq 0 ] || [ $status -eq 1 ]
ok $? "a damaged page does not crash cpi cat --check"
cp good.db blob.db
if command -v python3 >/dev/null; then
	python3 - <<-'END'
	import sqlite3
	db = sqlite3.connect("blob.db")
	db.execute("UPDATE profile SET counts = x'0001ff' WHERE epoch = 1")
	db.commit()
	END
	fails 1 "the data ends too early" "cpi cat --check on a profile that does not decode" \
		cpi cat --check --db blob.db
	fails 1 "blob.db" "cpi prof on a profile that does not decode" \
		cpi prof --db blob.db --epoch 1
	python3 - <<-'END'
	import sqlite3
	sqlite3.connect("foreign.db").execute("CREATE TABLE a (b)")
	END
	fails 1 "foreign.db" "another program's database" cpi prof --db foreign.db
else
	skip 6 "no python3 to change a database with"
fi

# The rest of the interface.
is "$(cpi --version | sed 's/ [0-9].*//')" "cpi" "cpi --version starts with the name"
is "$(cpi --help | head -n 1)" "usage: cpi COMMAND [OPTION...] [ARGUMENT...]" \
	"cpi --help starts with the usage"
cpi prof --db good.db 2>/dev/null >/dev/full
is "$?" 1 "a full disk under the output is an error"
CPI_DB=good.db cpi prof --limit 1 >out
like "$(cat out)" "^web1, " "CPI_DB names the database"
cp good.db cpi.db
CPI_DB=good.db cpi prof >out 2>err
is "$(cat err)" "" "CPI_DB goes before cpi.db in the current folder"
cpi prof --db good.db >out 2>err
is "$(cat err)" "" "--db goes before cpi.db in the current folder"
if [ -e /var/lib/cpi/cpi.db ]; then
	skip 3 "this machine has a database of cpid"
else
	cpi prof --limit 1 >out 2>err
	like "$(cat out)" "^web1, " "cpi.db in the current folder is read by default"
	is "$(cat err)" "cpi: reading ./cpi.db" "a line says which database is read"
	cpi diff 1 2 2>&1 >out | grep -c reading >err
	is "$(cat err)" 1 "a report that opens the database twice says so once"
fi
rm cpi.db
cpi status --db good.db --socket none.sock --format=json 2>err >out
is "$?" 0 "cpi status without a daemon shows the database"
like "$(cat err)" "no cpid listens" "cpi status says that no daemon answers"
# Priorities are for systemd's journal, and for no other file.
JOURNAL_STREAM=1:2 cpi prof --db none.db 2>err
like "$(cat err)" "^cpi: error: " "a message to another file than the journal has no priority"
: >err
JOURNAL_STREAM=$(stat -c %d:%i err) cpi prof --db none.db 2>>err
like "$(cat err)" "^<3>cpi: error: " "a message to the journal has its priority"
