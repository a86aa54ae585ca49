/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * select.c - opens the database, and finds epochs, streams and losses
 *
 * These functions log each failure with the possible choices, so commands add nothing.
 * Epochs of different machines are added only if their times are comparable.
 */
#include "config.h"

#include "report/select/select.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "base/text.h"
#include "base/times.h"
#include "db/clickhouse/load.h"
#include "db/clickhouse/storeurl.h"
#include "report/select/client.h"
#include "report/select/containername.h"
#include "report/select/databases.h"
#include "report/select/default_db.h"
#include "report/select/epochspec.h"
#include "report/select/freshness.h"
#include "report/select/select_command.h"
#include "report/cache/sumfile.h"

#define SOME_HOSTS  5 /* in a line */
#define RELEASE     "release:"
#define PATIENCE_NS NSEC_PER_SEC /* for the path of a cpid's database */

char *select_glob(const char *text)
{
	const size_t len = strlen(text);
	char *glob;

	if (len > 3 && text[0] == '[' && strpbrk(text, "]\\*?") == text + len - 1)
		return asprintf(&glob, "\\%s", text) < 0 ? NULL : glob;
	return strdup(text);
}

int select_open_path(const char *path, enum db_mode mode, struct db **out)
{
	if (storeurl_is(path)) {
		log_err("%s: this command works on a machine's own database, and this "
			"is a store of many",
			path);
		return -EINVAL;
	}
	if (access(path, F_OK) < 0 && errno == ENOENT) {
		log_err("%s: there is no such database: start cpid, make one with "
			"'cpi record -o %s -- COMMAND', or name another with --db",
			path, path);
		return -ENOENT;
	}
	return db_open(path, mode, out);
}

int select_db_path(const struct select_request *req, char **path)
{
	char *found = NULL;
	int err = 0;

	if (!req->dbs.nr && !db_env_path() && client_is_named(req->socket))
		err = freshness_database(req->socket, PATIENCE_NS, &found);
	if (err == -EACCES) {
		log_err("%s: %s: only the socket's owner and group may ask its cpid: "
			"run cpi as one of them, or name the database with --db",
			client_socket(req->socket), err_str(err));
		return err;
	}
	if (err == -ETIMEDOUT)
		log_info_once("%s: cpid does not answer: reading the default database "
			      "(--db chooses)",
			      client_socket(req->socket));
	if (!found)
		found = strdup(req->dbs.nr    ? req->dbs.item[0]
			       : req->daemons ? db_default_path()
					      : select_default_db());
	if (!found)
		return -ENOMEM;
	*path = found;
	return 0;
}

int select_open_db(const struct select_request *req, enum db_mode mode, struct db **out)
{
	const struct text_list *dbs = &req->dbs;
	char *path = NULL;
	int err;

	if (dbs->nr > 1) {
		log_err("--db is given %d times: name the one database that is meant",
			dbs->nr);
		return -EINVAL;
	}
	err = select_db_path(req, &path);
	if (!err)
		err = select_open_path(path, mode, out);
	free(path);
	return err;
}

int select_make_db(const struct select_request *req, struct db **out)
{
	struct stat st;
	bool is_new;
	char *path;
	int err;

	if (req->dbs.nr > 1)
		return select_open_db(req, DB_WRITE, out);
	err = select_db_path(req, &path);
	if (err)
		return err;
	is_new =
		!storeurl_is(path) && (stat(path, &st) ? errno == ENOENT : !st.st_size);
	err = is_new ? db_open(path, DB_COLLECT, out)
		     : select_open_path(path, DB_WRITE, out);
	free(path);
	return err;
}

void select_close_made(struct db *db)
{
	struct query_epochs all = { 0 };

	if (db && db_is_new(db) && query_epochs(db, "all", &all) == -ENOENT)
		db_close_unused(db);
	else
		db_close_whole(db);
	query_epochs_fini(&all);
}

/* Adds text to a list with commas, unless it has it. */
static void add_name(struct buf *list, const char *text)
{
	const size_t len = strlen(text);

	if (!len) {
		add_name(list, "(no name)");
		return;
	}
	for (const char *p = buf_str(list); (p = strstr(p, text)); p += len) {
		if ((p == list->data || p[-1] == ' ') && (!p[len] || p[len] == ','))
			return;
	}
	buf_printf(list, "%s%s", list->len ? ", " : "", text);
}

static void add_platform(struct buf *list, const struct query_epoch *e)
{
	char *text;

	if (asprintf(&text, "%s/%s/%s", e->arch, e->cpu, e->release) < 0)
		return;
	add_name(list, text);
	free(text);
}

