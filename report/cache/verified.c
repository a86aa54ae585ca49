/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verified.c - one small file of the cache, for all programs
 */
#include "config.h"

#include "report/cache/verified.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/times.h"
#include "db/profile/model.h"
#include "report/cache/cachefile.h"

#define NAME        "verified"
#define MAX_ENTRIES 4096 /* the oldest go */
#define SETTLED_NS  (2 * NSEC_PER_SEC)

struct entry {
	struct file_stamp state;
	uint8_t content[CONTENT_HASH_SIZE];
};

struct verified {
	struct buf entries; /* oldest first */
	bool is_new;
};

static const struct cachefile the_file = { .name = NAME,
					   .key = NAME,
					   .key_size = sizeof(NAME),
					   .max_size =
						   MAX_ENTRIES * sizeof(struct entry) };

struct verified *verified_open(void)
{
	struct verified *v = calloc(1, sizeof(*v));

	if (v && (cachefile_load(&the_file, &v->entries) ||
		  v->entries.len % sizeof(struct entry)))
		buf_reset(&v->entries);
	return v;
}

void verified_close(struct verified *v)
{
	const size_t most = the_file.max_size;
	size_t from;
	int err;

	if (!v)
		return;
	from = v->entries.len > most ? v->entries.len - most : 0;
	if (v->is_new && !v->entries.err) {
		err = cachefile_save(&the_file, v->entries.data + from,
				     v->entries.len - from);
		if (err)
			log_debug("the hashes of files cannot be kept: %s",
				  err_str(err));
	}
	buf_fini(&v->entries);
	free(v);
}

static struct entry entry_of(const struct stat *st, const uint8_t *content)
{
	struct entry e = { .state = file_stamp_of(st) };

	memcpy(e.content, content, sizeof(e.content));
	return e;
}

bool verified_knows(const struct verified *v, const struct stat *st,
		    const uint8_t *content)
{
	const struct entry e = entry_of(st, content);

	for (size_t at = 0; at < v->entries.len; at += sizeof(e)) {
		if (!memcmp(v->entries.data + at, &e, sizeof(e)))
			return true;
	}
	return false;
}

void verified_note(struct verified *v, const struct stat *st, const uint8_t *content,
		   uint64_t now_ns)
{
	const struct entry e = entry_of(st, content);

	if (e.state.ctime_ns + SETTLED_NS > now_ns)
		return;
	buf_put(&v->entries, &e, sizeof(e));
	v->is_new = true;
}
