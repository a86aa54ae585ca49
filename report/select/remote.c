/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elfutils' client does the transfer and keeps the files. Ctrl-C while it waits ends
 * the transfer, not the report: the signal is blocked meanwhile, and the callback,
 * which the client calls at least once a second, looks whether it is pending.
 */
#include "config.h"

#include "report/select/remote.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"

#ifdef HAVE_DEBUGINFOD

#include <elfutils/debuginfod.h>

#include "base/err.h"
#include "base/progress.h"

#define TIMEOUT_S "30" /* without progress; the client's own default is 90 */

struct remote {
	debuginfod_client *client;
	struct progress progress;
	bool is_cancelled, is_over;
};

static void interrupt_set(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
}

static int on_progress(debuginfod_client *client, long done, long all)
{
	const struct timespec now = { 0, 0 };
	struct remote *r = debuginfod_get_user_data(client);
	sigset_t interrupt;

	interrupt_set(&interrupt);
	if (sigtimedwait(&interrupt, NULL, &now) == SIGINT)
		r->is_cancelled = true;
	if (all > 0)
		progress_update(&r->progress, (size_t)done, (size_t)all);
	return r->is_cancelled;
}

int remote_open(struct remote **out)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct remote *r;

	if (!urls || !*urls) {
		log_err("debuginfod: say which servers to ask, in DEBUGINFOD_URLS");
		return -ENODATA;
	}
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	setenv("DEBUGINFOD_TIMEOUT", TIMEOUT_S, 0);
	r->client = debuginfod_begin();
	if (!r->client) {
		free(r);
		return -ENOMEM;
	}
	debuginfod_set_user_data(r->client, r);
	debuginfod_set_progressfn(r->client, on_progress);
	*out = r;
	return 0;
}

void remote_close(struct remote *r)
{
	if (!r)
		return;
	debuginfod_end(r->client);
	free(r);
}

static void give_up(struct remote *r, int err)
{
	r->is_over = true;
	if (r->is_cancelled)
		log_warn("debuginfod: interrupted: going on without");
	else
		log_warn("debuginfod: %s: going on without (DEBUGINFOD_URLS=%s)",
			 err_str(err), getenv("DEBUGINFOD_URLS"));
}

enum what { DEBUG_FILE, PROGRAM, SOURCE };

static int find_file(struct remote *r, enum what what, const uint8_t *id, int size,
		     const char *path)
{
	switch (what) {
	case DEBUG_FILE:
		return debuginfod_find_debuginfo(r->client, id, size, NULL);
	case PROGRAM:
		return debuginfod_find_executable(r->client, id, size, NULL);
	case SOURCE:
		return debuginfod_find_source(r->client, id, size, path, NULL);
	}
	return -ENOENT;
}

static int ask(struct remote *r, enum what what, const uint8_t *id, size_t id_size,
	       const char *path)
{
	static const char *const titles[] = { "fetching debug file", "fetching program",
					      "fetching source" };
	sigset_t interrupt, before;
	int fd;

	if (r->is_over || !id_size)
		return -ENOENT;
	interrupt_set(&interrupt);
	sigprocmask(SIG_BLOCK, &interrupt, &before);
	r->progress = progress_begin(titles[what]);
	fd = find_file(r, what, id, (int)id_size, path);
	progress_end(&r->progress);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (fd < 0 && (fd != -ENOENT || r->is_cancelled))
		give_up(r, fd);
	return fd;
}

int remote_debug_file(void *r, const uint8_t *id, size_t id_size)
{
	return ask(r, DEBUG_FILE, id, id_size, NULL);
}

int remote_program(struct remote *r, const uint8_t *id, size_t id_size)
{
	return ask(r, PROGRAM, id, id_size, NULL);
}

int remote_source(struct remote *r, const uint8_t *id, size_t id_size, const char *path)
{
	return path[0] == '/' ? ask(r, SOURCE, id, id_size, path) : -ENOENT;
}

#else

int remote_open(struct remote **out)
{
	log_err("debuginfod: this cpi was built without its client: configure with "
		"libdebuginfod-dev installed");
	return -ENODATA;
}

void remote_close(struct remote *r)
{
}

int remote_debug_file(void *r, const uint8_t *id, size_t id_size)
{
	return -ENOENT;
}

int remote_program(struct remote *r, const uint8_t *id, size_t id_size)
{
	return -ENOENT;
}

int remote_source(struct remote *r, const uint8_t *id, size_t id_size, const char *path)
{
	return -ENOENT;
}

#endif
