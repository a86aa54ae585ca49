/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_register.c - registers code that a program loaded by itself
 *
 * The daemon follows no symlink, so the path is resolved here.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "tools/commands.h"
#include "tools/ctl.h"

struct options {
	const char *base, *size, *path, *offset; /* numbers as typed */
	const char *socket;
};

/* NULL is none. */
static int parse_number(const struct cmd_context *ctx, const char *option,
			const char *text, uint64_t *out)
{
	if (!text)
		return 0;
	if (number_parse(text, 0, out))
		return cmd_usage_error(ctx->cmd, "--%s=%s: not a number", option, text);
	return 0;
}

static int resolve_path(const char *path, char out[CPI_CONTROL_PATH])
{
	char whole[PATH_MAX];

	if (!realpath(path, whole)) {
		log_err("%s: %s", path, err_str(-errno));
		return EXIT_FAIL;
	}
	if (strlen(whole) >= CPI_CONTROL_PATH) {
		log_err("%s: %s", path, err_str(-ENAMETOOLONG));
		return EXIT_FAIL;
	}
	strcpy(out, whole);
	return 0;
}

/* Opens the file with the user's rights; cpid reads this open file. */
static int open_file(const char *path, int32_t *fd)
{
	int err = file_open_regular(AT_FDCWD, path, NULL);

	if (err < 0) {
		log_err("%s: %s", path, err_str(err));
		return EXIT_FAIL;
	}
	*fd = err;
	return 0;
}

static int run_register(struct cmd_context *ctx)
{
	struct cpi_control_register request = {
		.head = { .magic = CPI_CONTROL_MAGIC,
			  .version = CPI_CONTROL_VERSION,
			  .op = CPI_CONTROL_REGISTER },
		.file = -1,
	};
	const struct options *o = ctx->opt;
	uint64_t pid = 0;
	int status;

	if (number_parse(ctx->args[0], 0, &pid) || !pid || pid > INT_MAX)
		return cmd_usage_error(ctx->cmd, "'%s' is not the number of a process",
				       ctx->args[0]);
	request.pid = (int32_t)pid;
	if (!o->base != !o->path || !o->size != !o->path || (o->offset && !o->path))
		return cmd_usage_error(ctx->cmd,
				       "--base, --size and --path belong together");
	status = parse_number(ctx, "base", o->base, &request.base);
	if (!status)
		status = parse_number(ctx, "size", o->size, &request.size);
	if (!status)
		status = parse_number(ctx, "offset", o->offset, &request.offset);
	if (!status && o->path)
		status = resolve_path(o->path, request.path);
	if (!status && o->path)
		status = open_file(request.path, &request.file);
	return status ? status : ctl_run_with(o->socket, &request, sizeof(request));
}

static const struct opt opts[] = {
	OPT("base", 0, "ADDRESS", "address of the code in the process", OPT_STRING,
	    base),
	OPT("size", 0, "BYTES", "size of the code", OPT_STRING, size),
	OPT("path", 0, "FILE", "the file that it was read from", OPT_STRING, path),
	OPT("offset", 0, "BYTES", "offset of the code in the file (default: 0)",
	    OPT_STRING, offset),
	OPT_SOCKET,
	OPT_END,
};

const struct cmd cmd_register = {
	.name = "register",
	.args = "PID",
	.summary = "Announce code that a process read without the dynamic linker",
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.opt_size = sizeof(struct options),
	.run = run_register,
};
