/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay.c - records of a core, and the program that ran on it
 */
#include "config.h"

#include "tools/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/image.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/elfid.h"
#include "daemon/replay.h"

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

/* As a collector would have described it that saw it run. */
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

/* path is absolute, and stays. 0 or an error, logged; then the image is to be closed.
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

static int replay(const struct cmd_context *ctx, const char *output,
		  const struct replay_program *program)
{
	const struct replay_config cfg = { .path = ctx->opt.replay,
					   .db_path = output,
					   .label = ctx->opt.label,
					   .program = program };
	uint64_t nr;

	if (replay_file(&cfg, &nr))
		return EXIT_FAIL;
	log_info("%" PRIu64 " samples in %s; try: cpi prof --db %s", nr, output,
		 output);
	return EXIT_OK;
}

int replay_records(const struct cmd_context *ctx, const char *output)
{
	struct replay_program program;
	char *path;
	int status = EXIT_FAIL;

	if (!ctx->opt.program)
		return replay(ctx, output, NULL);
	path = realpath(ctx->opt.program, NULL);
	if (!path) {
		log_err("%s: %s", ctx->opt.program, err_str(-errno));
		return EXIT_FAIL;
	}
	if (!open_program(path, &program)) {
		status = replay(ctx, output, &program);
		image_close(program.ctx);
	}
	free(path);
	return status;
}
