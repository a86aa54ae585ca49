/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sumfile.c - a file of the cache for each block of epochs
 */
#include "config.h"

#include "report/cache/sumfile.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/log.h"
#include "report/cache/cachefile.h"

#define NAME_PREFIX "sums-"
#define MAX_SIZE    (16u << 20) /* of a file */
#define MAX_ALL     (64u << 20) /* of all files */

struct key {
	uint64_t device, inode;
	struct query_keep_key block;
};

struct sum_file {
	struct key key;
	char name[sizeof(NAME_PREFIX) + 16];
	struct cachefile file;
};

static void find_place(const struct query_keeper *k, const struct query_keep_key *block,
		       struct sum_file *f)
{
	f->key = (struct key){ k->device, k->inode, *block };
	snprintf(f->name, sizeof(f->name), "%s%016llx", NAME_PREFIX,
		 (unsigned long long)(block->hash[0] ^ k->inode));
	f->file = (struct cachefile){ .name = f->name,
				      .key = &f->key,
				      .key_size = sizeof(f->key),
				      .max_size = MAX_SIZE };
}

static int load(const struct query_keeper *k, const struct query_keep_key *block,
		struct buf *out)
{
	struct sum_file f;

	find_place(k, block, &f);
	return cachefile_load(&f.file, out);
}

static void save(const struct query_keeper *k, const struct query_keep_key *block,
		 const void *data, size_t size)
{
	struct sum_file f;
	int err;

	find_place(k, block, &f);
	err = cachefile_save(&f.file, data, size);
	if (err)
		log_debug("sums are not kept: %s", err_str(err));
}

static void limit(const struct query_keeper *k)
{
	(void)k;
	cachefile_limit(NAME_PREFIX, MAX_ALL);
}

int sumfile_keeper(const char *database, struct query_keeper *k)
{
	struct stat st;

	if (stat(database, &st))
		return -errno;
	*k = (struct query_keeper){
		.load = load,
		.save = save,
		.limit = limit,
		.device = st.st_dev,
		.inode = st.st_ino,
	};
	return 0;
}
