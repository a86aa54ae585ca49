/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * epochs.c - finds the epochs that a specification names
 *
 * Epochs are ordered by time and not by id, because an imported epoch gets a new id.
 *
 * A specification is tried as a word or number first, then as a moment, as a label, and
 * as a range; "mark:TEXT" is tried before labels. So a label that looks like a moment
 * is never found, and a label that contains ".." is found before the range.
 */
#include "config.h"

#include "db/query/query.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/times.h"
#include "db/core/rows.h"
#include "db/core/sql.h"
#include "db/query/marks.h"

#define MINUTE_NS (60 * NSEC_PER_SEC)
#define RECENT_NS (3600 * (int64_t)NSEC_PER_SEC)

/* The parameters of a search for epochs. */
struct epoch_search {
	sqlite3 *h;
	struct buf platforms; /* ids as a JSON array; empty: all platforms */
	uint64_t now_ns;
};

/* The values with which a condition compares epochs. */
struct span {
	int64_t from_ns, from_id, to_ns, to_id;
};

/* Which of the matching epochs to return: all, the first, or the last. */
#define EVERY "ORDER BY e.from_ns, e.id"
#define FIRST "ORDER BY e.from_ns, e.id LIMIT 1"
#define LAST  "ORDER BY e.from_ns DESC, e.id DESC LIMIT 1"

/*
 * Conditions for an epoch that overlaps [?1, ?3). An epoch that should begin at a full
 * minute begins some milliseconds later. So an overlap of up to ?4, or of up to half
 * the epoch if that is less, is ignored. Epochs without length are inside if their
 * begin is.
 */
#define SLACK     "min(?4, (e.to_ns - e.from_ns) / 2)"
#define ENDS_IN   "(e.to_ns > ?1 + " SLACK " OR e.from_ns >= ?1)"
#define BEGINS_IN "e.from_ns + " SLACK " < ?3"
#define SLACK_NS  ((int64_t)NSEC_PER_SEC)

#define RECEIVED ROWS_SUM("received")

static const char select_epochs[] =
	"SELECT e.id, e.label, e.from_ns, e.to_ns, e.open, e.uncertainty_ms,"
	" p.host, p.arch, p.cpu, p.release, p.boot_id, p.clock_hz, p.nr_cpus,"
	" (SELECT " RECEIVED " FROM tally WHERE epoch = e.id AND kind = 0) AS received,"
	" r.from_ns"
	" FROM epoch e JOIN run r ON r.id = e.run JOIN platform p ON p.id = r.platform"
	" WHERE (?6 IS NULL OR p.id IN (SELECT value FROM json_each(?6)))"
	/* retention is removing it */
	" AND NOT EXISTS (SELECT 1 FROM roll WHERE epoch = e.id AND target IS NULL)";

static void epoch_fini(struct query_epoch *e)
{
	free(e->label);
	free(e->host);
	free(e->arch);
	free(e->cpu);
	free(e->release);
	free(e->boot_id);
}

/* Checks that an epoch does not end before it begins. */
static int check_epoch(sqlite3_stmt *st)
{
	int err = rows_check_columns(st, 0, "ntnnnntttttnnNn");

	if (err || sqlite3_column_int64(st, 2) <= sqlite3_column_int64(st, 3))
		return err;
	log_err("db: %s: %s: epoch %" PRId64 " ends before it begins: restore a copy",
		sqlite3_db_filename(sqlite3_db_handle(st), "main"),
		err_str(-CPI_ECORRUPT), (int64_t)sqlite3_column_int64(st, 0));
	return -CPI_ECORRUPT;
}

static int read_epoch(sqlite3_stmt *st, void *ctx)
{
	struct query_epochs *list = ctx;
	struct query_epoch e = {
		.id = sqlite3_column_int64(st, 0),
		.label = strdup(sql_text(st, 1)),
		.from_ns = sqlite3_column_int64(st, 2),
		.to_ns = sqlite3_column_int64(st, 3),
		.open = sqlite3_column_int(st, 4),
		.uncertainty_ms = sqlite3_column_int64(st, 5),
		.host = strdup(sql_text(st, 6)),
		.arch = strdup(sql_text(st, 7)),
		.cpu = strdup(sql_text(st, 8)),
		.release = strdup(sql_text(st, 9)),
		.boot_id = strdup(sql_text(st, 10)),
		.clock_hz = sqlite3_column_int64(st, 11),
		.nr_cpus = sqlite3_column_int64(st, 12),
		.samples = sqlite3_column_int64(st, 13),
		.run_ns = sqlite3_column_int64(st, 14),
	};
	int err = check_epoch(st);

	if (err) {
		epoch_fini(&e);
		return err;
	}
	if (GROW(list->epoch, list->nr) || !e.label || !e.host || !e.arch || !e.cpu ||
	    !e.release || !e.boot_id) {
		epoch_fini(&e);
		return -ENOMEM;
	}
	list->epoch[list->nr++] = e;
	return 0;
}

