/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * find_key DATABASE KEY - says where the bytes of a number of 64 bits are, if they are
 *
 * KEY is hexadecimal. Looks for the number, its complement and its negative, as bytes
 * in both orders, as text, and as LEB128; in the file, and in its compressed blobs.
 * Prints "the file" and names of tables. Exits with 1 if it is somewhere, 2 on errors.
 */
#include "config.h"

#include <err.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <zstd.h>

#define MOST_UNPACKED (64u << 20) /* bytes of a blob */
#define PACKED        1           /* the first byte of a compressed blob */
#define NR_PATTERNS   32
#define LEB128_BYTES  9 /* of 10 that a number may take: the last has one bit */

struct pattern {
	uint8_t byte[20];
	size_t nr;
};

static struct pattern pattern[NR_PATTERNS];
static int nr_patterns;

static void add(const void *bytes, size_t nr)
{
	struct pattern *p = &pattern[nr_patterns++];

	memcpy(p->byte, bytes, nr);
	p->nr = nr;
}

static void add_leb128(uint64_t n)
{
	uint8_t byte[LEB128_BYTES];
	size_t nr = 0;

	do {
		byte[nr++] = (uint8_t)((n & 0x7f) | (n > 0x7f ? 0x80 : 0));
		n >>= 7;
	} while (n && nr < LEB128_BYTES);
	add(byte, nr);
}

static void add_patterns(uint64_t n)
{
	uint8_t byte[8];
	char text[32];

	for (int i = 0; i < 8; i++)
		byte[i] = (uint8_t)(n >> 8 * i);
	add(byte, 8);
	for (int i = 0; i < 8; i++)
		byte[i] = (uint8_t)(n >> (56 - 8 * i));
	add(byte, 8);
	snprintf(text, sizeof(text), "%016" PRIx64, n);
	add(text, strlen(text));
	snprintf(text, sizeof(text), "%" PRIu64, n);
	add(text, strlen(text));
	add_leb128(n);
	add_leb128(n << 1 ^ (n >> 63 ? UINT64_MAX : 0)); /* with the sign last */
}

static bool has_pattern(const void *data, size_t size)
{
	for (int i = 0; i < nr_patterns; i++) {
		if (memmem(data, size, pattern[i].byte, pattern[i].nr))
			return true;
	}
	return false;
}

static bool file_has(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *at;

	if (fd < 0 || fstat(fd, &st))
		err(2, "%s", path);
	at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		err(2, "%s", path);
	return has_pattern(at, (size_t)st.st_size);
}

static bool blob_has(const uint8_t *blob, size_t size)
{
	static uint8_t *out;
	size_t nr;

	if (!out)
		out = malloc(MOST_UNPACKED);
	if (!out)
		err(2, "memory");
	if (!size || blob[0] != PACKED)
		return false;
	nr = ZSTD_decompress(out, MOST_UNPACKED, blob + 1, size - 1);
	return !ZSTD_isError(nr) && has_pattern(out, nr);
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s;

	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL))
		errx(2, "%s: %s", sql, sqlite3_errmsg(db));
	return s;
}

static bool table_has(sqlite3 *db, const char *name)
{
	char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", name);
	sqlite3_stmt *s = prepare(db, sql);
	bool has = false;

	while (sqlite3_step(s) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(s); i++)
			has |= sqlite3_column_type(s, i) == SQLITE_BLOB &&
			       blob_has(sqlite3_column_blob(s, i),
					(size_t)sqlite3_column_bytes(s, i));
	}
	sqlite3_finalize(s);
	sqlite3_free(sql);
	return has;
}

int main(int argc, char **argv)
{
	bool found, any = false;
	sqlite3_stmt *tables;
	uint64_t key;
	sqlite3 *db;

	if (argc != 3)
		errx(2, "usage: find_key DATABASE KEY");
	key = strtoull(argv[2], NULL, 16);
	add_patterns(key);
	add_patterns(~key);
	add_patterns(-key);
	if (sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READONLY, NULL))
		errx(2, "%s: %s", argv[1], sqlite3_errmsg(db));
	found = file_has(argv[1]);
	if (found)
		puts("the file");
	tables = prepare(db, "SELECT name FROM sqlite_master WHERE type = 'table'");
	while (sqlite3_step(tables) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(tables, 0);

		any = true;
		if (table_has(db, name)) {
			puts(name);
			found = true;
		}
	}
	sqlite3_finalize(tables);
	sqlite3_close(db);
	if (!any)
		errx(2, "%s: no tables", argv[1]);
	return found;
}
