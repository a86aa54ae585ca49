/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storehosts.c - asks a store for a row of each machine
 */
#include "config.h"

#include "db/clickhouse/storehosts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "db/clickhouse/store.h"
#include "db/clickhouse/storeschema.h"

#define MAX_ANSWER (256u << 20)

static char *copy(const struct rowbinary_cell *c)
{
	return strndup(c->text, c->len);
}

static void host_fini(struct storehost *h)
{
	free(h->name);
	free(h->kernel);
	free(h->version);
	free(h->cluster);
	free(h->machine);
	free(h->release);
}

void storehosts_fini(struct storehosts *h)
{
	for (size_t i = 0; i < h->nr; i++)
		host_fini(&h->host[i]);
	free(h->host);
	memset(h, 0, sizeof(*h));
}

static int note_host(void *ctx, const struct rowbinary_cell *cells)
{
	struct storehosts *list = ctx;
	struct storehost h = { .name = copy(&cells[0]),
			       .nr_epochs = cells[1].n,
			       .from_ns = cells[2].n,
			       .to_ns = cells[3].n,
			       .received = cells[4].n,
			       .lost = cells[5].n,
			       .kernel = copy(&cells[6]),
			       .version = copy(&cells[7]),
			       .nr_cpus = cells[8].n,
			       .cluster = copy(&cells[9]),
			       .machine = copy(&cells[10]),
			       .release = copy(&cells[11]),
			       .one_in = cells[12].n };
	int err = h.name && h.kernel && h.version && h.cluster && h.machine && h.release
			  ? GROW(list->host, list->nr)
			  : -ENOMEM;

	if (err)
		host_fini(&h);
	else
		list->host[list->nr++] = h;
	return err;
}

static struct storehost *find_host(const struct storehosts *list,
				   const struct rowbinary_cell *name)
{
	for (size_t i = 0; i < list->nr; i++) {
		struct storehost *h = &list->host[i];

		if (strlen(h->name) == name->len &&
		    !memcmp(h->name, name->text, name->len))
			return h;
	}
	return NULL;
}

static int note_dropped(void *ctx, const struct rowbinary_cell *cells)
{
	struct storehost *h = find_host(ctx, &cells[0]);

	if (h)
		h->dropped = cells[1].n;
	return 0;
}

static int ask_hosts(struct ch_store *s, const struct store_choice *choice,
		     struct storehosts *list)
{
	struct buf sql = { 0 };
	int err;

	buf_puts(&sql,
		 "SELECT name, count(), min(from_ns), max(to_ns), sum(received),"
		 " sum(lost), argMax(kernel, to_ns), argMax(version, to_ns),"
		 " toUInt64(argMax(nr_cpus, to_ns)), argMax(cluster, to_ns),"
		 " argMax(machine, to_ns), argMax(release, to_ns),"
		 " toUInt64(argMax(one_in, to_ns)) FROM (SELECT host,"
		 " at, nr, name, from_ns, to_ns, received, lost, release AS kernel,"
		 " version, nr_cpus, one_in FROM epoch WHERE (host, at, nr) NOT IN"
		 " (SELECT host, at, nr FROM void)");
	err = store_choice_put(s, choice, &sql);
	buf_puts(&sql, ") AS e ANY LEFT JOIN (SELECT host, at, nr, cluster, machine,"
		       " release FROM origin) AS o USING host, at, nr"
		       " GROUP BY name ORDER BY name FORMAT RowBinary");
	if (!err)
		err = ch_store_query_buf(s, &sql, "s88888ss8sss8", MAX_ANSWER,
					 note_host, list);
	buf_fini(&sql);
	return err;
}

static int ask_dropped(struct ch_store *s, struct storehosts *list)
{
	static const char sql[] =
		"SELECT name, sum(d) FROM (SELECT host AS number, max(last_flush) -"
		" first_flush + 1 AS d FROM dropped GROUP BY host, boot_id,"
		" run_from_ns, first_flush) AS a ANY LEFT JOIN (SELECT number, name"
		" FROM host) AS b USING number GROUP BY name FORMAT RowBinary";

	return ch_store_query(s, sql, "s8", MAX_ANSWER, note_dropped, list);
}

/* name, epochs, rows, the first and last time, CPUs */
static int note_rejected(void *ctx, const struct rowbinary_cell *cells)
{
	const struct rowbinary_cell *n = cells, none = { .text = "" };
	struct storehosts *list = ctx;
	struct storehost *h = find_host(list, n);
	int err;

	if (!h) {
		const struct rowbinary_cell row[13] = { *n,    { 0 }, n[3], n[4], { 0 },
							{ 0 }, none,  none, n[5], none,
							none,  none,  { 0 } };

		err = note_host(list, row);
		if (err)
			return err;
		h = &list->host[list->nr - 1];
	}
	h->rejected = n[1].n;
	h->rejected_rows = n[2].n;
	return 0;
}

static int ask_rejected(struct ch_store *s, const struct store_choice *choice,
			struct storehosts *list)
{
	struct buf sql = { 0 };
	int err;

	buf_puts(&sql,
		 "SELECT name, count(), sum(rows), min(from_ns), max(to_ns),"
		 " toUInt64(max(nr_cpus)) FROM (SELECT host, at, nr, name, from_ns,"
		 " to_ns, nr_cpus FROM epoch WHERE (host, at, nr) IN (SELECT host, at,"
		 " nr FROM rejected)");
	err = store_choice_put(s, choice, &sql);
	buf_puts(&sql, ") AS e ANY LEFT JOIN (SELECT host, at, nr, max(nr_rows) AS rows"
		       " FROM rejected GROUP BY host, at, nr) AS r USING host, at, nr"
		       " GROUP BY name ORDER BY name FORMAT RowBinary");
	if (!err)
		err = ch_store_query_buf(s, &sql, "s88888", MAX_ANSWER, note_rejected,
					 list);
	buf_fini(&sql);
	return err;
}

static int compare_names(const void *x, const void *y)
{
	const struct storehost *a = x, *b = y;

	return strcmp(a->name, b->name);
}

int storehosts_read(const char *url, const struct store_choice *choice,
		    struct storehosts *out)
{
	struct storehosts list = { 0 };
	struct ch_store *s;
	int err = ch_store_open(url, NULL, &s);

	if (err)
		return err;
	err = storeschema_check(s);
	if (!err)
		err = ask_hosts(s, choice, &list);
	if (!err)
		err = ask_dropped(s, &list);
	if (!err)
		err = ask_rejected(s, choice, &list);
	if (!err && list.nr)
		qsort(list.host, list.nr, sizeof(*list.host), compare_names);
	ch_store_close(s);
	if (err)
		storehosts_fini(&list);
	else
		*out = list;
	return err;
}
