/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_import.c - turns recordings of perf into epochs
 *
 * An epoch is first made in a database of its own, then moved as an epoch of another
 * machine is: whole or not at all, and beside a running cpid.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "daemon/import/perfimport.h"
#include "db/core/db.h"
#include "db/move/import.h"
#include "db/query/query.h"
#include "report/select/select.h"
#include "tools/commands.h"
#include "tools/input/unpack.h"
#include "tools/options.h"
#include "tools/ui/out.h"

#define MAX_MEMORY    (256u << 20) /* of counts that are not yet written */
#define DATABASE_NAME "epoch.db"

struct options {
	struct view_options view;
	const char *output, *label;
	bool keep_partial;
};

static const char *temporary_folder(void)
{
	const char *tmp = getenv("TMPDIR");

	return tmp && *tmp ? tmp : "/tmp";
}

/*
 * Copies input that cannot be read twice to an unnamed file. Returns a descriptor or
 * -errno.
 */
static int spool(const char *path)
{
	char piece[65536];
	struct unpack *u;
	ssize_t n;
	int fd, err = unpack_open(path, &u);

	if (err) {
		log_err("%s: %s", path, err_str(err));
		return err;
	}
	fd = open(temporary_folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	err = fd < 0 ? -errno : 0;
	while (!err && (n = unpack_read(u, piece, sizeof(piece)))) {
		err = n < 0 ? (int)n : file_write(fd, piece, (size_t)n);
	}
	unpack_close(u);
	if (!err)
		return fd;
	log_err("%s: its copy in %s: %s", path, temporary_folder(), err_str(err));
	if (fd >= 0)
		close(fd);
	return err;
}

static bool ends_with(const char *text, const char *end)
{
	size_t len = strlen(text), n = strlen(end);

	return len > n && !strcmp(text + len - n, end);
}

/*
 * Opens the recording as a file that can be read twice. Returns a descriptor or -errno.
 */
static int open_recording(const char *path)
{
	int fd;

	if (!strcmp(path, "-") || ends_with(path, ".gz") || ends_with(path, ".zst"))
		return spool(path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd >= 0)
		fd = file_keep_regular(fd, NULL);
	else
		fd = -errno;
	if (fd < 0)
		log_err("%s: %s", path,
			fd == -ENODEV ? "not a regular file: name one, or - for "
					"standard input"
				      : err_str(fd));
	return fd;
}

/* Whether the file is a database, so that cpi epoch import was meant. */
static bool is_database(const char *path, int fd)
{
	static const char magic[] = "SQLite format 3";
	char start[sizeof(magic)];

	if (pread(fd, start, sizeof(start), 0) != sizeof(start) ||
	    memcmp(start, magic, sizeof(magic)))
		return false;
	log_err("%s: this is a database: use 'cpi epoch import %s'", path, path);
	return true;
}

/* Finds the epoch that this recording was imported as; 0 if there is none. */
static int find_known(struct db *db, int fd, int64_t *epoch)
{
	struct query_epochs all = { 0 };
	char id[PERFIMPORT_ID_SIZE];
	int err = perfimport_id(fd, id);

	*epoch = 0;
	if (!err)
		err = query_epochs(db, "all", &all);
	if (err == -ENOENT)
		return 0;
	for (size_t i = 0; i < all.nr; i++) {
		if (!strcmp(all.epoch[i].boot_id, id))
			*epoch = all.epoch[i].id;
	}
	query_epochs_fini(&all);
	return err;
}

/* Makes the epoch in a new database at path. */
static int make_epoch(const struct cmd_context *ctx, const char *path, int fd,
		      struct perfimport_result *result)
{
	const struct options *o = ctx->opt;
	const struct perfimport_config cfg = { .name = ctx->args[0],
					       .label = o->label,
					       .keep_partial = o->keep_partial,
					       .max_memory = MAX_MEMORY };
	struct db *db;
	int err = db_open(path, DB_COLLECT, &db);

	if (err)
		return err;
	err = perfimport_file(db, fd, &cfg, result);
	db_close(db);
	return err;
}

static void remove_folder(const char *folder)
{
	static const char *const names[] = { DATABASE_NAME, DATABASE_NAME "-wal",
					     DATABASE_NAME "-shm",
					     DATABASE_NAME "-lock" };
	int dir = open(folder, O_DIRECTORY | O_PATH | O_CLOEXEC);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlinkat(dir, names[i], 0);
	close(dir);
	rmdir(folder);
}

static void print_result(const struct cmd_context *ctx, const struct db *db,
			 const struct import_result *imported,
			 const struct perfimport_result *r)
{
	out_line("%s: epoch %" PRId64 " of %s: %" PRIu64 " samples, %" PRIu64
		 " of them lost by perf, %" PRIu64 " without an image",
		 ctx->args[0], imported->first, db_path(db), r->nr_samples, r->nr_lost,
		 r->nr_unknown);
	if (r->nr_stacks)
		out_line("%s: %" PRIu64 " call stacks", ctx->args[0], r->nr_stacks);
	if (r->nr_strange)
		log_warn("%s: %" PRIu64 " samples are of events that it does not "
			 "describe: they are left out",
			 ctx->args[0], r->nr_strange);
	if (r->err)
		log_warn("%s: %s: what comes before is kept", ctx->args[0],
			 err_str(r->err));
}

static int import(const struct cmd_context *ctx, struct db *db, int fd)
{
	struct perfimport_result result = { 0 };
	struct import_result imported = { 0 };
	char *folder = NULL, *path = NULL;
	int err = 0;

	if (asprintf(&folder, "%s/cpi-import.XXXXXX", temporary_folder()) < 0)
		return -ENOMEM;
	if (!mkdtemp(folder)) {
		err = -errno;
		log_err("%s: %s", folder, err_str(err));
		free(folder);
		return err;
	}
	if (asprintf(&path, "%s/" DATABASE_NAME, folder) < 0)
		err = -ENOMEM;
	if (!err)
		err = make_epoch(ctx, path, fd, &result);
	if (!err)
		err = import_epochs(db, path, &imported);
	if (!err)
		print_result(ctx, db, &imported, &result);
	remove_folder(folder);
	free(path);
	free(folder);
	return err;
}

static int run_import(struct cmd_context *ctx)
{
	struct options *o = ctx->opt;
	struct text_list *dbs = &o->view.select.dbs;
	struct db *db = NULL;
	int64_t known;
	int fd, err;

	if (o->output && dbs->nr)
		return cmd_usage_error(ctx->cmd, "--output and --db are the same");
	if (o->output)
		*dbs = (struct text_list){ { o->output }, 1 };
	else if (!dbs->nr && !db_env_path())
		*dbs = (struct text_list){ { SELECT_LOCAL_DB }, 1 };
	fd = open_recording(ctx->args[0]);
	if (fd < 0)
		return EXIT_FAIL;
	err = is_database(ctx->args[0], fd) ? -EINVAL
					    : select_make_db(&o->view.select, &db);
	if (!err)
		err = find_known(db, fd, &known);
	if (!err && known)
		out_line("%s: it was imported before: epoch %" PRId64 " of %s",
			 ctx->args[0], known, db_path(db));
	else if (!err)
		err = import(ctx, db, fd);
	if (err && !log_has_error()) /* of a file that could not be read, for example */
		log_err("%s: cannot be imported: %s", ctx->args[0], err_str(err));
	select_close_made(db);
	close(fd);
	return err ? EXIT_FAIL : EXIT_OK;
}

static const struct opt opts[] = {
	OPT("output", 'o', "FILE",
	    "the database (default: " SELECT_LOCAL_DB "); it is made if it is missing",
	    OPT_STRING, output),
	OPT("db", 0, "FILE", "the same", OPT_LIST, view.select.dbs),
	OPT("label", 'l', "LABEL", "name of the epoch", OPT_STRING, label),
	OPT("keep-partial", 0, NULL, "keep the data before a damaged place", OPT_FLAG,
	    keep_partial),
	OPT_END,
};

const struct cmd cmd_import = {
	.name = "import",
	.args = "FILE",
	.summary = "Import a perf.data file as an epoch",
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.opt_size = sizeof(struct options),
	.run = run_import,
};
