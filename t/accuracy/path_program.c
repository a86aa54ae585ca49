/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * path_program.c - code of libraries that are linked statically, a few million
 *                  instructions of it: path_program zlib|zstd|sqlite|libc
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>
#include <zlib.h>
#include <zstd.h>

#define SIZE 12000

static char text[SIZE], packed[2 * SIZE], back[SIZE];

/* Words that come again, as in prose. */
static void make_text(void)
{
	size_t at = 0;
	unsigned int state = 1;

	while (at + 16 < SIZE) {
		state = state * 1664525 + 1013904223;
		for (unsigned int n = (state >> 16) % 977; n; n /= 7)
			text[at++] = (char)('a' + n % 7);
		text[at++] = ' ';
	}
}

static void run_zlib(void)
{
	uLongf size = sizeof(packed), size_back = sizeof(back);

	if (compress2((Bytef *)packed, &size, (const Bytef *)text, SIZE, 6) != Z_OK ||
	    uncompress((Bytef *)back, &size_back, (const Bytef *)packed, size) != Z_OK)
		errx(EXIT_FAILURE, "zlib");
}

static void run_zstd(void)
{
	const size_t size = ZSTD_compress(packed, sizeof(packed), text, SIZE, 5);

	if (ZSTD_isError(size) ||
	    ZSTD_isError(ZSTD_decompress(back, sizeof(back), packed, size)))
		errx(EXIT_FAILURE, "zstd");
}

static void run_sqlite(void)
{
	static const char sql[] =
		"CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT);"
		"WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c"
		" WHERE n < 200) INSERT INTO t SELECT n, hex(n * n % 977) FROM c;"
		"CREATE INDEX i ON t (b);"
		"SELECT b, count(*), sum(a) FROM t WHERE a % 7 > 2 GROUP BY b ORDER BY "
		"2;";
	sqlite3 *db;

	if (sqlite3_open(":memory:", &db) || sqlite3_exec(db, sql, NULL, NULL, NULL))
		errx(EXIT_FAILURE, "sqlite");
	sqlite3_close(db);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void run_libc(void)
{
	static char *word[SIZE / 2];
	size_t nr = 0;
	double sum = 0;

	for (char *w = strtok(text, " "); w && nr < 1500; w = strtok(NULL, " "))
		word[nr++] = w;
	qsort(word, nr, sizeof(*word), by_text);
	for (size_t i = 0; i < nr; i++)
		sum += (double)strtoul(word[i], NULL, 30);
	snprintf(packed, sizeof(packed), "%g", sum);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} runs[] = {
		{ "zlib", run_zlib },
		{ "zstd", run_zstd },
		{ "sqlite", run_sqlite },
		{ "libc", run_libc },
	};

	make_text();
	for (size_t i = 0; argc == 2 && i < sizeof(runs) / sizeof(runs[0]); i++) {
		if (strcmp(argv[1], runs[i].name) != 0)
			continue;
		runs[i].run();
		return EXIT_SUCCESS;
	}
	errx(EXIT_FAILURE, "usage: path_program zlib|zstd|sqlite|libc");
}
