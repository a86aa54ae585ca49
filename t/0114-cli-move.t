#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Epochs that are exported, imported, and read from several databases at once, with
# counts that are all known (t/mkdb.c).
. "$srcdir/t/tap.sh"
. "$srcdir/t/known.sh"

mkdb()
{
	env "$@" "$builddir/t/mkdb" "$db" "$target" || bail "mkdb failed"
}
db=web2.db mkdb MKDB_HOST=web2 MKDB_RELEASE=6.6.0 MKDB_KERNEL=1
db=amd.db mkdb MKDB_HOST=amd MKDB_CPU="Other CPU"
db=arm.db mkdb MKDB_HOST=arm MKDB_ARCH=aarch64
db=cycles.db mkdb MKDB_HOST=old MKDB_CPU="Old CPU" MKDB_UNIT=cycles

plan 62

# reports DATABASE EPOCHS: everything that says something of epochs, without ids.
reports()
{
	for report in "prof" "prof --by=comm" "prof --by=image" "cat" "sum" "hot" \
		"calc --all" "list target_hot"; do
		# shellcheck disable=SC2086
		cpi $report --db "$1" --epoch "$2" --format=json 2>/dev/null |
			sed 's/^  {"id": [0-9]*,/  {/'
	done
}
reports known.db all >known.out
[ -s known.out ] || bail "no reports"

is "$(cpi epoch export e.db all)" "e.db: 3 epochs, $(stat -c %s e.db) bytes" \
	"all epochs are exported"
is "$(stat -c %a e.db)" 640 "for owner and group alone"
is "$(ls -A e.db*)" e.db "as one file"
[ "$(stat -c %s e.db)" -le "$(stat -c %s known.db)" ]
ok $? "which is not larger than the original"
reports e.db all >e.out
cmp known.out e.out
ok $? "whose reports are those of the original"
is "$(cpi epoch list --db e.db)" "$(cpi epoch list)" "with their ids"
cpi epoch export e.db 1 2>err
is "$?" 1 "a file is not replaced"
like "$(cat err)" "^cpi: error: e.db: it is there already: .*--force" "and why"
cmp known.out e.out
cpi epoch export --force e.db half 1 >out
is "$?" 0 "unless by force"
is "$(cpi epoch list --db e.db --format=csv | sed 1d | cut -d, -f1 | tr '\n' ' ')" "1 2 " \
	"with the epochs that are named, in any order"
like "$(cpi prof --db e.db --epoch all)" "^Host web1: " "it knows its host"
is "$(cpi epoch export one.db --epoch last | cut -d, -f1)" "one.db: 1 epoch" \
	"--epoch chooses, too"
unlike "$(cpi prof --db one.db --epoch all)" "^Gap: " "a gap before it is not told"
cpi epoch export - 2>err
is "$?" 2 "standard output is no file"
like "$(cat err)" "a database is no stream: name a file" "and why"
cpi epoch export x.db 7 2>err
is "$?" 1 "an epoch that is not there is not exported"
[ ! -e x.db ]
ok $? "nor is a file made"
mkfifo fifo
cpi epoch export --force fifo 1 2>err
is "$?" 1 "a FIFO is not replaced"
[ -p fifo ]
ok $? "it is still there"
"$builddir/t/mkdb" open.db || bail "mkdb failed"
cpi epoch export --db open.db o.db 2>err >out
is "$?" 0 "an open epoch is exported"
like "$(cat err)" "epoch 1 is still open: the file has what was flushed" "which is said"

cpi epoch export all.db all >out
is "$(cpi epoch import --db new.db all.db)" "$(cat <<'END'
all.db: 3 imported, 0 replaced that had grown, 0 there already
The new epochs are 1 to 3
END
)" "a new database gets them"
reports new.db all >new.out
cmp known.out new.out
ok $? "and has the reports of the original"
is "$(cpi epoch import --db new.db all.db)" \
	"all.db: 0 imported, 0 replaced that had grown, 3 there already" \
	"a second import adds nothing"
reports new.db all >new.out
cmp known.out new.out
ok $? "and changes nothing"
is "$(cpi epoch import all.db)" \
	"all.db: 0 imported, 0 replaced that had grown, 3 there already" \
	"nor does one where they come from"
reports web2.db all >web2.out
is "$(cpi epoch import --db web2.db all.db 2>err | tail -n 1)" "The new epochs are 4 to 6" \
	"another machine's database gives them ids"
like "$(cat err)" "the label 'half' is that of 1 other epochs here, too" \
	"and says which labels it has already"
is "$(cpi epoch list --db web2.db --host web1 --format=csv | sed 1d | cut -d, -f1,8,11)" \
	"$(printf '4,web1,full\n5,web1,half\n6,web1,')" "they show their host"
reports web2.db 4..6 >new.out
cmp known.out new.out
ok $? "their reports are those of the original"
reports web2.db 1..3 >new.out
cmp web2.out new.out
ok $? "those of the others stay what they were"
is "$(cpi epoch list --db web2.db --epoch last --format=csv | sed 1d | cut -d, -f8)" web1 \
	"of epochs at one time the last is the newest"
