/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * intern.c - finds the id of a row by its contents, or inserts it
 *
 * A look-up comes first, because nearly all rows that a flush needs exist, and a
 * look-up, unlike an insertion that conflicts, leaves the pages clean.
 */
#include "config.h"

#include "db/core/intern.h"

#include <errno.h>

#include "db/core/sql.h"

/* Returns err; if the insertion succeeded, sets *id to the new row's id. */
static int inserted(sqlite3 *h, int err, int64_t *id)
{
	if (!err)
		*id = sqlite3_last_insert_rowid(h);
	return err;
}

int intern_platform(sqlite3 *h, const struct platform_desc *d, int64_t *id)
{
	static const char find[] =
		"SELECT id FROM platform WHERE host = ?1 AND arch = ?2 AND cpu = ?3"
		" AND release = ?4 AND boot_id = ?5 AND clock_hz = ?6 AND nr_cpus = ?7";
	static const char add[] =
		"INSERT INTO platform (host, arch, cpu, release, boot_id, clock_hz,"
		" nr_cpus) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
	int err = sql_get(h, id, find, "sssssii", d->host, d->arch, d->cpu, d->release,
			  d->boot_id, d->clock_hz, (int64_t)d->nr_cpus);

	if (err != -ENOENT)
		return err;
	err = sql_do(h, add, "sssssii", d->host, d->arch, d->cpu, d->release,
		     d->boot_id, d->clock_hz, (int64_t)d->nr_cpus);
	return inserted(h, err, id);
}

int intern_stream(sqlite3 *h, const struct stream_desc *d, int64_t *id)
{
	static const char find[] =
		"SELECT id FROM stream WHERE event = ?1 AND source = ?2 AND cpu_type = "
		"?3"
		" AND unit = ?4 AND mean_period = ?5 AND landing = ?6";
	static const char add[] = "INSERT INTO stream (event, source, cpu_type, unit, "
				  "mean_period, landing)"
				  " VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
	int err = sql_get(h, id, find, "ssssii", d->event, d->source, d->cpu_type,
			  d->unit, d->mean_period, (int64_t)d->landing);

	if (err != -ENOENT)
		return err;
	err = sql_do(h, add, "ssssii", d->event, d->source, d->cpu_type, d->unit,
		     d->mean_period, (int64_t)d->landing);
	return inserted(h, err, id);
}

int intern_context(sqlite3 *h, const char *name, int64_t *id)
{
	int err = sql_get(h, id, "SELECT id FROM context WHERE name = ?1", "s", name);

	if (err != -ENOENT)
		return err;
	err = sql_do(h, "INSERT INTO context (name) VALUES (?1)", "s", name);
	return inserted(h, err, id);
}

int intern_image_search(sqlite3 *h, sqlite3_stmt **search)
{
	static const char find[] =
		"SELECT id FROM image WHERE name = ?1 AND kind = ?2 AND build_id = ?3"
		" AND content = ?4 AND (build_id != x'' OR content != x''"
		" OR (device = ?5 AND inode = ?6 AND size = ?7 AND mtime_ns = ?8))";

	return sql_prepare(h, find, search);
}

int intern_find_image(sqlite3_stmt *search, const struct image_desc *d, int64_t *id)
{
	const size_t content_size = d->has_content ? CONTENT_HASH_SIZE : 0;
	int err = sql_bind(search, "sibbiiii", d->name, (int64_t)d->kind, d->build_id,
			   (size_t)d->build_id_size, d->content, content_size,
			   d->device, d->inode, d->size, d->mtime_ns);

	return err ? err : sql_fetch(search, id);
}

int intern_image(sqlite3_stmt *search, const struct image_desc *d, int64_t *id)
{
	static const char add[] =
		"INSERT INTO image (name, kind, build_id, content, device, inode, size,"
		" mtime_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
	const size_t content_size = d->has_content ? CONTENT_HASH_SIZE : 0;
	sqlite3 *h = sqlite3_db_handle(search);
	int err = intern_find_image(search, d, id);

	if (err != -ENOENT)
		return err;
	err = sql_do(h, add, "sibbiiii", d->name, (int64_t)d->kind, d->build_id,
		     (size_t)d->build_id_size, d->content, content_size, d->device,
		     d->inode, d->size, d->mtime_ns);
	return inserted(h, err, id);
}
