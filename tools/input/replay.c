/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay.c - imports records of a core, with the program that ran on it
 */
#include "config.h"

#include "tools/input/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/image/image.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/import/replay.h"
#include "decode/elfid.h"

static bool offset_of(void *ctx, uint64_t address, uint64_t *offset)
{
	return image_offset(ctx, address, offset);
}

static const char *arch_of(const struct image *im)
{
	switch (image_machine(im)) {
	case MACHINE_X86_64:
		return "x86_64";
	case MACHINE_AARCH64:
		return "aarch64";
	case MACHINE_UNKNOWN:
		break;
	}
	return "";
}

/* Describes the program as a collector would. */
static void describe(const char *path, const struct stat *st, const struct elfid *id,
		     struct image_desc *out)
{
	*out = (struct image_desc){ .kind = IMAGE_FILE,
				    .name = path,
				    .build_id_size = id->build_id_size,
				    .has_content = true,
				    .device = st->st_dev,
				    .inode = st->st_ino,
				    .size = st->st_size,
				    .mtime_ns = st->st_mtim.tv_sec * NSEC_PER_SEC +
						st->st_mtim.tv_nsec };
	memcpy(out->build_id, id->build_id, sizeof(out->build_id));
	memcpy(out->content, id->content, sizeof(out->content));
}

/*
 * path is absolute and must stay. Returns 0; then the caller closes the image. Errors
 * are logged.
 */
static int open_program(const char *path, struct replay_program *out)
{
	struct image *im = NULL;
	struct elfid id;
	struct stat st;
	int fd = file_open_regular(AT_FDCWD, path, &st);
	int err = fd < 0 ? fd : elfid_read(fd, &id);

	if (!err) {
		describe(path, &st, &id, &out->desc);
		err = image_open_fd(&out->desc, fd, path, &im);
		fd = -1; /* the image's now */
	}
	if (fd >= 0)
		close(fd);
	if (err) {
		log_err("%s: %s", path, err_str(err));
		return err;
	}
	out->arch = arch_of(im);
	out->offset_of = offset_of;
	out->ctx = im;
	return 0;
}

static int replay(const struct replay_request *req,
		  const struct replay_program *program)
{
	const struct replay_config cfg = { .path = req->records,
					   .db_path = req->output,
					   .label = req->label,
					   .program = program };
	uint64_t nr;
	int err = replay_file(&cfg, &nr);

	if (err)
		return err;
	log_info("%" PRIu64 " samples in %s; try: cpi prof --db %s", nr, req->output,
		 req->output);
	return 0;
}

int replay_records(const struct replay_request *req)
{
	struct replay_program program;
	char *path;
	int err;

	if (!req->program)
		return replay(req, NULL);
	path = realpath(req->program, NULL);
	if (!path) {
		err = -errno;
		log_err("%s: %s", req->program, err_str(err));
		return err;
	}
	err = open_program(path, &program);
	if (!err) {
		err = replay(req, &program);
		image_close(program.ctx);
	}
	free(path);
	return err;
}