like "$(cpi cat --check --db web2.db)" "nothing is damaged" "all of it is whole"
is "$(cpi prof --db web2.db --epoch full 2>/dev/null | grep -a -c '\[kernel\]')" 4 \
	"kernels of two releases stay apart"
like "$(cpi prof --db web2.db --epoch all 2>/dev/null)" \
	"^Gap: 2026-01-02T03:02:00Z to 2026-01-02T03:11:00Z, the collector died on web2" \
	"gaps say of which machine"

cpi epoch import --db none.db missing.db 2>err
is "$?" 1 "a file that is missing is not imported"
[ ! -e none.db ]
ok $? "and no database is made for it"
head -c 5000 all.db >cut.db
cpi epoch import --db new.db cut.db 2>err
is "$?" 1 "nor is one that is cut"
echo "This is no database, however long it may be." >text.db
cpi epoch import --db new.db text.db 2>err
is "$?" 1 "nor is a text"
like "$(cat err)" "no SQLite database: name another file" "and why"
cpi epoch import --db new.db new.db 2>err
is "$?" 1 "nor the database itself"

db=web3.db mkdb MKDB_HOST=web3
is "$(cpi epoch list --db known.db --db web3.db --epoch half)" "$(cat <<'END'
 id  from                  to                    seconds  samples  edge ms  state  host  label  database
1:2  2026-01-02T03:01:00Z  2026-01-02T03:02:00Z     60.0      100       10  ended  web1  half   known.db
2:2  2026-01-02T03:01:00Z  2026-01-02T03:02:00Z     60.0      100       10  ended  web3  half   web3.db
END
)" "the epochs of two databases"
cpi prof --db known.db --db web3.db --epoch full >out 2>err
is "$(grep -a -e '^Epoch' -e '^Host' -e target_ out | sed "s#$target#TARGET#")" "$(cat <<'END'
Epoch 1:1 "full": 2026-01-02T03:00:00Z to 2026-01-02T03:01:00Z of known.db
Epoch 2:1 "full": 2026-01-02T03:00:00Z to 2026-01-02T03:01:00Z of web3.db
Host web1, web3: x86_64, 2 CPUs, Test CPU, Linux 6.1.0
     1200  60.00%   60.00%            0    0.00%  target_hot           TARGET
      600  30.00%   90.00%           24  100.00%  target_cold          TARGET
END
)" "their samples are added up"
like "$(cat err)" "epochs of several hosts, added up: web1, web3" "which is said"
like "$(cpi prof --db known.db --db web3.db --epoch 1:full,2:half 2>&1)" \
	"there is no epoch '1:full,2:half'" "labels make no list"
is "$(cpi prof --db known.db --db web3.db --epoch 1:1,2:2 2>/dev/null | grep -a -c ^Epoch)" 2 \
	"ids of each do"
cpi prof --db known.db --db web3.db --epoch 1:1,2:2,2:99 >out 2>err
like "$? $(cat out err)" "^1 .*web3.db: there is no epoch '99'" "but not one that is nowhere"
cpi epoch export first.db 1 >out
is "$(cpi prof --db web3.db --db first.db --epoch 1,2 2>/dev/null | grep -a -c ^Epoch)" 3 \
	"one that is in one alone takes no other's place"
like "$(cpi prof --db known.db --db web3.db --epoch 2:full)" "^Host web3:" "one alone"
is "$(cpi prof --db known.db --db web3.db --epoch full --host 'web[2-9]' | sed -n '/^cpu-clock/,$p')" \
	"$(cpi prof --epoch full | sed -n '/^cpu-clock/,$p')" "or one host"
is "$(cpi prof --db known.db --db all.db --epoch full | sed -n '/^cpu-clock/,$p')" \
	"$(cpi prof --epoch full | sed -n '/^cpu-clock/,$p')" "what both have counts once"
is "$(cpi prof --db known.db --db web3.db --epoch 1..2 --format=csv 2>/dev/null | grep -a -c target_hot)" 1 \
	"streams of two rates have one row"

cpi prof --db known.db --db amd.db 2>err
is "$?" 1 "different CPUs are not added up"
like "$(cat err)" "several platforms (.*Test CPU.*Other CPU.*): .*--merge-platforms" \
	"what to do is said"
cpi prof --db known.db --db amd.db --merge-platforms >out 2>err
is "$?" 0 "unless that is asked for"
like "$(cpi prof --db known.db --db amd.db --platform '*Other*' --epoch full)" "^Host amd:" \
	"or one is chosen"
cpi prof --db known.db --db cycles.db --merge-platforms 2>err
is "$?" 1 "cycles of two CPUs are never added up"
like "$(cat err)" "their cycles are no common time" "and why"
cpi prof --db known.db --db arm.db --merge-platforms 2>err
is "$?" 1 "nor is code of two architectures"
cpi prof --epoch all --host nobody 2>err
like "$(cat err)" "no such epoch of --host=nobody: there are the hosts web1" \
	"a host that is not there is told those that are"
cpi epoch label --db known.db --db web3.db 1 x 2>err
is "$?" 1 "a label is given in one database"
db=anon.db mkdb MKDB_HOST=
like "$(timeout 60 cpi prof --db known.db --db anon.db --epoch full 2>&1)" \
	"added up: web1, (no name)" "a host may have no name"
