/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storekeep.c - drops old partitions
 */
#include "config.h"

#include "db/clickhouse/storekeep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/grow.h"
#include "db/clickhouse/storecluster.h"

#define MAX_ANSWER (4u << 20)
#define DAY_S      86400
#define DATE_SIZE  11 /* "2026-01-31" */
#define SIZE_SINCE 24001

/* Otherwise a server does not remove a day of a table that takes more than 50 GB. */
#define ANY_SIZE " SETTINGS max_partition_size_to_drop = 0"

/* Tables with a partition for each day, in the order in which they lose it. */
static const char *const tables[] = {
	"epoch",       "profile",     "thin_profile", "tally",     "loss",
	"comm",        "flush",       "histogram",    "edge",      "stack",
	"stack_image", "window_set",  "access_set",   "rolled",    "spread",
	"origin",      "day_profile", "day_comm",     "day_place", "hour_place",
	"rejected",    "void",        "attempt",
};

struct dates {
	char (*date)[DATE_SIZE];
	size_t nr;
};

/* A store's text goes into a statement only if it is a date. */
static int note_date(void *ctx, const struct rowbinary_cell *cells)
{
	struct dates *list = ctx;
	char text[DATE_SIZE] = "";
	unsigned int year, month, day;
	int end = 0;

	if (cells->len != DATE_SIZE - 1)
		return -CPI_ECORRUPT;
	memcpy(text, cells->text, DATE_SIZE - 1);
	if (sscanf(text, "%4u-%2u-%2u%n", &year, &month, &day, &end) != 3 ||
	    end != DATE_SIZE - 1)
		return -CPI_ECORRUPT;
	if (GROW(list->date, list->nr))
		return -ENOMEM;
	memcpy(list->date[list->nr++], text, DATE_SIZE);
	return 0;
}

static int find_old(struct ch_store *s, const char *table, const char *before,
		    struct dates *list)
{
	struct buf sql = { 0 };
	int err;

	buf_puts(&sql, "SELECT DISTINCT partition FROM ");
	storecluster_put_parts(s, table, &sql);
	buf_puts(&sql, " WHERE active AND database = ");
	ch_put_literal(&sql, ch_store_database(s));
	buf_printf(&sql,
		   " AND table = '%s%s' AND partition < '%s' ORDER BY partition FORMAT"
		   " RowBinary",
		   table, storecluster_suffix(s, table), before);
	err = ch_store_query_buf(s, &sql, "s", MAX_ANSWER, note_date, list);
	buf_fini(&sql);
	return err;
}

static int drop_old(struct ch_store *s, const char *table, const char *before,
		    size_t *nr)
{
	struct dates list = { 0 };
	int err = find_old(s, table, before, &list);
	char sql[128];

	for (size_t i = 0; !err && i < list.nr; i++) {
		snprintf(sql, sizeof(sql), "ALTER TABLE %s DROP PARTITION '%s'%s",
			 table, list.date[i],
			 ch_store_version(s) >= SIZE_SINCE ? ANY_SIZE : "");
		err = storecluster_exec(s, sql);
	}
	*nr += err ? 0 : list.nr;
	free(list.date);
	return err;
}

int store_keep(struct ch_store *s, const struct store_settings *settings, size_t *nr)
{
	const uint64_t oldest_s = store_settings_oldest_s(settings);
	const time_t before_s = (time_t)oldest_s - DAY_S;
	char before[DATE_SIZE];
	struct tm tm;
	size_t others = 0;
	int err = 0;

	if (oldest_s <= DAY_S)
		return 0;
	if (!gmtime_r(&before_s, &tm) || !strftime(before, sizeof(before), "%F", &tm))
		return -EINVAL;
	for (size_t i = 0; !err && i < sizeof(tables) / sizeof(tables[0]); i++)
		err = drop_old(s, tables[i], before, i ? &others : nr);
	return err;
}
