#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Epochs are exported, imported, and read from several databases at once. Every count is
# known (t/mkdb.c).
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

plan 63

# reports DATABASE EPOCHS: the JSON of every report about the epochs, without ids.
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
	"cpi epoch export writes all epochs"
is "$(stat -c %a e.db)" 640 "the exported file is readable by owner and group alone"
is "$(ls -A e.db*)" e.db "the export leaves no other file"
[ "$(stat -c %s e.db)" -le "$(stat -c %s known.db)" ]
ok $? "the exported file is not larger than the database"
reports e.db all >e.out
cmp known.out e.out
ok $? "the exported epochs have the reports of the original"
is "$(cpi epoch list --db e.db)" "$(cpi epoch list)" "the exported epochs keep their ids"
cpi epoch export e.db 1 2>err
is "$?" 1 "cpi epoch export does not replace a file"
like "$(cat err)" "^cpi: error: e.db: it exists already: .*--force" \
	"the message says to use --force"
cmp known.out e.out
cpi epoch export --force e.db half 1 >out
is "$?" 0 "--force replaces a file"
is "$(cpi epoch list --db e.db --format=csv | sed 1d | cut -d, -f1 | tr '\n' ' ')" "1 2 " \
	"an export has the epochs that were named"
like "$(cpi prof --db e.db --epoch all)" "^web1, " "an export knows its host"
is "$(cpi epoch export one.db --epoch last | cut -d, -f1)" "one.db: 1 epoch" \
	"--epoch chooses the epochs to export"
unlike "$(cpi prof --db one.db --epoch all)" "^Gap: " "an export has no gap before its first epoch"
cpi epoch export - 2>err
is "$?" 2 "an export to standard output is a usage error"
like "$(cat err)" "a database cannot be a pipe: name a file" "the message says to name a file"
cpi epoch export x.db 7 2>err
is "$?" 1 "the export of an unknown epoch fails"
[ ! -e x.db ]
ok $? "a failed export makes no file"
mkfifo fifo
cpi epoch export --force fifo 1 2>err
is "$?" 1 "an export does not replace a FIFO"
[ -p fifo ]
ok $? "the FIFO is still there"
"$builddir/t/mkdb" open.db || bail "mkdb failed"
cpi epoch export --db open.db o.db 2>err >out
is "$?" 0 "an open epoch is exported"
like "$(cat err)" "epoch 1 is still open: the file has what was flushed" \
	"the warning says that the epoch is still open"

cpi epoch export all.db all >out
is "$(cpi epoch import --db new.db all.db)" "$(cat <<'END'
all.db: 3 imported, 0 replaced that had grown, 0 there already
The new epochs are 1 to 3
END
)" "cpi epoch import makes a new database with all epochs"
reports new.db all >new.out
cmp known.out new.out
ok $? "the imported epochs have the reports of the original"
is "$(cpi epoch import --db new.db all.db)" \
	"all.db: 0 imported, 0 replaced that had grown, 3 there already" \
	"a second import adds nothing"
reports new.db all >new.out
cmp known.out new.out
ok $? "a second import changes no report"
is "$(cpi epoch import all.db)" \
	"all.db: 0 imported, 0 replaced that had grown, 3 there already" \
	"an import into the original adds nothing"
reports web2.db all >web2.out
is "$(cpi epoch import --db web2.db all.db 2>err | tail -n 1)" "The new epochs are 4 to 6" \
	"epochs imported into another machine's database get new ids"
like "$(cat err)" "the label 'half' is already in use for 1 epochs here" \
	"the warning names the labels that exist already"
is "$(cpi epoch list --db web2.db --host web1 --format=csv | sed 1d | cut -d, -f1,8,11)" \
	"$(printf '4,web1,full\n5,web1,half\n6,web1,')" "imported epochs keep their host and label"
reports web2.db 4..6 >new.out
cmp known.out new.out
ok $? "the imported epochs have the reports of the original in a mixed database"
reports web2.db 1..3 >new.out
cmp web2.out new.out
ok $? "the reports of the other epochs do not change"
is "$(cpi epoch list --db web2.db --epoch last --format=csv | sed 1d | cut -d, -f8)" web1 \
	"of epochs with the same end the last is the newest"
like "$(cpi cat --check --db web2.db)" "nothing is damaged" \
	"cpi cat --check finds no damage after an import"
is "$(cpi prof --db web2.db --epoch full 2>/dev/null | grep -a -c '\[kernel\]')" 4 \
	"kernels of two releases are separate rows"
like "$(cpi prof --db web2.db --epoch all 2>/dev/null)" \
	"^Gap: 2026-01-02T03:02:00Z to 2026-01-02T03:11:00Z, the collector died on web2" \
	"a gap names its machine"

