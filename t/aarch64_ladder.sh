# SPDX-License-Identifier: GPL-2.0-or-later
# aarch64_ladder.sh - what t/vm/cases/ladder.sh records in a guest, and t/accuracy/aarch64
#                     counts outside: the same programs, with the same input

# deflate is sqlite3 that compresses: its time is in libz.
ladder_names='mawk sqlite3 deflate'

# ladder_input FOLDER: writes the file text, made of the tests in FOLDER.
ladder_input()
{
	cat "$1"/0[0-3]*.t | head -c 120000 >text
}

# ladder_run PROGRAM...: runs a program of $ladder_names, the last word of its path's
# name; what stands before the program runs it.
ladder_run()
{
	for ladder_path; do :; done
	case ${ladder_path##*/} in
	mawk)
		"$@" '{ for (i = 1; i <= NF; i++) n[tolower($i)]++; s += length($0) }
			/[a-z]+_[a-z]+\(/ { gsub(/[aeiou]+/, "_"); t += index($0, "_") }
			END { for (w in n) if (n[w] > 9) print w, n[w]; print s, t }' text
		;;
	sqlite3)
		"$@" :memory: 'CREATE TABLE t (k INTEGER PRIMARY KEY, a TEXT, b INT);
			WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 6000)
			INSERT INTO t SELECT i, printf("w%d", i * 7919 % 1009), i % 97 FROM n;
			CREATE INDEX ta ON t (a);
			SELECT a, count(*), sum(b), max(k) FROM t GROUP BY a ORDER BY 3 LIMIT 5;
			SELECT count(*) FROM t x JOIN t y ON y.a = x.a WHERE x.b < 9;
			SELECT sum(length(replace(upper(a), "W", "vv"))) FROM t WHERE a LIKE "%3%"'
		;;
	deflate) "$@" :memory: "SELECT length(sqlar_compress(readfile('text')))" ;;
	esac
}
