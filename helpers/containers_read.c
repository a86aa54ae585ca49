/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * containers_read.c - finds ids and names in what a runtime said
 *
 * A name that is too long, empty, or has a '/' or control characters is left out: the
 * container then keeps its id.
 */
#include "config.h"

#include "helpers/containers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#ifdef HAVE_PROTOBUF_C
#include "helpers/cri.pb-c.h"
#endif

/* A container's name, with those of its namespace and pod if it has any. */
struct parts {
	const char *namespace, *pod, *name;
};

struct reading {
	container_row_fn fn;
	void *ctx;
	int nr;
};

static bool is_id(const char *id)
{
	return id && text_hex_digits(id) == CPI_CONTAINER_DIGITS &&
	       !id[CPI_CONTAINER_DIGITS];
}

static bool is_name(const char *name)
{
	return name && *name && !strchr(name, '/') && text_is_clean(name);
}

static int give(struct reading *r, const char *id, const struct parts *p)
{
	struct container_row row = { 0 };
	int len;

	if (r->nr == CONTAINERS_MAX || !is_id(id) || !is_name(p->name))
		return 0;
	if (is_name(p->namespace) && is_name(p->pod))
		len = snprintf(row.name, sizeof(row.name), "%s/%s/%s", p->namespace,
			       p->pod, p->name);
	else
		len = snprintf(row.name, sizeof(row.name), "%s", p->name);
	if (len >= (int)sizeof(row.name))
		return 0;
	memcpy(row.id, id, sizeof(row.id));
	r->nr++;
	return r->fn(r->ctx, &row);
}

#ifdef HAVE_PROTOBUF_C
static void name_pod(const Cri__Pods *pods, const char *id, struct parts *p)
{
	for (size_t i = 0; i < pods->n_items && i < CONTAINERS_MAX; i++) {
		if (strcmp(pods->items[i]->id, id) || !pods->items[i]->metadata)
			continue;
		p->namespace = pods->items[i]->metadata->namespace_;
		p->pod = pods->items[i]->metadata->name;
		return;
	}
}

/* A pod has a container of its own, which holds its namespaces. */
static int give_pods(struct reading *r, const Cri__Pods *pods)
{
	int err = 0;

	for (size_t i = 0; !err && i < pods->n_items && r->nr < CONTAINERS_MAX; i++) {
		struct parts p = { .name = "[pod]" };

		name_pod(pods, pods->items[i]->id, &p);
		if (is_name(p.namespace) && is_name(p.pod))
			err = give(r, pods->items[i]->id, &p);
	}
	return err;
}

static int give_containers(struct reading *r, const Cri__Pods *pods,
			   const Cri__Containers *list)
{
	int err = 0;

	for (size_t i = 0; !err && i < list->n_items && r->nr < CONTAINERS_MAX; i++) {
		const Cri__Container *c = list->items[i];
		struct parts p = { .name = c->metadata ? c->metadata->name : NULL };

		name_pod(pods, c->pod_id, &p);
		err = give(r, c->id, &p);
	}
	return err;
}

static int read_cri(struct reading *r, const struct containers_answer *a)
{
	Cri__Pods *pods =
		cri__pods__unpack(NULL, a->pods.len, (const uint8_t *)a->pods.data);
	Cri__Containers *list =
		cri__containers__unpack(NULL, a->containers.len,
					(const uint8_t *)a->containers.data);
	int err = pods && list ? give_containers(r, pods, list) : -EBADMSG;

	if (!err)
		err = give_pods(r, pods);
	if (list)
		cri__containers__free_unpacked(list, NULL);
	if (pods)
		cri__pods__free_unpacked(pods, NULL);
	return err;
}
#else
static int read_cri(struct reading *r, const struct containers_answer *a)
{
	return -ENOSYS;
}
#endif

static const char *text_or_null(sqlite3_stmt *st, int column)
{
	const char *text = NULL;

	if (sqlite3_column_type(st, column) == SQLITE_TEXT)
		text = (const char *)sqlite3_column_text(st, column);
	return text && strlen(text) == (size_t)sqlite3_column_bytes(st, column) ? text
										: NULL;
}

/* Runs a query with the columns id, namespace, pod, name on a JSON array, ?1. */
static int read_json(struct reading *r, const struct buf *array, sqlite3 *json,
		     const char *sql)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(json, sql, -1, &st, NULL), err = 0;

	if (!rc)
		rc = sqlite3_bind_text(st, 1, array->len ? array->data : "",
				       (int)array->len, SQLITE_STATIC);
	while (!rc && !err && (rc = sqlite3_step(st)) == SQLITE_ROW) {
		const struct parts p = { text_or_null(st, 1), text_or_null(st, 2),
					 text_or_null(st, 3) };

		err = give(r, text_or_null(st, 0), &p);
		rc = SQLITE_OK;
	}
	sqlite3_finalize(st);
	if (err || rc == SQLITE_DONE)
		return err;
	return rc == SQLITE_NOMEM ? -ENOMEM : -EBADMSG;
}

int containers_read(enum containers_kind kind, const struct containers_answer *answer,
		    sqlite3 *json, container_row_fn fn, void *ctx)
{
	/*
	 * The labels are what kubelet writes on the containers that it makes through
	 * cri-dockerd. A name with a second slash is another container's link.
	 */
	static const char docker[] =
		"SELECT json_extract(c.value, '$.Id'),"
		" json_extract(c.value, '$.Labels.\"io.kubernetes.pod.namespace\"'),"
		" json_extract(c.value, '$.Labels.\"io.kubernetes.pod.name\"'),"
		" coalesce(json_extract(c.value, "
		"'$.Labels.\"io.kubernetes.container.name\"'),"
		" (SELECT substr(n.value, 2) FROM json_each(c.value, '$.Names') n"
		" WHERE n.value NOT LIKE '/%/%' LIMIT 1)) FROM json_each(?1) c";
	static const char storage[] =
		"SELECT json_extract(value, '$.id'), NULL, NULL,"
		" json_extract(value, '$.names[0]') FROM json_each(?1)";
	struct reading r = { fn, ctx, 0 };

	if (kind == CONTAINERS_CRI)
		return read_cri(&r, answer);
	return read_json(&r, &answer->containers, json,
			 kind == CONTAINERS_DOCKER ? docker : storage);
}
