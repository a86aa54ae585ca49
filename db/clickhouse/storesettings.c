/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storesettings.c - asks for the identity and the limits of a store, in one statement
 */
#include "config.h"

#include "db/clickhouse/storesettings.h"

#include <inttypes.h>

#include "base/times.h"

#define MAX_ANSWER 4096
#define DAY_S      86400

enum { ID, NOW, QUOTA, KEEP };

static int note_setting(void *ctx, const struct rowbinary_cell *cells)
{
	struct store_settings *s = ctx;
	const uint64_t value = cells[1].n;

	switch (cells[0].n) {
	case ID:
		s->id = value;
		break;
	case NOW:
		s->now_s = value;
		break;
	case QUOTA:
		s->quota = value;
		break;
	case KEEP:
		s->keep = value;
		break;
	default:
		break;
	}
	return 0;
}

static void put_setting(struct buf *sql, int what, const char *name)
{
	buf_printf(sql,
		   " UNION ALL SELECT toUInt8(%d) AS what, argMax(value, at_ns) AS"
		   " value FROM setting WHERE name = '%s'",
		   what, name);
}

int store_settings_read(struct ch_store *s, struct store_settings *out)
{
	struct store_settings found = { 0 };
	struct buf sql = { 0 };
	int err;

	buf_printf(
		&sql,
		"SELECT toUInt8(%d) AS what, min(id) AS value FROM identity UNION"
		" ALL SELECT toUInt8(%d) AS what, toUInt64(toUInt32(now())) AS value",
		ID, NOW);
	put_setting(&sql, QUOTA, STORE_QUOTA);
	put_setting(&sql, KEEP, STORE_KEEP);
	buf_puts(&sql, " FORMAT RowBinary");
	err = ch_store_query_buf(s, &sql, "18", MAX_ANSWER, note_setting, &found);
	buf_fini(&sql);
	if (!err)
		*out = found;
	return err;
}

int store_settings_set(struct ch_store *s, const char *name, uint64_t value)
{
	struct buf sql = { 0 };
	int err;

	buf_puts(&sql, "INSERT INTO setting (name, value, at_ns) SELECT ");
	ch_put_literal(&sql, name);
	buf_printf(&sql, ", toUInt64(%" PRIu64 "), toUInt64(%" PRIu64 ")", value,
		   (uint64_t)time_real_ns());
	err = ch_store_exec_buf(s, &sql);
	buf_fini(&sql);
	return err;
}

uint64_t store_settings_oldest_s(const struct store_settings *s)
{
	if (!s->keep || s->keep > s->now_s / DAY_S)
		return 0;
	return s->now_s - s->keep * DAY_S;
}
