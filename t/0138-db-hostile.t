#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A hostile database: code in its schema is not run, and impossible values in its rows
# are refused.
. "$srcdir/t/tap.sh"
. "$srcdir/t/known.sh"
need sqlite3
mv known.db plain.db
unset CPI_DB

# change SQL: makes t.db, a copy of the known database, and runs SQL in it.
change()
{
	rm -f t.db t.db-*
	cp plain.db t.db
	sqlite3 t.db "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; $1" \
		>change.out 2>&1 || bail "sqlite3 fails: $(cat change.out)"
}

# refused PATTERN NAME COMMAND: the command fails, a line on stderr matches PATTERN, and
# nothing is printed.
refused()
{
	# The command is words.
	timeout 300 cpi $3 --db t.db >out 2>err
	is "$?" 1 "$2: cpi $3 fails"
	like "$(cat err)" "$1" "$2: cpi $3 says why"
	is "$(cat out)" '' "$2: cpi $3 prints no rows"
}

plan 99

# Schemas
schema="UPDATE sqlite_schema SET sql = replace(sql, 'label TEXT NOT NULL',"
unlimited=$(ulimit -v)
for label in "hex(zeroblob(50000000))" \
	"iif(instr(zeroblob(60000000), zeroblob(30000000) || x''01''), 1, 2)"; do
	change "PRAGMA writable_schema = ON; $schema 'label TEXT AS ($label)')
		WHERE name = 'epoch'"
	# A build with sanitizers needs more addresses than that to begin at all.
	! (ulimit -v 2000000 && cpi --version) >limit.out 2>&1 || ulimit -v 2000000
	refused 'table epoch is not as CPI makes it' 'a computed column' 'epoch list'
	ulimit -v "$unlimited"
done
change "CREATE TRIGGER t AFTER UPDATE ON epoch BEGIN DELETE FROM profile; END"
timeout 300 cpi epoch label 1 x --db t.db >out 2>err
is "$?" 1 'a trigger: cpi epoch label fails'
like "$(cat err)" 'the trigger t is not one that CPI makes' 'a trigger: the message names it'
is "$(sqlite3 t.db 'SELECT count(*) > 0 FROM profile')" 1 'a trigger: no profile is deleted'
change "ALTER TABLE epoch RENAME TO e0; CREATE VIEW epoch AS WITH RECURSIVE r (n) AS
	(SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT e0.* FROM e0, r"
refused 'the index epoch_from is not as CPI makes it' 'a view' prof
change "ALTER TABLE tally ADD COLUMN x INTEGER GENERATED ALWAYS AS (length(zeroblob(1)))"
timeout 300 cpid --db t.db --socket t.sock >out 2>err
is "$?" 1 'a generated column: cpid fails'
if can_sample; then
	like "$(cat err)" 'table tally is not as CPI makes it' \
		'a generated column: cpid names the table'
else
	skip 1 'sampling the whole system is not permitted here'
fi

# Rows
# damaged NAME SQL COMMAND...: each command refuses a database in which SQL was run.
damaged()
{
	damaged_name=$1
	change "$2"
	shift 2
	for damaged_command; do
		refused 'the data is damaged' "$damaged_name" "$damaged_command"
	done
}

damaged 'a negative received count' 'UPDATE tally SET received = -1' prof 'epoch list' \
	'status --socket none.sock' hot 'stats all' 'diff full half' 'export --format=collapsed'
damaged 'a negative received count in one of several streams' \
	'UPDATE tally SET received = -1 WHERE (epoch, stream) IN
	(SELECT epoch, stream FROM tally WHERE epoch = 1 LIMIT 1)' 'prof --epoch all'
damaged 'received samples without a place' 'UPDATE tally SET received = received + 1000' prof
damaged 'a stored count above the received count' \
	'UPDATE tally SET stored = 9223372036854775807' prof
damaged 'received counts whose sum overflows' 'UPDATE tally SET received = 9223372036854775807' \
	'prof --epoch all'
damaged 'a negative period' 'UPDATE stream SET mean_period = -5 - id' prof
damaged 'a negative loss' 'UPDATE loss SET n = -n' 'prof --epoch full'
damaged 'a negative total' 'UPDATE profile SET total = -1' prof 'list target_hot'
damaged 'a negative count of a command' 'UPDATE comm SET n = -5' 'prof --by comm'
damaged 'an epoch that ends before it begins' \
	'UPDATE epoch SET from_ns = 9223372036854775807' 'epoch list' 'prof --epoch all'
damaged 'an epoch before 1970' 'UPDATE epoch SET from_ns = -5' 'epoch list'
damaged 'a negative count of a flush' 'UPDATE flush SET received = -1' 'cat --intervals'
damaged 'a gap before 1970' "INSERT INTO gap (from_ns, to_ns, reason, host) VALUES
	(-5, 9223372036854775807, 'x', (SELECT host FROM platform))" 'prof --epoch all'
damaged 'a name of 100 kB' \
	"UPDATE image SET name = printf('/%.*c', 100000, 'x') WHERE id > 0" prof
damaged 'branch stacks that do not decode' "INSERT INTO edge
	SELECT epoch, image, image, stream, 0, 0, 7, x'01badc0de0' FROM profile
	WHERE context = 0 AND kind = 0 AND image > 0" \
	hot sum 'list target_hot' 'stats all --by=category'
damaged 'a column that permits NULL' "PRAGMA writable_schema = ON;
	CREATE TABLE s AS SELECT sql FROM sqlite_schema WHERE name = 'stream';
	UPDATE sqlite_schema SET sql = replace(sql, 'mean_period INTEGER NOT NULL',
		'mean_period INTEGER') WHERE name = 'stream'" prof
sqlite3 t.db "UPDATE stream SET mean_period = NULL; PRAGMA writable_schema = ON;
	UPDATE sqlite_schema SET sql = (SELECT sql FROM s) WHERE name = 'stream';
	DROP TABLE s" || bail 'sqlite3 fails'
refused "damaged: a mean_period is ''" 'NULL in a NOT NULL column' prof
cp plain.db t.db
try 'an undamaged database is shown' cpi prof --db t.db --epoch all