/* Logs that no epoch has this --host and --platform, and which machines there are. */
static void failed_machines(const struct select_request *req, struct db *db)
{
	struct buf hosts = { 0 }, platforms = { 0 };
	struct query_epochs all = { 0 };

	query_epochs(db, "all", &all);
	for (size_t i = 0; i < all.nr; i++) {
		add_name(&hosts, all.epoch[i].host);
		add_platform(&platforms, &all.epoch[i]);
	}
	query_epochs_fini(&all);
	log_err("%s: no such epoch of %s%s%s%s: there are the hosts %s and the "
		"platforms %s",
		db_path(db), req->host ? "--host=" : "", req->host ? req->host : "",
		req->platform ? " --platform=" : "", req->platform ? req->platform : "",
		buf_str(&hosts), buf_str(&platforms));
	buf_fini(&hosts);
	buf_fini(&platforms);
}

static bool asks_origin(const struct select_request *req)
{
	return req->cluster || req->release || req->machine;
}

static bool asks_machines(const struct select_request *req)
{
	return req->host || req->platform || asks_origin(req);
}

void select_failed_epochs(const struct select_request *req, struct db *db,
			  const char *spec, int err)
{
	if (err == -EINVAL)
		log_err("'%s' is no epoch: say recent, last, all, an id, -N, a label, "
			"a time "
			"(" EPOCHSPEC_TIMES "), A..B, or ids with commas",
			spec);
	else if (err == -ENOENT && storeurl_is(db_path(db)) && asks_machines(req))
		log_err("%s: no such epoch of these hosts: 'cpi fleet hosts' lists "
			"hosts, clusters, releases and machines",
			db_path(db));
	else if (err == -ENOENT && (req->host || req->platform))
		failed_machines(req, db);
	else if (err == -ENOENT && spec)
		epochspec_failed(db, spec);
	else if (err == -ENOENT)
		log_err("%s: nothing has been stored yet", db_path(db));
	else
		log_err("%s: epochs: %s", db_path(db), err_str(err));
}