/*
 * Appends the epochs for which condition is true. It is an SQL expression of the epoch
 * e; ?1 to ?4 are the members of span, and ?5 is text. which is EVERY, FIRST or LAST.
 */
static int load(const struct epoch_search *s, const char *condition, const char *which,
		struct span span, const char *text, struct query_epochs *list)
{
	struct buf sql = { 0 };
	int err;

	buf_printf(&sql, "%s AND (%s) %s", select_epochs, condition, which);
	err = sql_each(s->h, read_epoch, list, buf_str(&sql), "iiiiss", span.from_ns,
		       span.from_id, span.to_ns, span.to_id, text, s->platforms.data);
	buf_fini(&sql);
	return err;
}

/* Parses a text that is only a decimal number. */
static int parse_number(const char *text, int64_t *out)
{
	char *end;
	long long v;

	if (!isdigit((unsigned char)*text))
		return -ENOENT;
	errno = 0;
	v = strtoll(text, &end, 10);
	if (*end)
		return -ENOENT;
	if (errno)
		return -EINVAL;
	*out = v;
	return 0;
}

/*
 * Finds the last epoch. If it has no label, also the epochs of its run that begin in
 * the hour that ends with it, because a collector's epochs are short.
 */
static int load_recent(const struct epoch_search *s, struct query_epochs *list)
{
	const struct query_epoch *last;
	struct span span = { 0 };
	int err = load(s, "1", LAST, span, NULL, list);

	if (err || !list->nr)
		return err;
	last = &list->epoch[0];
	span.from_id = last->id;
	if (*last->label)
		return 0;
	if (last->to_ns > RECENT_NS)
		span.from_ns = last->to_ns - RECENT_NS;
	query_epochs_fini(list);
	return load(s,
		    "e.id = ?2 OR (e.from_ns >= ?1"
		    " AND e.run = (SELECT run FROM epoch WHERE id = ?2))",
		    EVERY, span, NULL, list);
}

static bool is_word(const char *spec)
{
	return !strcmp(spec, "all") || !strcmp(spec, "last") || !strcmp(spec, "recent");
}

/*
 * Handles "recent", "last", "all", an id, and "-N". Returns -ENOENT if spec has none of
 * these forms.
 */
static int load_number_form(const struct epoch_search *s, const char *spec,
			    struct query_epochs *list)
{
	struct span span = { 0 };
	int64_t n = 0;
	int err;

	if (!strcmp(spec, "all"))
		return load(s, "1", EVERY, span, NULL, list);
	if (!strcmp(spec, "recent"))
		return load_recent(s, list);
	if (*spec == '-' || !strcmp(spec, "last")) {
		err = *spec == '-' ? parse_number(spec + 1, &n) : 0;
		span.from_id = n;
		return err ? err : load(s, "1", LAST " OFFSET ?2", span, NULL, list);
	}
	err = parse_number(spec, &n);
	span.from_id = n;
	return err ? err : load(s, "e.id = ?2", EVERY, span, NULL, list);
}

/*
 * Parses a moment or an interval. At the right end of a range, an interval that ends
 * now stands for its begin. If narrow, so do minutes and seconds: "10:15..10:20" is
 * five minutes long.
 */
static int parse_time(const char *spec, uint64_t now_ns, bool narrow, bool right_end,
		      struct span *span)
{
	uint64_t from_ns, to_ns;
	int err = time_parse(spec, &from_ns, &to_ns);

	if (err)
		err = time_parse_relative(spec, now_ns, &from_ns, &to_ns);
	if (!err && right_end &&
	    (to_ns == now_ns || (narrow && to_ns - from_ns <= MINUTE_NS)))
		to_ns = from_ns;
	if (!err)
		*span = (struct span){ .from_ns = from_ns, .to_ns = to_ns };
	return err;
}

/*
 * Handles a mark as an end of "A..B". The epoch that contains the mark has samples from
 * before and after it; narrow leaves it out.
 */