cpi epoch import --db none.db missing.db 2>err
is "$?" 1 "the import of a missing file fails"
[ ! -e none.db ]
ok $? "a failed import makes no database"
head -c 5000 all.db >cut.db
cpi epoch import --db none.db cut.db 2>err
is "$?,$(echo none.db*)" '1,none.db*' "the failed import of a truncated file makes no database"
cpi epoch import --db new.db cut.db 2>err
is "$?" 1 "the import of a truncated file fails"
echo "This is no database, however long it may be." >text.db
cpi epoch import --db new.db text.db 2>err
is "$?" 1 "the import of a text file fails"
like "$(cat err)" "not an SQLite database: name another file" \
	"the message says that the file is no database"
cpi epoch import --db new.db new.db 2>err
is "$?" 1 "the import of a database into itself fails"

db=web3.db mkdb MKDB_HOST=web3
is "$(cpi epoch list --db known.db --db web3.db --epoch half)" "$(cat <<'END'
 id  from                  to                    seconds  samples  start uncertain by, ms  state  host  label  database
1:2  2026-01-02T03:01:00Z  2026-01-02T03:02:00Z     60.0      100                      10  ended  web1  half   known.db
2:2  2026-01-02T03:01:00Z  2026-01-02T03:02:00Z     60.0      100                      10  ended  web3  half   web3.db
END
)" "cpi epoch list --db twice lists the epochs of both databases"
cpi prof -v --db known.db --db web3.db --epoch full >out 2>err
is "$(grep -a -e '^Epoch' -e '^Host' -e target_ out | sed "s#$target#TARGET#")" "$(cat <<'END'
Epoch 1:1 "full": 2026-01-02T03:00:00Z to 2026-01-02T03:01:00Z of known.db
Epoch 2:1 "full": 2026-01-02T03:00:00Z to 2026-01-02T03:01:00Z of web3.db
Host web1, web3: x86_64, 2 CPUs, Test CPU, Linux 6.1.0
1200.0  60.00%   60.00%  target_hot           TARGET
 600.0  30.00%   90.00%  target_cold          TARGET
END
)" "samples of two databases are added up"
like "$(cat err)" "epochs of several hosts, added up: web1, web3" \
	"the warning names the hosts whose samples are added up"
like "$(cpi prof --db known.db --db web3.db --epoch 1:full,2:half 2>&1)" \
	"'1:full,2:half' is neither a label" "a list of labels of two databases is refused"
is "$(cpi prof -v --db known.db --db web3.db --epoch 1:1,2:2 2>/dev/null | grep -a -c ^Epoch)" 2 \
	"a list of ids of two databases is accepted"
cpi prof --db known.db --db web3.db --epoch 1:1,2:2,2:99 >out 2>err
like "$? $(cat out err)" "^1 .*web3.db: there is no epoch '99'" \
	"an id that no database has is an error"
cpi epoch export first.db 1 >out
is "$(cpi prof -v --db web3.db --db first.db --epoch 1,2 2>/dev/null | grep -a -c ^Epoch)" 3 \
	"an epoch that one database has is not taken from the other"
like "$(cpi prof --db known.db --db web3.db --epoch 2:full)" "^web3, " \
	"N:EPOCH chooses an epoch of one database"
is "$(cpi prof --db known.db --db web3.db --epoch full --host 'web[2-9]' | sed -n '/^cpu-clock/,$p')" \
	"$(cpi prof --epoch full | sed -n '/^cpu-clock/,$p')" \
		"--host chooses the epochs of one host"
is "$(cpi prof --db known.db --db all.db --epoch full | sed -n '/^cpu-clock/,$p')" \
	"$(cpi prof --epoch full | sed -n '/^cpu-clock/,$p')" \
		"an epoch in both databases counts once"
is "$(cpi prof --db known.db --db web3.db --epoch 1..2 --format=csv 2>/dev/null | grep -a -c target_hot)" 1 \
	"streams of two rates share one row"

cpi prof --db known.db --db amd.db 2>err
is "$?" 1 "samples of different CPUs are not added up"
like "$(cat err)" "several platforms (.*Test CPU.*Other CPU.*): .*--merge-platforms" \
	"the message lists the platforms and names --merge-platforms"
cpi prof --db known.db --db amd.db --merge-platforms >out 2>err
is "$?" 0 "--merge-platforms adds up samples of different CPUs"
like "$(cpi prof --db known.db --db amd.db --platform '*Other*' --epoch full)" "^amd, " \
	"--platform chooses one platform"
cpi prof --db known.db --db cycles.db --merge-platforms 2>err
is "$?" 1 "cycles of different CPUs are never added up"
like "$(cat err)" "their cycles are no common time" \
	"the message says that cycles differ between CPUs"
cpi prof --db known.db --db arm.db --merge-platforms 2>err
is "$?" 1 "samples of different architectures are never added up"
cpi prof --epoch all --host nobody 2>err
like "$(cat err)" "no such epoch of --host=nobody: there are the hosts web1" \
	"the message about an unknown host lists the known ones"
cpi epoch label --db known.db --db web3.db 1 x 2>err
is "$?" 1 "a label cannot be set in two databases at once"
db=anon.db mkdb MKDB_HOST=
like "$(timeout 300 cpi prof --db known.db --db anon.db --epoch full 2>&1)" \
	"added up: web1, (no name)" "a host without a name is shown as (no name)"