/* Logs that no stream has this --event, and which events there are. */
static int failed_event(const struct select_request *req, const struct selection *sel)
{
	struct query_streams all;
	struct buf names = { 0 };
	int err;

	err = query_streams(sel->db, &sel->epochs, NULL, &all);
	if (err)
		return err;
	for (size_t i = 0; i < all.nr; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", all.stream[i].desc.event);
	log_err("--event=%s: not among the selected epochs' events: %s", req->event,
		all.nr ? buf_str(&names) : "(none)");
	buf_fini(&names);
	query_streams_fini(&all);
	return -ENOENT;
}

static bool same_code(const struct query_epoch *a, const struct query_epoch *b)
{
	return !strcmp(a->arch, b->arch);
}

static bool same_platform(const struct query_epoch *a, const struct query_epoch *b)
{
	return same_code(a, b) && !strcmp(a->cpu, b->cpu);
}

/* Whether the selection has an event that counts cycles. */
static bool has_cycles(const struct selection *sel)
{
	for (size_t i = 0; i < sel->streams.nr; i++) {
		if (!strcmp(sel->streams.stream[i].desc.unit, "cycles"))
			return true;
	}
	return false;
}

static int refuse_platforms(const struct selection *sel, const char *advice)
{
	struct buf platforms = { 0 };

	for (size_t i = 0; i < sel->epochs.nr; i++)
		add_platform(&platforms, &sel->epochs.epoch[i]);
	log_err("the selected epochs are of several platforms (%s): %s",
		buf_str(&platforms), advice);
	buf_fini(&platforms);
	return -EXDEV;
}

void select_hosts(const struct selection *sel, struct buf *out)
{
	for (size_t i = 0; i < sel->epochs.nr; i++)
		add_name(out, sel->epochs.epoch[i].host);
}

void select_some_hosts(const struct selection *sel, struct buf *out)
{
	struct buf all = { 0 };
	const char *end, *comma;
	size_t nr = 0, left = 0;

	select_hosts(sel, &all);
	end = buf_str(&all) + strlen(buf_str(&all));
	for (comma = buf_str(&all); (comma = strstr(comma, ", ")); comma++) {
		nr++;
		if (nr == SOME_HOSTS)
			end = comma;
		left += nr >= SOME_HOSTS;
	}
	buf_printf(out, "%.*s", (int)(end - buf_str(&all)), buf_str(&all));
	if (left)
		buf_printf(out, " and %zu more", left);
	buf_fini(&all);
}

/*
 * Profiles of two architectures are never added, nor are cycles of two CPU models.
 * Machines of one kind are added, and a warning names them.
 */
static int check_platforms(const struct select_request *req,
			   const struct selection *sel)
{
	const struct query_epoch *newest = select_newest(sel);
	bool one_code = true, one_platform = true, one_host = true;
	struct buf hosts = { 0 };

	for (size_t i = 0; i < sel->epochs.nr; i++) {
		const struct query_epoch *e = &sel->epochs.epoch[i];

		one_code &= same_code(newest, e);
		one_platform &= same_platform(newest, e);
		one_host &= !strcmp(newest->host, e->host);
	}
	select_some_hosts(sel, &hosts);
	if (!one_host && one_code && (one_platform || req->merge_platforms))
		log_warn("these are epochs of several hosts, added up: %s (--host "
			 "chooses)",
			 buf_str(&hosts));
	buf_fini(&hosts);
	if (!one_code)
		return refuse_platforms(sel, "choose one with --platform or --host");
	if (!one_platform && !req->merge_platforms)
		return refuse_platforms(sel, "choose one with --platform or --host, or "
					     "add them up with --merge-platforms");
	if (!one_platform && has_cycles(sel))
		return refuse_platforms(sel, "their cycles are no common time: choose "
					     "another event with --event, or one "
					     "platform with --platform");
	return 0;
}

/* Whether no epoch is a valid result: for a command that lists all epochs. */
static bool may_be_empty(const struct select_request *req, const char *spec,
			 enum select_how how)
{
	return how == SELECT_EPOCHS && !strcmp(spec, "all") && !req->host &&
	       !req->platform;
}

/*
 * Has cpid store: the stored part of its open epoch may end before the selected times.
 */
static void refresh_newest(const struct select_request *req,
			   const struct selection *sel)
{
	struct query_epochs newest = { 0 };

	if (!query_epochs(sel->db, "last", &newest))
		freshness_refresh(req->socket, db_path(sel->db), &newest);
	query_epochs_fini(&newest);
}

/* Asks cpid to store first, so that a report is up to date. */
static void store_first(const struct select_request *req, const char *spec,
			struct selection *sel)
{
	struct query_epochs epochs = { 0 };
	const struct query_machines of = { req->host, req->platform };
	const int err = query_epochs_of(sel->db, spec, &of, &epochs);

	if (!err)
		freshness_refresh(req->socket, db_path(sel->db), &epochs);
	else if (err == -ENOENT)
		refresh_newest(req, sel);
	query_epochs_fini(&epochs);
}

/* Finds the epochs. From then on, the report reads one moment's content. */
static int find_epochs(const struct select_request *req, const char *spec,
		       enum select_how how, struct selection *sel)
{
	const struct query_machines of = { req->host, req->platform };
	int err = 0;

	if (how != SELECT_EPOCHS && !req->as_stored && !sel->dbs)
		store_first(req, spec, sel);
	if (how != SELECT_EPOCHS)
		err = db_begin_read(sel->db);
	if (!err)
		err = query_epochs_of(sel->db, spec, &of, &sel->epochs);
	if (err == -ENOENT && may_be_empty(req, spec, how))
		return 0;
	if (err)
		select_failed_epochs(req, sel->db, spec, err);
	return err;
}

static int find_totals(const struct select_request *req, struct selection *sel)
{
	int err;

	err = query_streams(sel->db, &sel->epochs, req->event, &sel->streams);
	if (!err && req->event && !sel->streams.nr)
		return failed_event(req, sel);
	if (!err)
		err = query_losses(sel->db, &sel->epochs, &sel->losses);
	if (!err)
		err = query_gaps_of(sel->db, &sel->epochs, &sel->gaps);
	if (!err)
		err = query_marks_of(sel->db, &sel->epochs, &sel->marks);
	if (err)
		log_err("%s: %s", db_path(sel->db), err_str(err));
	return err;
}

static int find_command(struct selection *sel)
{
	const int err = select_command(sel);

	if (err)
		log_err("%s: %s", db_path(sel->db), err_str(err));
	return err;
}

/* Whether text is a full container id that begins with the 12 digits of id. */
static bool is_whole_id(const char *text, const char *id)
{
	const size_t len = strlen(id);

	return len == 12 && strlen(text) > len && !strncmp(text, id, len) &&
	       !text[text_hex_digits(text)];
}

/* Compares the container and unit of a cgroup's path with those of the request. */
static bool takes_cgroup(const struct query_selection *q, const char *path)
{
	struct cgroup_container c;
	char unit[CGROUPNAME_MAX];

	if (q->unit && (!cgroupname_unit(path, unit) || fnmatch(q->unit, unit, 0)))
		return false;
	if (!q->container)
		return true;
	return containername_find(q->db, path, &c) &&
	       (!fnmatch(q->container, c.id, 0) || !fnmatch(q->container, c.pod, 0) ||
		(*c.name && !fnmatch(q->container, c.name, 0)) ||
		is_whole_id(q->container, c.id));
}

static void select_context(const struct select_request *req, struct query_selection *q)
{
	memcpy(q->context, req->context, sizeof(q->context));
	q->container = req->container;
	q->unit = req->unit;
	if (q->container || q->unit)
		q->takes_cgroup = takes_cgroup;
}

bool select_asks_contexts(const struct select_request *req)
{
	struct query_selection q = { 0 };

	select_context(req, &q);
	return query_restricted_kinds(&q);
}

bool select_has_contexts(const struct selection *sel)
{
	return query_restricted_kinds(&sel->query);
}

static int refuse_origin(const char *path)
{
	log_err("%s: --cluster, --release, --machine and release:NAME choose in a "
		"store of many machines, and this is a machine's own database",
		path);
	return -EINVAL;
}

/* Joins the epochs that spec selects in several databases. */
static int open_joined(const struct select_request *req, const char *spec,
		       struct selection *sel)
{
	if (asks_origin(req))
		return refuse_origin(req->dbs.item[0]);
	sel->dbs = &req->dbs;
	return databases_open(req, spec, &sel->db);
}

static enum load_what load_what(enum select_how how)
{
	if (how == SELECT_EPOCHS)
		return LOAD_LIST;
	return how == SELECT_SUMS ? LOAD_SUMS : LOAD_EACH;
}

/* Opens the only database. Of a store, loads what spec selects. */
static int open_one(const struct select_request *req, const char *spec,
		    const char *image, enum select_how how, struct db **out)
{
	const struct load_machines of = { req->host,    req->platform, req->cluster,
					  req->release, req->machine,  image };
	char *path;
	int err = select_db_path(req, &path);

	if (err)
		return err;
	if (storeurl_is(path))
		err = store_load(path, spec, &of, load_what(how), out);
	else
		err = asks_origin(req) ? refuse_origin(path)
				       : select_open_path(path, DB_READ, out);
	free(path);
	return err;
}

/* "release:NAME" of a store: all epochs of that release. */
static int take_release(struct select_request *req, const char **spec)
{
	const size_t len = strlen(RELEASE);
	char *path;
	int err;

	if (!*spec || strncmp(*spec, RELEASE, len) != 0 || req->dbs.nr > 1)
		return 0;
	err = select_db_path(req, &path);
	if (err)
		return err;
	if (storeurl_is(path) && req->release) {
		log_err("'%s' and --release=%s: say one of them", *spec, req->release);
		err = -EINVAL;
	} else if (storeurl_is(path)) {
		req->release = *spec + len;
		*spec = "all";
	}
	free(path);
	return err;
}

static int open_epochs(const struct select_request *req, const char *spec,
		       enum select_how how, struct selection *sel)
{
	int err;

	if (req->image)
		sel->image_glob = select_glob(req->image);
	if (req->image && !sel->image_glob)
		return -ENOMEM;
	if (req->dbs.nr > 1)
		err = open_joined(req, spec, sel);
	else
		err = open_one(req, spec, sel->image_glob, how, &sel->db);
	if (err) {
		select_close(sel);
		return err;
	}
	if (how == SELECT_SUMS)
		how = SELECT_TOGETHER;
	sel->query =
		(struct query_selection){ .epochs = &sel->epochs, .event = req->event };
	sel->query.db = sel->db;
	select_context(req, &sel->query);
	sel->query.image = sel->image_glob;
	if (!sel->dbs && !sumfile_keeper(db_path(sel->db), &sel->keeper))
		sel->query.keeper = &sel->keeper;
	err = find_epochs(req, sel->dbs ? "all" : spec, how, sel);
	if (!err && how != SELECT_EPOCHS)
		err = find_totals(req, sel);
	if (!err && how != SELECT_EPOCHS)
		err = find_command(sel);
	if (!err && how == SELECT_TOGETHER)
		err = check_platforms(req, sel);
	if (!err && how != SELECT_EPOCHS && !sel->dbs)
		epochspec_mention_before(sel->db, spec, &sel->epochs);
	if (!err && how != SELECT_EPOCHS && spec)
		epochspec_mention_whole(sel->db, spec, &sel->epochs);
	if (err)
		select_close(sel);
	return err;
}

int select_open_epochs(const struct select_request *req, const char *spec,
		       enum select_how how, struct selection *sel)
{
	struct select_request own = *req;
	int err = take_release(&own, &spec);

	memset(sel, 0, sizeof(*sel));
	sel->verbose = req->verbose;
	if (err)
		return err;
	err = open_epochs(&own, spec, how, sel);
	if (sel->dbs)
		sel->dbs = &req->dbs; /* which outlives the selection */
	return err;
}

int select_open(const struct select_request *req, struct selection *sel)
{
	return select_open_epochs(req, req->epoch, SELECT_TOGETHER, sel);
}

void select_end_read(struct selection *sel)
{
	if (sel->db)
		db_end_read(sel->db);
}

void select_close(struct selection *sel)
{
	query_marks_fini(&sel->marks);
	query_gaps_fini(&sel->gaps);
	query_losses_fini(&sel->losses);
	query_streams_fini(&sel->streams);
	query_epochs_fini(&sel->epochs);
	db_close(sel->db);
	free(sel->image_glob);
	memset(sel, 0, sizeof(*sel));
}

const struct query_epoch *select_newest(const struct selection *sel)
{
	return &sel->epochs.epoch[sel->epochs.nr - 1];
}

static void put_kinds(unsigned int kinds, const char *between, struct buf *out)
{
	for (int kind = 0; kind < NR_CONTEXT_KINDS; kind++) {
		if (kinds & 1u << kind)
			buf_printf(out, "%s%s", out->len ? between : "",
				   context_kind_str(kind));
	}
	buf_str(out);
}

void select_failed_contexts(const struct selection *sel, unsigned int kinds)
{
	const bool several = kinds & (kinds - 1);
	struct buf names = { 0 }, words = { 0 }, cpids = { 0 }, commands = { 0 };

	if (kinds == 1u << CONTEXT_COMM && select_put_commands(sel, &commands))
		buf_reset(&commands);
	put_kinds(kinds, " and ", &names);
	put_kinds(kinds, ",", &words);
	put_kinds(kinds | CONTEXT_DEFAULT, ",", &cpids);
	log_err("%s: the selected epochs have no profiles by %s%s: collect them with "
		"'cpid --by %s' or 'cpi record --by %s'%s%s%s",
		db_path(sel->db), buf_str(&names), several ? " together" : "",
		buf_str(&cpids), buf_str(&words),
		kinds == 1u << CONTEXT_COMM   ? " ('cpi prof --by comm' needs none)"
		: kinds & 1u << CONTEXT_LABEL ? ", and run programs by 'cpi label'"
					      : "",
		commands.len ? "; there are samples of: " : "", buf_str(&commands));
	buf_fini(&commands);
	buf_fini(&names);
	buf_fini(&words);
	buf_fini(&cpids);
}

char *select_epoch_id(const struct selection *sel, const struct query_epoch *e,
		      char out[SELECT_ID_SIZE])
{
	if (sel->dbs)
		snprintf(out, SELECT_ID_SIZE, "%u:%" PRId64, QUERY_EPOCH_NR(e->id),
			 QUERY_EPOCH_OWN(e->id));
	else
		snprintf(out, SELECT_ID_SIZE, "%" PRId64, e->id);
	return out;
}

bool select_is_store(const struct selection *sel)
{
	return storeurl_is(db_path(sel->db));
}

const char *select_epoch_db(const struct selection *sel, const struct query_epoch *e)
{
	return sel->dbs ? sel->dbs->item[QUERY_EPOCH_NR(e->id) - 1] : NULL;
}

void select_failed(const struct selection *sel, int err)
{
	char id[SELECT_ID_SIZE];

	if (err == -CPI_EEMPTY && select_has_contexts(sel) && sel->streams.nr)
		select_failed_contexts(sel, query_restricted_kinds(&sel->query));
	else if (err == -CPI_EEMPTY)
		log_err("%s: no samples in epoch %s yet: 'cpi flush' has cpid "
			"store what it took, --epoch chooses another",
			db_path(sel->db), select_epoch_id(sel, select_newest(sel), id));
	else if (err == -CPI_ELIMIT)
		log_err("%s: too many events: choose one with --event",
			db_path(sel->db));
	else
		log_err("%s: %s", db_path(sel->db), err_str(err));
}