static int load_mark_end(const struct epoch_search *s, const char *text, bool left,
			 bool narrow, struct query_epochs *list)
{
	struct span span = { .to_id = SLACK_NS };
	uint64_t at_ns = 0;
	int err = query_mark_find(s->h, text, s->platforms.data, &at_ns);

	if (err)
		return err;
	span.from_ns = span.to_ns = at_ns;
	if (narrow)
		return left ? load(s, "e.from_ns + " SLACK " >= ?1", FIRST, span, NULL,
				   list)
			    : load(s, "e.to_ns <= ?3 + " SLACK, LAST, span, NULL, list);
	return left ? load(s, ENDS_IN " OR e.open", FIRST, span, NULL, list)
		    : load(s, "e.from_ns <= ?3", LAST, span, NULL, list);
}

/* Finds the epochs that contain a mark. */
static int load_mark(const struct epoch_search *s, const char *text,
		     struct query_epochs *list)
{
	struct span span = { 0 };
	uint64_t at_ns = 0;
	int err = query_mark_find(s->h, text, s->platforms.data, &at_ns);

	span.from_ns = at_ns;
	return err ? err
		   : load(s, "e.from_ns <= ?1 AND (e.to_ns > ?1 OR e.open)", EVERY,
			  span, NULL, list);
}

/*
 * Finds the first epoch that A includes, or the last one that B includes. If B taken as
 * a moment would leave no epochs, it stands for the whole interval that it names.
 */
static int load_end(const struct epoch_search *s, const char *spec, bool left,
		    bool narrow, struct query_epochs *list)
{
	struct span span = { 0 };
	int err;

	if (!*spec)
		return load(s, "1", left ? FIRST : LAST, span, NULL, list);
	if (query_mark_name(spec))
		return load_mark_end(s, query_mark_name(spec), left, narrow, list);
	err = load_number_form(s, spec, list);
	if (err != -ENOENT)
		return err;
	if (!parse_time(spec, s->now_ns, narrow, !left, &span)) {
		span.to_id = SLACK_NS;
		return left ? load(s, ENDS_IN, FIRST, span, NULL, list)
			    : load(s, BEGINS_IN, LAST, span, NULL, list);
	}
	return load(s, "e.label = ?5", left ? FIRST : LAST, span, spec, list);
}

/* Whether both ends are ids or open. Such ids need not exist. */
static bool are_ids(const char *left, const char *right, struct span *span)
{
	*span = (struct span){ .from_id = INT64_MIN, .to_id = INT64_MAX };
	return (!*left || !parse_number(left, &span->from_id)) &&
	       (!*right || !parse_number(right, &span->to_id));
}

/* Returns the length of a time's text before its time of day; 0 if it has no date. */
static size_t day_length(const char *text)
{
	const char *clock = strpbrk(text, "T ");

	return clock ? (size_t)(clock - text) + 1 : 0;
}

/*
 * Completes the right end of "2026-11-20T10..12" or "yesterday 10:15..10:20" with the
 * date of the left end. Returns a new string.
 */
static char *complete(const char *left, const char *right)
{
	const size_t digits = strspn(right, "0123456789");
	size_t same = strlen(left);
	uint64_t from_ns, to_ns;
	char *text;

	if (!digits || digits > 2 || query_mark_name(left))
		return strdup(right);
	if (right[digits] == ':') {
		same = day_length(left);
	} else if (right[digits] || !strchr(left, '-') ||
		   time_parse(left, &from_ns, &to_ns)) {
		return strdup(right);
	} else {
		while (same && isdigit((unsigned char)left[same - 1]))
			same--;
	}
	return asprintf(&text, "%.*s%s", (int)same, left, right) < 0 ? NULL : text;
}

/*
 * Returns a new string: text with zone appended, if that is a time; else a copy of
 * text.
 */
static char *with_zone(const char *text, const char *zone)
{
	struct span span;
	char *longer;

	if (asprintf(&longer, "%s%s", text, zone) < 0)
		return NULL;
	if (!parse_time(longer, time_real_ns(), false, false, &span))
		return longer;
	free(longer);
	return strdup(text);
}

/* Gives a time of day without a zone the zone of the range's other end, `of`. */
static int share_zone(char **text, const char *of)
{
	const char *zone = query_mark_name(of) ? NULL : time_zone(of);
	char *longer;

	if (!zone || !strpbrk(*text, ":T") || query_mark_name(*text) ||
	    time_zone(*text))
		return 0;
	longer = with_zone(*text, zone);
	if (!longer)
		return -ENOMEM;
	free(*text);
	*text = longer;
	return 0;
}

/*
 * Splits "A..B" into its ends, which the caller frees. On failure both are untouched.
 */
