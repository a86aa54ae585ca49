/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof_kept.c - a file of the cache for the rows of each selection
 *
 *	head; sums of all rows but the idle one, and of it, by event; images, by id;
 *	rows; sums of each row; strings; what the rows depend on (imagetrail.h)
 */
#include "config.h"

#include "report/profile/prof_kept.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/log.h"
#include "report/cache/cachefile.h"
#include "report/profile/prof_context.h"
#include "report/profile/prof_rows.h"
#include "report/select/content.h"

#define NAME_PREFIX "rows-"
#define MAX_SIZE    (32u << 20)  /* of a file */
#define MAX_ALL     (128u << 20) /* of all files */
#define NO_STRING   UINT32_MAX

struct kept_head {
	uint64_t nr_events, nr_images, nr_rows;
	uint64_t strings_size, files_size, failures_size;
};

struct kept_image {
	int64_t id;
	struct image_desc desc; /* its name is NULL */
	uint64_t name;          /* where it begins in the strings */
};

struct kept_row {
	int64_t image; /* id; 0: none */
	uint64_t start;
	double kernel_ns, kernel_ticks_ns;
	uint32_t kind, procedure; /* enum row_kind; where it begins in the strings */
};

struct prof_kept {
	uint64_t key[2];
	char name[sizeof(NAME_PREFIX) + 16];
	struct cachefile file;
	struct image_trail trail;
	struct buf images, strings; /* of rows that are to be saved */
};

/* The parts of a file that was read, with its strings checked. */
struct kept_parts {
	const struct kept_head *head;
	const struct event_sum *all; /* those of all rows, then those of the idle row */
	const struct kept_image *image;
	const struct kept_row *row;
	const struct event_sum *sum;
	const char *strings, *files, *failures;
};

/* ---- the key ---- */

static void add_text(struct buf *key, const char *text)
{
	buf_printf(key, "%d %s\n", !!text, text ? text : "");
}

/* What the rows depend on, beside the content of the epochs. */
static void add_request(struct buf *key, const struct prof *p)
{
	const struct select_request *req = &p->req->select;

	buf_printf(key, "%llu %llu\n", (unsigned long long)p->sel.keeper.device,
		   (unsigned long long)p->sel.keeper.inode);
	add_text(key, p->sel.query.event);
	add_text(key, p->sel.query.image);
	for (int i = 0; i < NR_CONTEXT_KINDS; i++)
		add_text(key, p->sel.query.context[i]);
	add_text(key, p->sel.query.container);
	add_text(key, p->sel.query.unit);
	add_text(key, req->debug_dir ? req->debug_dir : getenv("CPI_DEBUG_DIR"));
	for (size_t i = 0; i < p->ev.nr; i++)
		add_text(key, p->ev.event[i].name);
	buf_put(key, p->ev.weight, p->sel.streams.nr * sizeof(*p->ev.weight));
}

static int make_key(const struct prof *p, uint64_t out[2])
{
	uint8_t content[CONTENT_SIZE];
	struct buf key = { 0 };
	int err = content_hash(&p->sel, content);

	if (err)
		return err;
	buf_put(&key, content, sizeof(content));
	add_request(&key, p);
	err = key.err;
	if (!err)
		hash_add(out, key.data, key.len);
	buf_fini(&key);
	return err;
}

static bool is_kept(const struct prof *p)
{
	const struct prof_request *req = p->req;

	return p->sel.query.keeper && !p->whole && !p->parts &&
	       req->by == BY_PROCEDURE && !req->inlines && !prof_context_kinds(req) &&
	       req->attribution == ATTRIBUTION_AUTO;
}

int prof_kept_open(const struct prof *p, struct image_cache *images,
		   struct prof_kept **out)
{
	struct prof_kept *k;

	*out = NULL;
	if (!is_kept(p) || image_cache_remote(images))
		return 0;
	k = calloc(1, sizeof(*k));
	if (!k)
		return -ENOMEM;
	if (make_key(p, k->key)) { /* the query that follows says what is wrong */
		free(k);
		return 0;
	}
	snprintf(k->name, sizeof(k->name), "%s%016llx", NAME_PREFIX,
		 (unsigned long long)k->key[0]);
	k->file = (struct cachefile){ .name = k->name,
				      .key = k->key,
				      .key_size = sizeof(k->key),
				      .max_size = MAX_SIZE };
	*out = k;
	return 0;
}

