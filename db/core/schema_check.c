/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * schema_check.c - compares a schema with that of a new empty database
 *
 * Both schemas are lists of texts, sorted by name. SQLite keeps the text of each CREATE
 * statement, with comments, and ALTER TABLE changes it in the same way in both.
 */
#include "config.h"

#include "db/core/schema_check.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "db/core/sql.h"

#define MAX_OBJECTS 512 /* limit for a file; our schema has fewer than a hundred */

struct object {
	char *name; /* type and name: "table epoch" */
	char *sql;  /* without comments and redundant blanks */
};

struct objects {
	struct object object[MAX_OBJECTS];
	size_t nr;
};

static void objects_free(struct objects *o)
{
	for (size_t i = 0; o && i < o->nr; i++) {
		free(o->object[i].name);
		free(o->object[i].sql);
	}
	free(o);
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/*
 * skip_quoted() and skip_comment() return the end of the quoted text or comment that
 * begins at s; s if none begins there.
 */
static const char *skip_quoted(const char *s)
{
	const char *end;

	if (*s != '\'' && *s != '"' && *s != '`' && *s != '[')
		return s;
	end = strchr(s + 1, *s == '[' ? ']' : *s);
	return end ? end + 1 : s + strlen(s);
}

static const char *skip_comment(const char *s)
{
	const char *end;

	if (s[0] == '-' && s[1] == '-')
		return s + strcspn(s, "\n");
	if (s[0] != '/' || s[1] != '*')
		return s;
	end = strstr(s + 2, "*/");
	return end ? end + 2 : s + strlen(s);
}

/*
 * Returns a copy of sql with one blank between words and without comments. NULL: out of
 * memory.
 */
static char *simplify(const char *sql)
{
	char *out = malloc(strlen(sql) + 1), *to = out;
	bool blank = false;

	while (out && *sql) {
		const char *end = skip_comment(sql);

		if (end != sql || isspace((unsigned char)*sql)) {
			sql = end == sql ? sql + 1 : end;
			blank = true;
			continue;
		}
		if (blank && to > out && is_word(to[-1]) && is_word(*sql))
			*to++ = ' ';
		blank = false;
		end = skip_quoted(sql);
		if (end == sql)
			end++;
		memcpy(to, sql, (size_t)(end - sql));
		to += end - sql;
		sql = end;
	}
	if (out)
		*to = '\0';
	return out;
}

static int add_object(sqlite3_stmt *st, void *ctx)
{
	struct objects *o = ctx;
	struct object *added = &o->object[o->nr];

	if (o->nr == MAX_OBJECTS)
		return -CPI_ELIMIT;
	added->name = strdup(sql_text(st, 0));
	added->sql = simplify(sql_text(st, 1));
	o->nr++;
	return added->name && added->sql ? 0 : -ENOMEM;
}

static int compare(const void *va, const void *vb)
{
	const struct object *a = va, *b = vb;

	return strcmp(a->name, b->name);
}

/*
 * Lists the objects of a schema, without those that SQLite makes itself: indexes of
 * constraints, and the tables of ANALYZE.
 */
static int list_objects(sqlite3 *h, const char *name, struct objects **out)
{
	struct objects *o = calloc(1, sizeof(*o));
	struct buf sql = { 0 };
	int err;

	buf_printf(&sql,
		   "SELECT type || ' ' || name, sql FROM %s.sqlite_schema WHERE NOT"
		   " (type = 'index' AND sql IS NULL) AND NOT (type = 'table' AND name"
		   " IN ('sqlite_stat1', 'sqlite_stat4', 'sqlite_sequence'))",
		   name);
	err = o && !sql.err ? sql_each(h, add_object, o, buf_str(&sql), "") : -ENOMEM;
	buf_fini(&sql);
	if (err) {
		objects_free(o);
		return err;
	}
	qsort(o->object, o->nr, sizeof(o->object[0]), compare);
	*out = o;
	return 0;
}

static int list_made(const struct schema *schema, int version, struct objects **out)
{
	sqlite3 *h = NULL;
	int err = sqlite3_open(":memory:", &h) ? -ENOMEM : 0;

	for (int i = 0; !err && i < version; i++)
		err = sql_exec(h, schema->step[i]);
	if (!err)
		err = list_objects(h, "main", out);
	sqlite3_close(h);
	return err;
}

static bool has(const struct objects *o, const struct object *object)
{
	const struct object *found =
		bsearch(object, o->object, o->nr, sizeof(*object), compare);

	return found && !strcmp(found->sql, object->sql);
}

static bool has_name(const struct objects *o, const struct object *object)
{
	return bsearch(object, o->object, o->nr, sizeof(*object), compare);
}

static int refuse(struct buf *why, const struct object *object, const char *what)
{
	buf_printf(why, "the %s is %s: restore a copy, or move it away", object->name,
		   what);
	return -CPI_ECORRUPT;
}

/*
 * Compares file with the schema of the file's version (now) and of the newest version
 * (last).
 */
static int compare_all(const struct objects *file, const struct objects *now,
		       const struct objects *last, struct buf *why)
{
	for (size_t i = 0; i < file->nr; i++) {
		const struct object *o = &file->object[i];

		if (!has_name(now, o) && !has_name(last, o))
			return refuse(why, o, "not one that CPI makes");
		if (!has(now, o) && !has(last, o))
			return refuse(why, o, "not as CPI makes it");
		if (i && !compare(o, o - 1))
			return refuse(why, o, "there twice");
	}
	for (size_t i = 0; i < now->nr; i++) {
		if (!has_name(file, &now->object[i]))
			return refuse(why, &now->object[i], "missing");
	}
	return 0;
}

int schema_check(sqlite3 *h, const char *name, const struct schema *schema, int version,
		 struct buf *why)
{
	struct objects *file = NULL, *now = NULL, *last = NULL;
	int err = list_objects(h, name, &file);

	if (!err)
		err = list_made(schema, version, &now);
	if (!err && version < schema->version)
		err = list_made(schema, schema->version, &last);
	if (!err)
		err = compare_all(file, now, last ? last : now, why);
	else if (err == -CPI_ELIMIT)
		buf_printf(why, "its schema has more than %d parts", MAX_OBJECTS);
	objects_free(file);
	objects_free(now);
	objects_free(last);
	return err == -CPI_ELIMIT ? -CPI_ECORRUPT : err;
}