static int split_range(const char *spec, const char *dots, char **left, char **right)
{
	char *a = strndup(spec, dots - spec);
	char *b = a ? complete(a, dots + 2) : NULL;
	int err = b ? share_zone(&a, b) : -ENOMEM;

	if (!err)
		err = share_zone(&b, a);
	if (err) {
		free(a);
		free(b);
		return err;
	}
	*left = a;
	*right = b;
	return 0;
}

static int load_between(const struct epoch_search *s, const char *left,
			const char *right, bool narrow, struct query_epochs *list)
{
	struct query_epochs ends = { 0 };
	struct span span;
	int err;

	err = load_end(s, left, true, narrow, &ends);
	if (!err && !ends.nr)
		err = -ENOENT;
	if (!err) {
		span.from_ns = ends.epoch[0].from_ns;
		span.from_id = ends.epoch[0].id;
		query_epochs_fini(&ends);
		err = load_end(s, right, false, narrow, &ends);
	}
	if (!err && !ends.nr)
		err = -ENOENT;
	if (!err) {
		span.to_ns = ends.epoch[ends.nr - 1].from_ns;
		span.to_id = ends.epoch[ends.nr - 1].id;
		err = load(s, "(e.from_ns, e.id) BETWEEN (?1, ?2) AND (?3, ?4)", EVERY,
			   span, NULL, list);
	}
	query_epochs_fini(&ends);
	return err;
}

static int load_ends(const struct epoch_search *s, const char *left, const char *right,
		     struct query_epochs *list)
{
	struct span span;
	int err;

	if (are_ids(left, right, &span))
		return load(s, "e.id BETWEEN ?2 AND ?4", EVERY, span, NULL, list);
	err = load_between(s, left, right, true, list);
	if ((!err && list->nr) || (err && err != -ENOENT))
		return err;
	return load_between(s, left, right, false, list);
}

/* Finds the epochs that overlap a moment or interval. */
static int load_times(const struct epoch_search *s, struct span span,
		      struct query_epochs *list)
{
	span.to_id = (span.to_ns - span.from_ns) / 2;
	if (span.to_id > SLACK_NS)
		span.to_id = SLACK_NS;
	return load(s, ENDS_IN " AND " BEGINS_IN, EVERY, span, NULL, list);
}

static int load_range(const struct epoch_search *s, const char *spec, const char *dots,
		      struct query_epochs *list)
{
	char *left = NULL, *right = NULL;
	int err = split_range(spec, dots, &left, &right);

	if (!err)
		err = load_ends(s, left, right, list);
	free(left);
	free(right);
	return err;
}

/* Parses one end of "A..B", or a whole specification. */
static int parse_asked(const char *spec, uint64_t now_ns, bool narrow, bool right_end,
		       struct span *span)
{
	int64_t id;

	*span = (struct span){ .to_ns = INT64_MAX };
	if (!*spec)
		return 0;
	if (is_word(spec) || !parse_number(spec + (*spec == '-'), &id) ||
	    parse_time(spec, now_ns, narrow, right_end, span))
		return -ENOENT;
	return 0;
}

int query_asked_times(const char *spec, uint64_t now_ns, uint64_t *from_ns,
		      uint64_t *to_ns)
{
	const char *dots = strstr(spec, "..");
	char *left = NULL, *right = NULL;
	struct span from, to;
	int err = -ENOENT;

	if (dots)
		split_range(spec, dots, &left, &right);
	else
		right = (left = strdup(spec)) ? strdup(spec) : NULL;
	if (right && *spec && strcmp(spec, "..") &&
	    !parse_asked(left, now_ns, false, false, &from) &&
	    !parse_asked(right, now_ns, true, dots, &to) &&
	    (to.to_ns > from.from_ns ||
	     !parse_asked(right, now_ns, false, dots, &to))) {
		*from_ns = from.from_ns;
		*to_ns = to.to_ns;
		err = 0;
	}
	free(left);
	free(right);
	return err;
}

bool query_is_no_label(const char *spec)
{
	struct span span;
	int64_t id;

	return !*spec || is_word(spec) || query_mark_name(spec) ||
	       !parse_number(spec + (*spec == '-'), &id) ||
	       !parse_asked(spec, time_real_ns(), false, false, &span);
}

/*
 * Finds the epochs of a comma-separated list of ids, which must all exist. Changes
 * spec.
 */
static int load_list(const struct epoch_search *s, char *spec,
		     struct query_epochs *list)
{
	struct span span = { 0 };
	struct buf ids = { 0 };
	char *item;
	int err = 0;

