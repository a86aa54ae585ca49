/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_label.c - runs a program under a label (dcpilabel)
 *
 * The program replaces this process. Two things carry the label: the mapping of
 * abi/label.h, which exec removes, and the environment.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/label.h"
#include "base/err.h"
#include "base/log.h"
#include "tools/commands.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

/* The exit statuses of shells. */
#define EXIT_CANNOT_RUN 126
#define EXIT_NOT_FOUND  127

/* Kernels before 6.3 do not know MFD_EXEC; later ones may insist on it. */
static int make_memfd(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_EXEC);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, MFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Nothing is ever read or executed there. */
static int tell_collectors(const char *label)
{
	char name[sizeof(CPI_LABEL_MEMFD) + CPI_LABEL_MAX];
	void *map;
	int fd, err;

	snprintf(name, sizeof(name), CPI_LABEL_MEMFD "%s", label);
	fd = make_memfd(name);
	if (fd < 0)
		return fd;
	map = mmap(NULL, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	err = map == MAP_FAILED ? -errno : 0;
	close(fd);
	return err;
}

static int run_label(struct cmd_context *ctx)
{
	const char *label = ctx->args[0];
	char **command = ctx->args + 1;
	int err;

	if (!cpi_label_is_valid(label, strlen(label)))
		return cmd_usage_error(ctx->cmd,
				       "'%s' is no label: give 1 to %d printable ASCII "
				       "characters, without spaces or a '[' in front",
				       label, CPI_LABEL_MAX);
	if (!strcmp(*command, "--"))
		command++;
	if (!*command)
		return cmd_usage_error(ctx->cmd, "needs a command");
	err = tell_collectors(label);
	if (!err && setenv(CPI_LABEL_ENV, label, 1) < 0)
		err = -errno;
	if (err) {
		log_err("label: %s: %s", label, err_str(err));
		return EXIT_FAIL;
	}
	execvp(command[0], command);
	err = errno;
	log_err("%s: %s", command[0], strerror(err));
	return err == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

static const struct opt opts[] = {
	OPT_END,
};

const struct cmd cmd_label = {
	.name = "label",
	.args = "LABEL [--] COMMAND [ARGUMENT...]",
	.summary = "Run a command, and label its samples",
	.min_args = 2,
	.max_args = CMD_REST,
	.opts = opts,
	.run = run_label,
};
