/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storehosts.c - asks a store for a row of each machine
 */
#include "config.h"

#include "db/clickhouse/storehosts.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "db/clickhouse/store.h"
#include "db/clickhouse/storeschema.h"

#define MAX_ANSWER (256u << 20)

struct reading {
	struct storehosts list;
	const char *glob;
};

static char *copy(const struct rowbinary_cell *c)
{
	return strndup(c->text, c->len);
}

void storehosts_fini(struct storehosts *h)
{
	for (size_t i = 0; i < h->nr; i++) {
		free(h->host[i].name);
		free(h->host[i].release);
		free(h->host[i].version);
	}
	free(h->host);
	memset(h, 0, sizeof(*h));
}

static int note_host(void *ctx, const struct rowbinary_cell *cells)
{
	struct reading *r = ctx;
	struct storehost h = { .name = copy(&cells[0]),
			       .nr_epochs = cells[1].n,
			       .from_ns = cells[2].n,
			       .to_ns = cells[3].n,
			       .received = cells[4].n,
			       .lost = cells[5].n,
			       .release = copy(&cells[6]),
			       .version = copy(&cells[7]),
			       .nr_cpus = cells[8].n };
	int err = h.name && h.release && h.version ? 0 : -ENOMEM;

	if (!err && (!r->glob || !fnmatch(r->glob, h.name, 0))) {
		err = GROW(r->list.host, r->list.nr);
		if (!err) {
			r->list.host[r->list.nr++] = h;
			return 0;
		}
	}
	free(h.name);
	free(h.release);
	free(h.version);
	return err;
}

static int note_dropped(void *ctx, const struct rowbinary_cell *cells)
{
	struct reading *r = ctx;

	for (size_t i = 0; i < r->list.nr; i++) {
		struct storehost *h = &r->list.host[i];

		if (strlen(h->name) == cells[0].len &&
		    !memcmp(h->name, cells[0].text, cells[0].len))
			h->dropped = cells[1].n;
	}
	return 0;
}

static int ask(struct ch_store *s, struct reading *r)
{
	static const char hosts[] =
		"SELECT name, count(), min(from_ns), max(to_ns), sum(received),"
		" sum(lost), argMax(release, to_ns), argMax(version, to_ns),"
		" toUInt64(argMax(nr_cpus, to_ns)) FROM epoch WHERE (host, at, nr) NOT"
		" IN (SELECT host, at, nr FROM void) GROUP BY name ORDER BY name"
		" FORMAT RowBinary";
	static const char dropped[] =
		"SELECT name, sum(d) FROM (SELECT host AS number, max(last_flush) -"
		" first_flush + 1 AS d FROM dropped GROUP BY host, boot_id, "
		"run_from_ns,"
		" first_flush) AS a ANY INNER JOIN (SELECT number, name FROM host) AS b"
		" USING number GROUP BY name FORMAT RowBinary";
	int err = ch_store_query(s, hosts, "s88888ss8", MAX_ANSWER, note_host, r);

	return err ? err
		   : ch_store_query(s, dropped, "s8", MAX_ANSWER, note_dropped, r);
}

int storehosts_read(const char *url, const char *glob, struct storehosts *out)
{
	struct reading r = { .glob = glob };
	struct ch_store *s;
	int err = ch_store_open(url, -1, &s);

	if (err)
		return err;
	err = storeschema_check(s);
	if (!err)
		err = ask(s, &r);
	ch_store_close(s);
	if (err)
		storehosts_fini(&r.list);
	else
		*out = r.list;
	return err;
}
