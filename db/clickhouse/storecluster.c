/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storecluster.c - tables on a cluster: which are divided, and how they are changed
 *
 * Small tables have one path in the keeper for all servers, and divided ones have one
 * for each shard. An ALTER goes to one server of a path, which tells the others.
 */
#include "config.h"

#include "db/clickhouse/storecluster.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/log.h"

#define MAX_ANSWER (1u << 20)
#define LOCAL      "_local"
#define PROBE      "profile" /* a table that is divided */

/*
 * Sharding keys: one shard has all rows of a 64 KB piece of an image, of an image,
 * or of a host.
 */
#define BY_PLACE "cityHash64(image, intDiv(offset, 65536))"
#define BY_IMAGE "cityHash64(image)"
#define BY_HOST  "cityHash64(host)"

static const struct divided {
	const char *table, *key;
} divided[] = {
	{ "profile", BY_PLACE },     { "thin_profile", BY_PLACE },
	{ "day_profile", BY_PLACE }, { "hour_place", BY_IMAGE },
	{ "day_place", BY_IMAGE },   { "comm", BY_IMAGE },
	{ "day_comm", BY_IMAGE },    { "symbol", BY_IMAGE },
	{ "code", BY_IMAGE },        { "capture", BY_IMAGE },
	{ "instruction", BY_IMAGE }, { "histogram", BY_IMAGE },
	{ "edge", BY_IMAGE },        { "window_set", BY_IMAGE },
	{ "access_set", BY_IMAGE },  { "spread", BY_IMAGE },
	{ "rolled", BY_HOST },       { "stack", BY_HOST },
	{ "stack_image", BY_HOST },  { "tally", BY_HOST },
	{ "loss", BY_HOST },         { "flush", BY_HOST },
};

static const struct divided *find_divided(const char *table)
{
	for (size_t i = 0; i < sizeof(divided) / sizeof(divided[0]); i++) {
		if (!strcmp(divided[i].table, table))
			return &divided[i];
	}
	return NULL;
}

bool storecluster_divides(const char *table)
{
	return find_divided(table) != NULL;
}

const char *storecluster_suffix(const struct ch_store *s, const char *table)
{
	return ch_store_cluster(s) && storecluster_divides(table) ? LOCAL : "";
}

void storecluster_put_parts(const struct ch_store *s, const char *table,
			    struct buf *sql)
{
	const struct ch_cluster *c = ch_store_cluster(s);

	if (c && storecluster_divides(table))
		buf_printf(sql, "cluster('%s', system, parts)", c->name);
	else
		buf_puts(sql, "system.parts");
}

/* ---- which cluster ---- */

/* Asks a question, and frees it. Returns as ch_store_admin_query(). */
static int ask(struct ch_store *s, struct buf *sql, const char *types, rowbinary_fn fn,
	       void *ctx)
{
	int err = sql->err ? sql->err
			   : ch_store_admin_query(s, buf_str(sql), types, MAX_ANSWER,
						  fn, ctx);

	buf_fini(sql);
	return err;
}

static bool is_name(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (!isalnum((unsigned char)text[i]) && !strchr("_-", text[i]))
			return false;
	}
	return size && size < sizeof(((struct ch_cluster *)NULL)->name);
}

/* The engine of a Distributed table: Distributed(NAME, …), with or without quotes. */
static int note_engine(void *ctx, const struct rowbinary_cell *cells)
{
	static const char begin[] = "Distributed(";
	const size_t skip = sizeof(begin) - 1;
	struct ch_cluster *c = ctx;
	const char *name, *end;

	if (cells->len <= skip || memcmp(cells->text, begin, skip) != 0)
		return -CPI_ECORRUPT;
	name = cells->text + skip;
	end = cells->text + cells->len;
	if (*name == '\'' || *name == '`')
		name++;
	for (const char *p = name; p < end; p++) {
		if (!isalnum((unsigned char)*p) && *p != '_' && *p != '-')
			end = p;
	}
	if (!is_name(name, (size_t)(end - name)))
		return -CPI_ECORRUPT;
	memcpy(c->name, name, (size_t)(end - name));
	c->name[end - name] = '\0';
	return 0;
}

/* table, replicas */
static int note_replicas(void *ctx, const struct rowbinary_cell *cells)
{
	struct ch_cluster *c = ctx;

	if (cells[0].len == strlen(PROBE LOCAL))
		c->replicas = cells[1].n;
	else
		c->servers = cells[1].n;
	return 0;
}

/* Servers that were removed from the cluster no longer count. */
static int ask_replicas(struct ch_store *s, struct ch_cluster *c)
{
	struct buf sql = { 0 };
	int err;

	buf_puts(&sql, "SELECT table, toUInt64(total_replicas) FROM system.replicas"
		       " WHERE database = ");
	ch_put_literal(&sql, ch_store_database(s));
	buf_puts(&sql, " AND table IN ('epoch', '" PROBE LOCAL "') FORMAT RowBinary");
	err = ask(s, &sql, "s8", note_replicas, c);
	if (!err && (!c->servers || !c->replicas)) {
		log_err("fleet: the server does not know how many replicas the tables "
			"have: does it reach the keeper?");
		err = -EIO;
	}
	return err;
}