void prof_kept_close(struct prof_kept *k)
{
	if (!k)
		return;
	image_trail_fini(&k->trail);
	buf_fini(&k->images);
	buf_fini(&k->strings);
	free(k);
}

struct image_trail *prof_kept_trail(struct prof_kept *k)
{
	return &k->trail;
}

/* ---- load ---- */

/* Takes n parts of a size from *at; NULL if there are fewer. */
static const void *take(const char **at, const char *end, uint64_t n, size_t size)
{
	const char *from = *at;

	if (n > (size_t)(end - from) / size)
		return NULL;
	*at += n * size;
	return from;
}

static bool is_string(const struct kept_parts *parts, uint64_t at)
{
	return at < parts->head->strings_size;
}

static int compare_ids(const void *a, const void *b)
{
	const struct kept_image *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static const struct kept_image *find_image(const struct kept_parts *parts, int64_t id)
{
	const struct kept_image wanted = { .id = id };

	return bsearch(&wanted, parts->image, parts->head->nr_images, sizeof(wanted),
		       compare_ids);
}

/* Every row but the idle one has a name, and those of profiles have an image. */
static bool is_valid(const struct kept_parts *parts)
{
	for (uint64_t i = 0; i < parts->head->nr_images; i++) {
		const struct kept_image *image = &parts->image[i];

		if (!is_string(parts, image->name) ||
		    (i && image->id <= image[-1].id) || image->id <= 0)
			return false;
	}
	for (uint64_t i = 0; i < parts->head->nr_rows; i++) {
		const struct kept_row *row = &parts->row[i];

		if (row->kind > ROW_IDLE ||
		    (row->kind == ROW_PROFILE) != !!find_image(parts, row->image) ||
		    (row->procedure == NO_STRING ? row->kind != ROW_IDLE
						 : !is_string(parts, row->procedure)))
			return false;
	}
	return true;
}

static bool find_parts(const struct buf *content, size_t nr_events,
		       struct kept_parts *out)
{
	const char *at = content->data, *end = content->len ? at + content->len : NULL;
	const struct kept_head *h = at ? take(&at, end, 1, sizeof(*h)) : NULL;

	if (!h || h->nr_events != nr_events || h->nr_rows > MAX_SIZE)
		return false;
	*out = (struct kept_parts){ .head = h };
	out->all = take(&at, end, 2 * (nr_events + 1), sizeof(*out->all));
	out->image = take(&at, end, h->nr_images, sizeof(*out->image));
	out->row = take(&at, end, h->nr_rows, sizeof(*out->row));
	out->sum = take(&at, end, h->nr_rows * nr_events, sizeof(*out->sum));
	out->strings = take(&at, end, h->strings_size, 1);
	out->files = take(&at, end, h->files_size, 1);
	out->failures = take(&at, end, h->failures_size, 1);
	return out->all && out->image && out->row && out->sum && out->strings &&
	       out->files && out->failures && at == end &&
	       (!h->strings_size || !out->strings[h->strings_size - 1]) &&
	       is_valid(out);
}

static int load_row(const struct kept_parts *parts, uint64_t i, struct prof *p)
{
	const struct kept_row *from = &parts->row[i];
	const struct kept_image *image = find_image(parts, from->image);
	struct query_image of = { 0 };
	struct row_key key = { .kind = from->kind, .start = from->start };
	struct prof_row *row;
	int err;

	if (image) {
		of = (struct query_image){ image->id, image->desc };
		of.desc.name = parts->strings + image->name;
		key.image = &of;
	}
	if (from->procedure != NO_STRING)
		key.procedure = parts->strings + from->procedure;
	err = prof_row(p, &key, &row);
	if (err)
		return err;
	memcpy(row->tally, parts->sum + i * p->ev.nr, p->ev.nr * sizeof(*row->tally));
	row->kernel_ns = from->kernel_ns;
	row->kernel_ticks_ns = from->kernel_ticks_ns;
	return 0;
}

static int load_rows(const struct kept_parts *parts, struct prof *p)
{
	const size_t nr = p->ev.nr + 1;
	int err = 0;

	for (uint64_t i = 0; i < parts->head->nr_rows && !err; i++)
		err = load_row(parts, i, p);
	memcpy(p->busy, parts->all, nr * sizeof(*p->busy));
	memcpy(p->idle, parts->all + nr, nr * sizeof(*p->idle));
	return err;
}

int prof_kept_load(struct prof_kept *k, struct prof *p, struct image_cache *images)
{
	struct kept_parts parts;
	struct buf content = { 0 };
	int err = cachefile_load(&k->file, &content);

	if (err || !find_parts(&content, p->ev.nr, &parts) ||
	    !image_trail_is_current(parts.files, parts.head->files_size)) {
		buf_fini(&content);
		return err == -ENOMEM ? err : -ENOENT;
	}
	err = load_rows(&parts, p);
	if (!err)
		image_cache_fail_again(images, parts.failures,
				       parts.head->failures_size);
	buf_fini(&content);
	return err;
}

/* ---- save ---- */

static uint64_t add_string(struct buf *strings, const char *text)
{
	const size_t at = strings->len;

	buf_put(strings, text, strlen(text) + 1);
	return at;
}

/* The rows of an image come together. */
int prof_kept_image(struct prof_kept *k, const struct query_image *image)
{
	const size_t nr = k->images.len / sizeof(struct kept_image);
	const struct kept_image *all = (const struct kept_image *)k->images.data;
	struct kept_image own = { .id = image->id, .desc = image->desc };

	if (nr && all[nr - 1].id == image->id)
		return 0;
	own.desc.name = NULL;
	own.name = add_string(&k->strings, image->desc.name);
	buf_put(&k->images, &own, sizeof(own));
	return k->strings.err ? k->strings.err : k->images.err;
}

static void put_row(struct prof_kept *k, const struct prof *p,
		    const struct prof_row *row, struct buf *rows, struct buf *sums)
{
	const struct kept_row out = {
		.image = row->image,
		.start = row->start,
		.kernel_ns = row->kernel_ns,
		.kernel_ticks_ns = row->kernel_ticks_ns,
		.kind = row->kind,
		.procedure = row->procedure
				     ? (uint32_t)add_string(&k->strings, row->procedure)
				     : NO_STRING,
	};

	buf_put(rows, &out, sizeof(out));
	buf_put(sums, row->tally, p->ev.nr * sizeof(*row->tally));
}

/* Orders the images by id; an image whose rows did not come together is there twice. */
static size_t sort_images(struct buf *images)
{
	struct kept_image *image = (struct kept_image *)images->data;
	const size_t nr = images->len / sizeof(*image);
	size_t n = 0;

	if (nr)
		qsort(image, nr, sizeof(*image), compare_ids);
	for (size_t i = 0; i < nr; i++) {
		if (!n || image[n - 1].id != image[i].id)
			image[n++] = image[i];
	}
	images->len = n * sizeof(*image);
	return n;
}

static int put(struct prof_kept *k, const struct prof *p, struct buf *out)
{
	const struct buf *files = &k->trail.files, *failures = &k->trail.failures;
	struct kept_head head = { .nr_events = p->ev.nr,
				  .nr_images = sort_images(&k->images),
				  .nr_rows = p->map.nr,
				  .files_size = files->len,
				  .failures_size = failures->len };
	struct buf rows = { 0 }, sums = { 0 };
	struct hnode *n, *next;
	int err;

	hmap_for_each (&p->map, n, next)
		put_row(k, p, container_of(n, struct prof_row, node), &rows, &sums);
	head.strings_size = k->strings.len;
	buf_put(out, &head, sizeof(head));
	buf_put(out, p->busy, (p->ev.nr + 1) * sizeof(*p->busy));
	buf_put(out, p->idle, (p->ev.nr + 1) * sizeof(*p->idle));
	buf_put(out, k->images.data, k->images.len);
	buf_put(out, rows.data, rows.len);
	buf_put(out, sums.data, sums.len);
	buf_put(out, k->strings.data, k->strings.len);
	buf_put(out, files->data, files->len);
	buf_put(out, failures->data, failures->len);
	err = rows.err ? rows.err : sums.err;
	if (!err)
		err = files->err ? files->err : failures->err;
	if (!err)
		err = k->strings.err ? k->strings.err : out->err;
	buf_fini(&rows);
	buf_fini(&sums);
	return err;
}

void prof_kept_save(struct prof_kept *k, const struct prof *p)
{
	struct buf out = { 0 };
	int err;

	if (k->trail.is_open || p->has_weights)
		return;
	err = put(k, p, &out);
	if (!err)
		err = cachefile_save(&k->file, out.data, out.len);
	if (err)
		log_debug("rows are not kept: %s", err_str(err));
	else
		cachefile_limit(NAME_PREFIX, MAX_ALL);
	buf_fini(&out);
}
