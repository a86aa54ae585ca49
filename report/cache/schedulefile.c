/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * schedulefile.c - a file of schedules for each CPU model
 *
 * isa_kept.h defines its content; isa_kept_open() is safe even if that is forged.
 */
#include "config.h"

#include "report/cache/schedulefile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "analysis/isa/isa_kept.h"
#include "base/err.h"
#include "base/log.h"
#include "report/cache/cachefile.h"

#define MAX_CPU     32
#define NAME_PREFIX "schedules-"

struct schedule_file {
	char name[sizeof(NAME_PREFIX) + MAX_CPU];
	struct cachefile file;
};

static void find_place(const struct isa *isa, struct schedule_file *p)
{
	snprintf(p->name, sizeof(p->name), "%s%s", NAME_PREFIX, isa_cpu(isa));
	p->file = (struct cachefile){ .name = p->name,
				      .key = p->name,
				      .key_size = strlen(p->name),
				      .max_size = ISA_KEPT_MAX };
}

/* The context of a source is its descriptor. */
static int read_part(void *ctx, uint64_t at, void *out, size_t size)
{
	return cachefile_read((int)(intptr_t)ctx, at, out, size);
}

static void close_file(void *ctx)
{
	close((int)(intptr_t)ctx);
}

/* Opens the file, if it is whole and of this program. */
static int take_file(struct isa *isa)
{
	struct isa_kept_source source = { .read = read_part, .close = close_file };
	struct schedule_file p;
	int fd;

	find_place(isa, &p);
	fd = cachefile_open(&p.file, &source.size);
	if (fd < 0)
		return fd;
	source.ctx = (void *)(intptr_t)fd;
	return isa_kept_open(isa, &source);
}

int schedulefile_load(struct isa *isa)
{
	uint64_t seed;
	int err = take_file(isa);

	if (!err || err == -ENOMEM)
		return err;
	log_debug("schedules of %s are not kept so far: %s", isa_cpu(isa),
		  err_str(err));
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == (ssize_t)sizeof(seed))
		isa_kept_seed(isa, seed);
	return 0;
}

void schedulefile_save(struct isa *isa)
{
	struct buf file = { 0 };
	struct schedule_file p;
	int err;

	if (!isa || !isa_kept_grew(isa))
		return;
	find_place(isa, &p);
	err = isa_kept_put(isa, &file);
	if (!err)
		err = cachefile_save(&p.file, file.data, file.len);
	buf_fini(&file);
	if (err)
		log_debug("schedules of %s cannot be kept: %s", isa_cpu(isa),
			  err_str(err));
}
