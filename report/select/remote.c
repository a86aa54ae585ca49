/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * remote.c - debug files, programs and sources from debuginfod servers
 *
 * The client of elfutils transfers the files and keeps them. Ctrl-C during a transfer
 * ends the transfer, but not the report: the signal is blocked, and the progress
 * callback, which the client calls at least once a second, checks whether it is
 * pending.
 *
 * The client's library is loaded only when a server is asked. It loads two dozen other
 * libraries, which would take a third of the start time of every command.
 */
#include "config.h"

#include "report/select/remote.h"

#include <dlfcn.h>
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

/* The functions of the client's library. */
struct client_functions {
	__typeof__(debuginfod_begin) *begin;
	__typeof__(debuginfod_end) *end;
	__typeof__(debuginfod_set_user_data) *set_user_data;
	__typeof__(debuginfod_set_progressfn) *set_progressfn;
	__typeof__(debuginfod_find_debuginfo) *find_debuginfo;
	__typeof__(debuginfod_find_executable) *find_executable;
	__typeof__(debuginfod_find_source) *find_source;
};

struct remote {
	struct client_functions call;
	debuginfod_client *client;
	struct progress progress;
	bool is_cancelled, is_over;
};

static void interrupt_set(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
}

/* User data of a client: the callback needs it to find the functions. */
static void *user_data(debuginfod_client *client)
{
	__typeof__(debuginfod_get_user_data) *get;
	void *found = dlsym(RTLD_DEFAULT, "debuginfod_get_user_data");

	memcpy(&get, &found, sizeof(get));
	return get(client);
}

static int on_progress(debuginfod_client *client, long done, long all)
{
	const struct timespec now = { 0, 0 };
	struct remote *r = user_data(client);
	sigset_t interrupt;

	interrupt_set(&interrupt);
	if (sigtimedwait(&interrupt, NULL, &now) == SIGINT)
		r->is_cancelled = true;
	if (all > 0)
		progress_update(&r->progress, (size_t)done, (size_t)all);
	return r->is_cancelled;
}

/* Loads the client's library, which stays loaded. Returns 0 or -ENODATA (logged). */
static int load_client(struct client_functions *out)
{
	const struct {
		const char *name;
		void *function;
	} wanted[] = {
		{ "debuginfod_begin", &out->begin },
		{ "debuginfod_end", &out->end },
		{ "debuginfod_set_user_data", &out->set_user_data },
		{ "debuginfod_get_user_data", NULL },
		{ "debuginfod_set_progressfn", &out->set_progressfn },
		{ "debuginfod_find_debuginfo", &out->find_debuginfo },
		{ "debuginfod_find_executable", &out->find_executable },
		{ "debuginfod_find_source", &out->find_source },
	};
	void *library = dlopen(DEBUGINFOD_SONAME, RTLD_NOW | RTLD_GLOBAL);

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		void *found = library ? dlsym(library, wanted[i].name) : NULL;

		if (!found) {
			log_err("debuginfod: %s: install libdebuginfod1", dlerror());
			return -ENODATA;
		}
		if (wanted[i].function)
			memcpy(wanted[i].function, &found, sizeof(found));
	}
	return 0;
}

int remote_open(struct remote **out)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct client_functions call;
	struct remote *r;
	int err;

	if (!urls || !*urls) {
		log_err("debuginfod: say which servers to ask, in DEBUGINFOD_URLS");
		return -ENODATA;
	}
	err = load_client(&call);
	if (err)
		return err;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->call = call;
	setenv("DEBUGINFOD_TIMEOUT", TIMEOUT_S, 0);
	r->client = r->call.begin();
	if (!r->client) {
		free(r);
		return -ENOMEM;
	}
	r->call.set_user_data(r->client, r);
	r->call.set_progressfn(r->client, on_progress);
	*out = r;
	return 0;
}

void remote_close(struct remote *r)
{
	if (!r)
		return;
	r->call.end(r->client);
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
		return r->call.find_debuginfo(r->client, id, size, NULL);
	case PROGRAM:
		return r->call.find_executable(r->client, id, size, NULL);
	case SOURCE:
		return r->call.find_source(r->client, id, size, path, NULL);
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
