/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolfile.c - the procedures of files, kept between runs
 *
 *	{ number of entries, bytes of names }, entries, names
 */
#include "config.h"

#include "report/cache/symbolfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/symtab.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/log.h"
#include "report/cache/cachefile.h"

#define NAME_PREFIX "symbols-"
#define MAX_SIZE    (64u << 20)  /* of a file */
#define MAX_ALL     (256u << 20) /* of all files */
#define MIN_ENTRIES 4            /* reading fewer again is as quick */

struct key {
	struct file_stamp origin[2];
	uint8_t content[CONTENT_HASH_SIZE];
	uint8_t build_id[BUILD_ID_MAX];
	uint32_t build_id_size, reserved;
};

struct kept_head {
	uint64_t nr, names_size;
};

struct kept_entry {
	uint64_t start, size, limit;
	uint32_t name; /* where it begins in the names */
	uint8_t binding, label, reserved[2];
};

struct symbol_file {
	struct key key;
	char name[sizeof(NAME_PREFIX) + 16];
	struct cachefile file;
};

static void find_place(const struct image_desc *desc, const struct file_stamp origin[2],
		       struct symbol_file *p)
{
	memset(p, 0, sizeof(*p));
	memcpy(p->key.origin, origin, sizeof(p->key.origin));
	memcpy(p->key.content, desc->content, sizeof(p->key.content));
	memcpy(p->key.build_id, desc->build_id, sizeof(p->key.build_id));
	p->key.build_id_size = desc->build_id_size;
	snprintf(p->name, sizeof(p->name), "%s%016llx", NAME_PREFIX,
		 (unsigned long long)hash_bytes(0, &p->key, sizeof(p->key)));
	p->file = (struct cachefile){ .name = p->name,
				      .key = &p->key,
				      .key_size = sizeof(p->key),
				      .max_size = MAX_SIZE };
}

/* Whether the content can be what symbolfile_keep() wrote. */
static bool is_valid(const struct buf *content, struct kept_head *head)
{
	const uint64_t size = content->len;

	if (size < sizeof(*head))
		return false;
	memcpy(head, content->data, sizeof(*head));
	return head->nr && head->nr <= SYMTAB_MAX && head->names_size &&
	       head->names_size <= size &&
	       sizeof(*head) + head->nr * sizeof(struct kept_entry) +
			       head->names_size ==
		       size &&
	       !content->data[size - 1];
}

/* Moves the content into the table. Returns 0, -ENOMEM or -CPI_ECORRUPT. */
static int fill(struct symtab *t, const struct buf *content)
{
	const char *from = content->data + sizeof(struct kept_head);
	struct symtab_entry *entry;
	struct kept_head head;
	size_t room = 1;
	char *names;
	int err = 0;

	if (!is_valid(content, &head))
		return -CPI_ECORRUPT;
	while (room < head.nr)
		room *= 2;
	entry = calloc(room, sizeof(*entry));
	names = malloc(head.names_size);
	if (!entry || !names)
		err = -ENOMEM;
	for (size_t i = 0; i < head.nr && !err;
	     i++, from += sizeof(struct kept_entry)) {
		struct kept_entry e;

		memcpy(&e, from, sizeof(e));
		if (e.start >= e.limit || e.name >= head.names_size ||
		    e.binding > SYMTAB_GLOBAL || e.label > 1)
			err = -CPI_ECORRUPT;
		else
			entry[i] = (struct symtab_entry){ e.start,   e.size,
							  e.limit,   names + e.name,
							  e.binding, e.label };
	}
	if (!err) {
		memcpy(names, from, head.names_size);
		err = symtab_adopt(t, entry, head.nr, names);
	}
	if (err) {
		free(entry);
		free(names);
	}
	return err;
}

int symbolfile_recall(void *ctx, const struct image_desc *desc,
		      const struct file_stamp origin[2], struct symtab *t)
{
	struct buf content = { 0 };
	struct symbol_file p;
	int err;

	(void)ctx;
	find_place(desc, origin, &p);
	err = cachefile_load(&p.file, &content);
	if (!err)
		err = fill(t, &content);
	buf_fini(&content);
	return err;
}

static int put_table(const struct symtab *t, struct buf *out)
{
	struct kept_head head = { .nr = t->nr_entries };
	struct buf names = { 0 };

	buf_put(out, &head, sizeof(head));
	for (size_t i = 0; i < t->nr_entries && names.len <= MAX_SIZE; i++) {
		const struct symtab_entry *e = &t->entry[i];
		const struct kept_entry kept = { .start = e->start,
						 .size = e->size,
						 .limit = e->limit,
						 .name = (uint32_t)names.len,
						 .binding = e->binding,
						 .label = e->label };

		buf_put(out, &kept, sizeof(kept));
		buf_put(&names, e->raw, strlen(e->raw) + 1);
	}
	buf_put(out, names.data, names.len);
	head.names_size = names.len;
	if (!out->err)
		memcpy(out->data, &head, sizeof(head));
	if (names.err)
		out->err = names.err;
	buf_fini(&names);
	return out->err;
}

void symbolfile_keep(void *ctx, const struct image_desc *desc,
		     const struct file_stamp origin[2], const struct symtab *t)
{
	struct buf content = { 0 };
	bool *is_written = ctx;
	struct symbol_file p;
	int err;

	if (t->nr_entries < MIN_ENTRIES)
		return;
	find_place(desc, origin, &p);
	err = put_table(t, &content);
	if (!err)
		err = cachefile_save(&p.file, content.data, content.len);
	if (err)
		log_debug("%s: its procedures cannot be kept: %s", desc->name,
			  err_str(err));
	else
		*is_written = true;
	buf_fini(&content);
}

void symbolfile_limit(void)
{
	cachefile_limit(NAME_PREFIX, MAX_ALL);
}