int storecluster_shards(struct ch_store *s, const char *name, uint64_t *nr)
{
	struct buf sql = { 0 };

	buf_puts(&sql,
		 "SELECT uniqExact(shard_num) FROM system.clusters WHERE cluster = ");
	ch_put_literal(&sql, name);
	buf_puts(&sql, " FORMAT RowBinary");
	return ask(s, &sql, "8", rowbinary_take_number, nr);
}

int storecluster_find(struct ch_store *s)
{
	struct ch_cluster c = { 0 };
	struct buf sql = { 0 };
	int err;

	buf_puts(&sql, "SELECT engine_full FROM system.tables WHERE database = ");
	ch_put_literal(&sql, ch_store_database(s));
	buf_puts(&sql, " AND name = '" PROBE "' AND engine = 'Distributed'"
		       " FORMAT RowBinary");
	err = ask(s, &sql, "s", note_engine, &c);
	if (!err && *c.name)
		err = ask_replicas(s, &c);
	if (!err && *c.name)
		err = storecluster_shards(s, c.name, &c.shards);
	if (!err)
		ch_store_set_cluster(s, &c);
	return err;
}

/* What a server knows of a cluster. */
struct shape {
	uint64_t servers, shards, least, most; /* the last two: replicas of a shard */
	uint64_t macros;
};

static int note_shape(void *ctx, const struct rowbinary_cell *cells)
{
	struct shape *h = ctx;

	h->servers = cells[0].n;
	h->shards = cells[1].n;
	h->least = cells[2].n;
	h->most = cells[3].n;
	return 0;
}

static int ask_shape(struct ch_store *s, const char *name, struct shape *h)
{
	struct buf sql = { 0 };
	int err;

	buf_puts(&sql, "SELECT sum(c), count(), min(c), max(c) FROM (SELECT shard_num,"
		       " count() AS c FROM system.clusters WHERE cluster = ");
	ch_put_literal(&sql, name);
	buf_puts(&sql, " GROUP BY shard_num) AS a FORMAT RowBinary");
	err = ask(s, &sql, "8888", note_shape, h);
	if (err || !h->servers)
		return err;
	return ch_store_admin_query(
		s,
		"SELECT count() FROM system.macros WHERE macro IN ('shard',"
		" 'replica') FORMAT RowBinary",
		"8", MAX_ANSWER, rowbinary_take_number, &h->macros);
}

int storecluster_shape(struct ch_store *s, const char *name, struct ch_cluster *out)
{
	struct ch_cluster c = { 0 };
	struct shape h = { 0 };
	int err = ask_shape(s, name, &h);

	if (err)
		return err;
	if (!h.servers) {
		log_err("fleet: the server knows no cluster '%s': the element "
			"remote_servers of its configuration names them",
			name);
		return -ENOENT;
	}
	if (h.least != h.most) {
		log_err("fleet: cluster '%s' has shards with %llu and with %llu "
			"replicas: all need the same number",
			name, (unsigned long long)h.least, (unsigned long long)h.most);
		return -EINVAL;
	}
	if (h.macros != 2) {
		log_err("fleet: the server has no macros 'shard' and 'replica': the "
			"element macros of its configuration defines them");
		return -EINVAL;
	}
	memcpy(c.name, name, strlen(name) + 1);
	c.servers = h.servers;
	c.replicas = h.least;
	c.shards = h.shards;
	*out = c;
	return 0;
}

int storecluster_choose(struct ch_store *s, const char *name)
{
	struct ch_cluster c;
	int err;

	if (!is_name(name, strlen(name))) {
		log_err("--on-cluster: '%s' is no name of letters, digits, '_' and '-'",
			name);
		return -EINVAL;
	}
	err = storecluster_shape(s, name, &c);
	if (!err)
		ch_store_set_cluster(s, &c);
	return err;
}

/* ---- statements ---- */

/* A statement that begins with the given words, a table's name, and more. */
struct parsed {
	char table[64];
	const char *rest; /* behind the name */
};

static bool parse(const char *statement, const char *words, struct parsed *out)
{
	size_t size;

	statement += strspn(statement, " \n");
	if (strncmp(statement, words, strlen(words)) != 0)
		return false;
	statement += strlen(words);
	size = strcspn(statement, " \n(;");
	if (!size || size >= sizeof(out->table))
		return false;
	memcpy(out->table, statement, size);
	out->table[size] = '\0';
	out->rest = statement + size;
	return true;
}

/* "db.table ON CLUSTER 'name'" */
static void put_on_cluster(const struct ch_store *s, const char *table,
			   const char *suffix, struct buf *sql)
{
	buf_printf(sql, "%s.%s%s ON CLUSTER '%s'", ch_store_database(s), table, suffix,
		   ch_store_cluster(s)->name);
}

static int run(struct ch_store *s, struct buf *sql)
{
	int err = ch_store_exec_buf(s, sql);

	buf_fini(sql);
	return err;
}

