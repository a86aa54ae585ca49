/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fleetid.c - SHA-256 of values, as a function of SQL
 *
 * Each value is hashed as its type, its length and its bytes, so that no two lists of
 * values are the same bytes.
 */
#include "config.h"

#include "db/clickhouse/fleetid.h"

#include <endian.h>
#include <errno.h>
#include <nettle/sha2.h>
#include <stdint.h>
#include <string.h>

static void add_value(struct sha256_ctx *sha, sqlite3_value *value)
{
	const uint8_t type = (uint8_t)sqlite3_value_type(value);
	uint64_t number;
	const void *data = &number;
	size_t size = sizeof(number);

	if (type == SQLITE_INTEGER) {
		number = htole64((uint64_t)sqlite3_value_int64(value));
	} else {
		data = sqlite3_value_blob(value);
		size = (size_t)sqlite3_value_bytes(value);
	}
	sha256_update(sha, 1, &type);
	if (type != SQLITE_INTEGER) {
		number = htole64(size);
		sha256_update(sha, sizeof(number), (const uint8_t *)&number);
		number = 0;
	}
	if (size)
		sha256_update(sha, size, data);
}

static void fleet_id(sqlite3_context *ctx, int nr, sqlite3_value **values)
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx sha;
	uint64_t id;

	sha256_init(&sha);
	for (int i = 0; i < nr; i++)
		add_value(&sha, values[i]);
	sha256_digest(&sha, sizeof(digest), digest);
	memcpy(&id, digest, sizeof(id));
	id = le64toh(id) & INT64_MAX;
	sqlite3_result_int64(ctx, (sqlite3_int64)(id ? id : 1));
}

int fleetid_register(sqlite3 *h)
{
	const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;

	return sqlite3_create_function_v2(h, "fleet_id", -1, flags, NULL, fleet_id,
					  NULL, NULL, NULL)
		       ? -ENOMEM
		       : 0;
}