	buf_putc(&ids, '[');
	while (!err && (item = strsep(&spec, ","))) {
		const size_t before = list->nr;

		if (parse_number(item, &span.from_id))
			err = -EINVAL;
		else
			err = load(s, "e.id = ?2", EVERY, span, NULL, list);
		if (!err && list->nr == before)
			err = -ENOENT;
		buf_printf(&ids, "%s%" PRId64, ids.len > 1 ? "," : "", span.from_id);
	}
	buf_putc(&ids, ']');
	query_epochs_fini(list);
	buf_str(&ids);
	if (!err)
		err = ids.err;
	if (!err) /* search again, so that each epoch comes once and in order */
		err = load(s, "e.id IN (SELECT value FROM json_each(?5))", EVERY, span,
			   ids.data, list);
	buf_fini(&ids);
	return err;
}

static int resolve(const struct epoch_search *s, const char *spec,
		   struct query_epochs *list)
{
	struct span span = { 0 };
	const char *dots;
	char *copy;
	int err;

	if (!*spec)
		return -EINVAL;
	err = load_number_form(s, spec, list);
	if (err != -ENOENT)
		return err;
	if (strchr(spec, ',') && !spec[strspn(spec, "0123456789,")]) {
		copy = strdup(spec);
		err = copy ? load_list(s, copy, list) : -ENOMEM;
		free(copy);
		return err;
	}
	if (!strcmp(spec, "now"))
		return load(s, "e.open", LAST, span, NULL, list);
	if (!parse_time(spec, s->now_ns, false, false, &span))
		return load_times(s, span, list);
	if (query_mark_name(spec)) {
		err = load_mark(s, query_mark_name(spec), list);
		if (err != -ENOENT)
			return err;
	}
	err = load(s, "e.label = ?5", EVERY, span, spec, list);
	dots = strstr(spec, "..");
	if (!err && !list->nr && dots)
		err = load_range(s, spec, dots, list);
	return err;
}

static bool platform_matches(const char *glob, const char *const part[3])
{
	char *all;
	bool matches;

	if (!glob)
		return true;
	for (int i = 0; i < 3; i++) {
		if (!fnmatch(glob, part[i], 0))
			return true;
	}
	if (asprintf(&all, "%s/%s/%s", part[0], part[1], part[2]) < 0)
		return false;
	matches = !fnmatch(glob, all, 0);
	free(all);
	return matches;
}

/* Finds the platforms of these machines, for ?6. */
static int find_platforms(struct epoch_search *s, const struct query_machines *of)
{
	sqlite3_stmt *st = NULL;
	int err;

	if (!of || (!of->host && !of->platform))
		return 0;
	err = sql_prepare(s->h, "SELECT id, host, arch, cpu, release FROM platform",
			  &st);
	buf_putc(&s->platforms, '[');
	while (!err && (err = sql_step(st)) == 1) {
		const char *const part[] = { sql_text(st, 2), sql_text(st, 3),
					     sql_text(st, 4) };

		err = 0;
		if ((!of->host || !fnmatch(of->host, sql_text(st, 1), 0)) &&
		    platform_matches(of->platform, part))
			buf_printf(&s->platforms, "%s%" PRId64,
				   s->platforms.len > 1 ? "," : "",
				   (int64_t)sqlite3_column_int64(st, 0));
	}
	sqlite3_finalize(st);
	buf_putc(&s->platforms, ']');
	buf_str(&s->platforms);
	return err ? err : s->platforms.err;
}

int query_epochs_of(struct db *db, const char *spec, const struct query_machines *of,
		    struct query_epochs *out)
{
	struct epoch_search s = { .h = db_handle(db), .now_ns = db_now_ns(db) };
	struct query_epochs list = { 0 };
	int err = sql_begin_read(s.h);

	if (err)
		return err;
	err = find_platforms(&s, of);
	if (!err)
		err = resolve(&s, spec ? spec : "recent", &list);
	if (!err && !list.nr)
		err = -ENOENT;
	sql_end_read(s.h);
	buf_fini(&s.platforms);
	if (err)
		query_epochs_fini(&list);
	else
		*out = list;
	return err;
}

int query_epochs(struct db *db, const char *spec, struct query_epochs *out)
{
	return query_epochs_of(db, spec, NULL, out);
}

void query_epochs_fini(struct query_epochs *e)
{
	for (size_t i = 0; i < e->nr; i++)
		epoch_fini(&e->epoch[i]);
	free(e->epoch);
	memset(e, 0, sizeof(*e));
}

void query_epochs_remove(struct query_epochs *e, size_t at)
{
	epoch_fini(&e->epoch[at]);
	e->nr--;
	memmove(&e->epoch[at], &e->epoch[at + 1], (e->nr - at) * sizeof(*e->epoch));
}
