#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A database of version 3 or 4 gives the same reports before and after its migration.
. "$srcdir/t/tap.sh"
need sqlite3 xz
unset CPI_DB

# Both have the same name, because reports print it.
mkdir older newer
xz -dc "$srcdir/t/fixtures/db/version3.db.xz" >older/t.db || bail 'xz fails'
cp older/t.db newer/t.db
cat >commands <<'EOF'
prof --epoch all --format=json
prof --epoch all --format=csv --by comm
prof --epoch first --by image
tree --epoch all --format=json
stats all --format=json
diff 1 2 --format=json
epoch list --format=json
status --socket none.sock --format=json
status --socket none.sock
export --format=collapsed --epoch all
cat --epoch all --format=json
cat --edges --epoch all --format=csv
cat --stacks --epoch all --format=csv
cat --intervals --epoch all --format=csv
EOF
nr_commands=$(wc -l <commands)
plan $((2 * nr_commands + 16))

# ask FOLDER: runs each command on FOLDER/t.db; the output goes to FOLDER/NUMBER.out.
ask()
{
	(
		cd "$1" || exit
		nr=0
		while read -r command; do
			nr=$((nr + 1))
			# The command is words.
			timeout 300 cpi $command --db t.db >"$nr.out" 2>"$nr.err"
			echo "$?" >"$nr.rc"
			# Paths and sizes differ.
			sed -i 's|/[^ "]*/t.db|t.db|; s/\(_bytes[": ]*\)[0-9]*/\1/' "$nr.out"
		done <../commands
	)
}

before=$(sha256sum <older/t.db)
ask older
try 'cpi cat --check finds no damage in the older database' cpi cat --check --db older/t.db
is "$(sha256sum <older/t.db)" "$before" 'reading commands do not change the older database'
is "$(sqlite3 older/t.db 'PRAGMA user_version')" 3 \
	'reading commands do not migrate the older database'

try 'a writing command migrates the database' cpi epoch label 1 first --db newer/t.db
is "$(sqlite3 newer/t.db 'PRAGMA user_version')" 9 'the migrated database has the newer version'
try 'cpi cat --check finds no damage in the migrated database' cpi cat --check --db newer/t.db
is "$(sqlite3 newer/t.db 'SELECT kind, sum(received), sum(stored),
	(SELECT sum(n) FROM loss l WHERE l.kind = t.kind) FROM tally t GROUP BY kind')" \
	"0|21261|21258|3
1|943|939|4
2|2457|1626|831" 'the migrated database has every count of the older one'
ask newer
nr=0
while read -r command; do
	nr=$((nr + 1))
	is "$(cat older/$nr.rc)" 0 "cpi $command reads the older database"
	try "cpi $command prints the same for both databases" cmp older/$nr.out newer/$nr.out
done <commands

# Version 4 is what the newer one was before its flushes could be merged.
mkdir between
sqlite3 newer/t.db ".backup between/t.db"
sqlite3 between/t.db 'DROP TABLE container; DROP TABLE access_set; DROP TABLE mark; ALTER TABLE flush DROP COLUMN merged;
	PRAGMA user_version = 4'
try 'cpi cat --intervals prints the same for version 4' sh -c \
	'cpi cat --intervals --epoch all --format=csv --db between/t.db | cmp - newer/14.out &&
	cpi prof --epoch all --format=csv --by comm --db between/t.db | cmp - newer/2.out'

# Version 5 has no marks.
sqlite3 newer/t.db ".backup five.db"
sqlite3 five.db 'DROP TABLE container; DROP TABLE access_set; DROP TABLE mark; PRAGMA user_version = 5'
is "$(cpi mark --list --format=csv --db five.db)" at,host,text 'version 5 has no marks'

# Version 7 had the table capture without row ids.
sqlite3 newer/t.db ".backup seven.db"
sqlite3 seven.db 'DROP TABLE container; DROP TABLE capture;
	CREATE TABLE capture (image INTEGER NOT NULL REFERENCES image (id),
	part INTEGER NOT NULL, covers BLOB NOT NULL, data BLOB NOT NULL,
	PRIMARY KEY (image, part)) STRICT, WITHOUT ROWID; PRAGMA user_version = 7'
printf '%s;\n' "INSERT INTO capture SELECT id, 2, x'0102', randomblob(100000) FROM image LIMIT 3" \
	"INSERT INTO capture SELECT image, 1, x'0304', randomblob(10) FROM capture" |
	sqlite3 seven.db
rows='SELECT image, part, hex(covers), hex(data) FROM capture ORDER BY image, part'
sqlite3 seven.db "$rows" >seven.rows
is "$(cpi prof --epoch all --format=csv --by comm --db seven.db | cmp - newer/2.out)" '' \
	'cpi prof prints the same for version 7'
try 'a writing command migrates version 7' cpi epoch label 1 first --db seven.db
is "$(wc -l <seven.rows) $(sqlite3 seven.db "$rows" | cmp - seven.rows)" '6 ' \
	'the migrated table capture has the same rows'
is "$(sqlite3 seven.db 'SELECT count(rowid) FROM capture')" 6 \
	'the migrated table capture has row ids'
is "$(sqlite3 seven.db .schema | sort)" "$(sqlite3 newer/t.db .schema | sort)" \
	'the migrated schema is that of a database of version 3'

cpi epoch import older/t.db --db newer/t.db >out 2>err
is "$?" 1 'an older database is not imported'
like "$(cat err)" "older version: start this version's cpid on it once" \
	'the message says to start cpid on the older database'
