/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * freshness.c - has cpid store its newest samples before a report
 *
 * cpid stores once a minute, so without this a report of an open epoch would lack the
 * newest samples, which users want most often. cpid does not fill copies of its
 * database; device and inode tell the original from a copy.
 */
#include "config.h"

#include "report/select/freshness.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/times.h"
#include "db/core/claim.h"
#include "report/select/client.h"

#define PATIENCE_NS \
	(1000 * NSEC_PER_MSEC)          /* for each of two answers, on a busy machine */
#define SEARCH_NS (200 * NSEC_PER_MSEC) /* for the process that fills it */
#define FRESH_NS  (2 * NSEC_PER_SEC)    /* data of this age count as up to date */

static void keep_path(void *ctx, const char *name, const char *value)
{
	char **path = ctx;

	if (!*path && !strcmp(name, "db_path") && *value == '/')
		*path = strdup(value);
}

int freshness_database(const char *socket, uint64_t patience_ns, char **path)
{
	struct buf status = { 0 };
	char *found = NULL;
	int err = client_call(socket, CPI_CONTROL_STATUS, "", patience_ns, &status);

	if (!err) {
		client_each_line(buf_str(&status), keep_path, &found);
		err = found ? 0 : -ENODATA;
	}
	buf_fini(&status);
	if (!err)
		*path = found;
	return err;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && file_same(&x, &y);
}

/* Checks that the cpid at socket fills the database. Errors as freshness_store(). */
static int check_database(const char *socket, const char *path, uint64_t patience_ns,
			  struct buf *why)
{
	char *filled = NULL;
	int err = freshness_database(socket, patience_ns, &filled);

	if (!err && !is_same_file(filled, path)) {
		buf_printf(why, "the cpid at %s fills %s", client_socket(socket),
			   filled);
		err = -EXDEV;
	}
	free(filled);
	return err;
}

/* Writes the reason why cpid has not stored; err is client_call()'s result. */
static void put_reason(struct buf *why, const char *socket, int err)
{
	const char *at = client_socket(socket);

	if (client_is_absent(err))
		buf_printf(why, "no cpid listens at %s", at);
	else if (err == -EPERM)
		buf_puts(why, "only root and cpid's user may ask cpid to store");
	else if (err == -ETIMEDOUT)
		buf_printf(why, "the cpid at %s does not answer", at);
	else if (err == -ENODATA)
		buf_printf(why, "the cpid at %s does not name its database", at);
	else
		buf_printf(why, "cpid at %s: %s", at, err_str(err));
}

int freshness_store(const char *socket, const char *path, uint64_t patience_ns,
		    struct buf *why)
{
	struct buf reply = { 0 };
	int err = check_database(socket, path, patience_ns, why);

	if (err == -EXDEV)
		return err;
	if (!err)
		err = client_call(socket, CPI_CONTROL_FLUSH, "", patience_ns, &reply);
	if (err)
		put_reason(why, socket, err);
	buf_fini(&reply);
	return err;
}

/* Returns the open epoch that was stored last; NULL: all epochs are closed. */
static const struct query_epoch *find_open(const struct query_epochs *epochs)
{
	const struct query_epoch *open = NULL;

	for (size_t i = 0; i < epochs->nr; i++) {
		const struct query_epoch *e = &epochs->epoch[i];

		if (e->open && (!open || e->to_ns > open->to_ns))
			open = e;
	}
	return open;
}

/* Whether a process fills the database; err is freshness_store()'s result. */
static bool is_filled(const char *path, int err)
{
	return err == -EPERM || claim_holder(path, SEARCH_NS) > 0;
}

bool freshness_refresh(const char *socket, const char *path,
		       const struct query_epochs *epochs)
{
	const struct query_epoch *open = find_open(epochs);
	const uint64_t now_ns = time_real_ns();
	char at[TIME_TEXT_SIZE], age[DURATION_TEXT_SIZE];
	struct buf why = { 0 };
	int err;

	if (!open || open->to_ns + FRESH_NS > now_ns)
		return false;
	err = freshness_store(socket, path, PATIENCE_NS, &why);
	if (err && is_filled(path, err))
		log_info("%s: stored up to %s, %s ago: %s", path,
			 time_format_near(open->to_ns, now_ns, at),
			 time_format_duration(now_ns - open->to_ns, age),
			 buf_str(&why));
	buf_fini(&why);
	return !err;
}