static int create(struct ch_store *s, const struct parsed *p)
{
	static const char engine[] = "ENGINE = ";
	const struct divided *d = find_divided(p->table);
	const struct ch_cluster *c = ch_store_cluster(s);
	const char *db = ch_store_database(s), *at = strstr(p->rest, engine);
	struct buf sql = { 0 };
	size_t before, word;
	int err;

	if (!at)
		return -EINVAL;
	at += strlen(engine);
	before = (size_t)(at - p->rest);
	word = strcspn(at, " ");
	buf_puts(&sql, "CREATE TABLE IF NOT EXISTS ");
	put_on_cluster(s, p->table, d ? LOCAL : "", &sql);
	/* A repeated insert must still be known, whatever others inserted meanwhile. */
	buf_printf(&sql,
		   "%.*sReplicated%.*s('/cpi/%s/%s/%s/%s', '%s')%s"
		   " SETTINGS replicated_deduplication_window = 10000",
		   (int)before, p->rest, (int)word, at, c->name, db,
		   d ? "{shard}" : "all", p->table,
		   d ? "{replica}" : "{shard}-{replica}", at + word);
	err = run(s, &sql);
	if (err || !d)
		return err;
	buf_puts(&sql, "CREATE TABLE IF NOT EXISTS ");
	put_on_cluster(s, p->table, "", &sql);
	buf_printf(&sql,
		   " AS %s.%s" LOCAL " ENGINE = Distributed('%s', '%s', '%s" LOCAL
		   "', %s)",
		   db, p->table, c->name, db, p->table, d->key);
	return run(s, &sql);
}

/* Texts of answers, each once. */
struct texts {
	char **text;
	size_t nr;
	bool known; /* the last answer was there already */
};

static int note_text(void *ctx, const struct rowbinary_cell *cells)
{
	struct texts *list = ctx;
	char *text = strndup(cells->text, cells->len);
	int err = text ? 0 : -ENOMEM;

	list->known = false;
	for (size_t i = 0; !err && i < list->nr; i++)
		list->known |= !strcmp(list->text[i], text);
	if (!err && !list->known)
		err = GROW(list->text, list->nr);
	if (err || list->known)
		free(text);
	else
		list->text[list->nr++] = text;
	return err;
}

/* Lets a server change its shard's table, unless another one has done so. */
static int change_at(struct ch_store *s, int host, const char *sql, struct texts *done)
{
	int err;

	ch_store_use_host(s, host);
	done->known = true;
	err = ch_store_admin_query(
		s,
		"SELECT substitution FROM system.macros WHERE macro ="
		" 'shard' FORMAT RowBinary",
		"s", 4096, note_text, done);
	if (err || done->known)
		return err;
	if (ch_store_host(s) == host)
		err = ch_store_admin(s, sql);
	/* Another server answered: this shard's table is not changed yet. */
	if (err || ch_store_host(s) != host)
		free(done->text[--done->nr]);
	return err;
}

/*
 * Changes the table of each shard by one of the URL's servers. Old servers do not
 * always finish an ALTER of such tables that is said ON CLUSTER.
 */
static int change_shards(struct ch_store *s, const char *sql)
{
	const int before = ch_store_host(s);
	struct texts done = { 0 };
	uint64_t shards = 0;
	int err = storecluster_shards(s, ch_store_cluster(s)->name, &shards);

	for (int i = 0; !err && i < ch_store_nr_hosts(s); i++)
		err = change_at(s, i, sql, &done);
	if (!err && done.nr < shards) {
		log_err("fleet: of the %llu shards of cluster '%s' %zu can be reached: "
			"name a server of each in the store's URL",
			(unsigned long long)shards, ch_store_cluster(s)->name, done.nr);
		err = -EINVAL;
	}
	ch_store_use_host(s, before);
	for (size_t i = 0; i < done.nr; i++)
		free(done.text[i]);
	free(done.text);
	return err;
}

/*
 * Changes the local table of each shard, and for a new column also the Distributed
 * table.
 */
static int change(struct ch_store *s, const struct parsed *p)
{
	struct buf sql = { 0 };
	int err;

	buf_printf(&sql, "ALTER TABLE %s.%s" LOCAL "%s", ch_store_database(s), p->table,
		   p->rest);
	err = sql.err ? sql.err : change_shards(s, buf_str(&sql));
	buf_fini(&sql);
	if (err || !strstr(p->rest, "ADD COLUMN"))
		return err;
	buf_puts(&sql, "ALTER TABLE ");
	put_on_cluster(s, p->table, "", &sql);
	buf_puts(&sql, p->rest);
	return run(s, &sql);
}

int storecluster_exec(struct ch_store *s, const char *statement)
{
	struct parsed p;

	if (!ch_store_cluster(s))
		return ch_store_exec(s, statement);
	if (parse(statement, "CREATE TABLE IF NOT EXISTS ", &p))
		return create(s, &p);
	if (parse(statement, "ALTER TABLE ", &p) && storecluster_divides(p.table))
		return change(s, &p);
	/* The rows of older versions: no store on a cluster has any. */
	if (parse(statement, "TRUNCATE TABLE ", &p))
		return 0;
	return ch_store_exec(s, statement);
}
