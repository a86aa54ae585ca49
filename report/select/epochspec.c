/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * epochspec.c - messages if a specification (--epoch) selects no epoch, or more
 * time than was asked for
 *
 * Counts are stored by epoch, so a range of times selects each epoch that it overlaps.
 * A user who asks for half a minute must be told if the report shows a minute or hour.
 */
#include "config.h"

#include "report/select/epochspec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/did_you_mean.h"
#include "base/log.h"
#include "base/times.h"
#include "db/query/marks.h"

#define TOLERANCE_NS NSEC_PER_SEC /* users give times in seconds */

static bool is_label(const struct query_epochs *all, const char *text)
{
	for (size_t i = 0; i < all->nr; i++) {
		if (!strcmp(all->epoch[i].label, text))
			return true;
	}
	return false;
}

/* Returns the keyword most like the text; NULL: none is similar. */
static const char *find_word(const char *text)
{
	static const char *const words[] = { "now",  "today", "yesterday",
					     "last", "all",   "recent" };
	struct did_you_mean guess = did_you_mean_init(text);

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		did_you_mean_try(&guess, words[i]);
	return guess.best;
}

/* Returns the label most like the text; NULL: none is similar. */
static const char *find_label(const struct query_epochs *all, const char *text)
{
	struct did_you_mean guess = did_you_mean_init(text);

	for (size_t i = 0; i < all->nr; i++) {
		if (*all->epoch[i].label)
			did_you_mean_try(&guess, all->epoch[i].label);
	}
	return guess.best;
}

/* Logs that there is no mark with this text. Returns false if there is one. */
static bool explain_mark(struct db *db, const char *text)
{
	struct did_you_mean guess = did_you_mean_init(text);
	struct query_marks marks = { 0 };
	bool found = false;

	query_marks(db, &marks);
	for (size_t i = 0; i < marks.nr; i++) {
		found |= !strcmp(marks.mark[i].text, text);
		did_you_mean_try(&guess, marks.mark[i].text);
	}
	if (!found && guess.best)
		log_err("%s: there is no mark '%s': did you mean '%s'?", db_path(db),
			text, guess.best);
	else if (!found)
		log_err("%s: there is no mark '%s': 'cpi mark --list' shows them",
			db_path(db), text);
	query_marks_fini(&marks);
	return !found;
}

static void find_ends(const struct query_epochs *epochs, uint64_t *from_ns,
		      uint64_t *to_ns)
{
	*from_ns = UINT64_MAX;
	*to_ns = 0;
	for (size_t i = 0; i < epochs->nr; i++) {
		if (epochs->epoch[i].from_ns < *from_ns)
			*from_ns = epochs->epoch[i].from_ns;
		if (epochs->epoch[i].to_ns > *to_ns)
			*to_ns = epochs->epoch[i].to_ns;
	}
}

/*
 * "10:15:00Z to 10:20:00Z (5 min)", with dates unless both are on the day of near_ns.
 */
static void put_times(struct buf *b, uint64_t from_ns, uint64_t to_ns, uint64_t near_ns)
{
	char from[TIME_TEXT_SIZE], to[TIME_TEXT_SIZE], length[DURATION_TEXT_SIZE];

	buf_printf(b, "%s to %s (%s)", time_format_near(from_ns, near_ns, from),
		   time_format_near(to_ns, near_ns, to),
		   time_format_duration(to_ns - from_ns, length));
}

/*
 * Logs what is wrong with one end of a range, or with all of spec. Returns false if it
 * is valid.
 */
static bool explain_end(struct db *db, const struct query_epochs *all, const char *end)
{
	const char *label, *word;

	if (query_mark_name(end))
		return explain_mark(db, query_mark_name(end));
	if (query_is_no_label(end) || is_label(all, end))
		return false;
	label = find_label(all, end);
	word = find_word(end);
	if (label)
		log_err("%s: there is no epoch '%s': did you mean '%s'?", db_path(db),
			end, label);
	else if (word)
		log_err("%s: there is no epoch '%s': did you mean '%s'? Times "
			"are " EPOCHSPEC_TIMES,
			db_path(db), end, word);
	else
		log_err("%s: '%s' is neither a label ('cpi epoch list') nor a time: "
			"say " EPOCHSPEC_TIMES,
			db_path(db), end);
	return true;
}

/* Logs that nothing is stored of the times in spec. Returns false if spec has none. */
static bool explain_times(struct db *db, const struct query_epochs *all,
			  const char *spec)
{
	uint64_t from_ns, to_ns, asked_from_ns, asked_to_ns;
	struct buf text = { 0 };

	if (!all->nr ||
	    query_asked_times(spec, db_now_ns(db), &asked_from_ns, &asked_to_ns))
		return false;
	if (strstr(spec, "..") && asked_to_ns <= asked_from_ns) {
		char from[TIME_TEXT_SIZE], to[TIME_TEXT_SIZE];

		log_err("%s: '%s' ends before it begins: it is from %s to %s",
			db_path(db), spec, time_format(asked_from_ns, from),
			time_format(asked_to_ns, to));
		return true;
	}
	find_ends(all, &from_ns, &to_ns);
	if (!asked_from_ns || asked_to_ns == INT64_MAX)
		buf_printf(&text, "'%s'", spec);
	else
		put_times(&text, asked_from_ns, asked_to_ns, from_ns);
	buf_puts(&text, ": there is ");
	put_times(&text, from_ns, to_ns, from_ns);
	log_err("%s: nothing is stored of %s", db_path(db), buf_str(&text));
	buf_fini(&text);
	return true;
}

void epochspec_failed(struct db *db, const char *spec)
{
	const char *dots = strstr(spec, "..");
	char *left = dots ? strndup(spec, dots - spec) : strdup(spec);
	struct query_epochs all = { 0 };
	bool explained;

	query_epochs(db, "all", &all);
	explained = (left && explain_end(db, &all, left)) ||
		    (dots && explain_end(db, &all, dots + 2)) ||
		    explain_times(db, &all, spec);
	if (!explained)
		log_err("%s: there is no epoch '%s': 'cpi epoch list' shows them",
			db_path(db), spec);
	query_epochs_fini(&all);
	free(left);
}

void epochspec_mention_whole(struct db *db, const char *spec,
			     const struct query_epochs *epochs)
{
	uint64_t from_ns, to_ns, asked_from_ns, asked_to_ns;
	struct buf text = { 0 };

	if (is_label(epochs, spec) || !strcmp(spec, "now") ||
	    query_asked_times(spec, db_now_ns(db), &asked_from_ns, &asked_to_ns))
		return;
	find_ends(epochs, &from_ns, &to_ns);
	if (from_ns + TOLERANCE_NS >= asked_from_ns &&
	    to_ns <= asked_to_ns + TOLERANCE_NS)
		return;
	if (!asked_from_ns) /* an open end begins with the first epoch */
		asked_from_ns = from_ns;
	if (asked_to_ns == INT64_MAX)
		asked_to_ns = to_ns;
	buf_puts(&text, "asked ");
	put_times(&text, asked_from_ns, asked_to_ns, from_ns);
	buf_puts(&text, ", shown ");
	put_times(&text, from_ns, to_ns, from_ns);
	log_info("%s: epochs are whole", buf_str(&text));
	buf_fini(&text);
}

/* The first epoch of the same machine that begins in [from_ns, to_ns). */
static const struct query_epoch *find_between(const struct query_epochs *epochs,
					      const char *host, uint64_t from_ns,
					      uint64_t to_ns)
{
	for (size_t i = 0; i < epochs->nr; i++) {
		const struct query_epoch *e = &epochs->epoch[i];

		if (e->from_ns >= from_ns && e->from_ns < to_ns &&
		    !strcmp(e->host, host))
			return e;
	}
	return NULL;
}

/* A recording is one closed epoch; epochs before it do not belong to it. */
static bool is_of_collector(const struct query_epochs *shown)
{
	const struct query_epoch *newest;

	if (!shown->nr)
		return false;
	newest = &shown->epoch[shown->nr - 1];
	return !*newest->label && (newest->open || shown->nr > 1);
}

void epochspec_mention_before(struct db *db, const char *spec,
			      const struct query_epochs *shown)
{
	char begin[TIME_TEXT_SIZE], length[DURATION_TEXT_SIZE],
		hour[TIME_TEXT_SIZE + 2];
	uint64_t from_ns, to_ns, hour_ns;
	struct query_epochs near = { 0 };
	const struct query_epoch *before;

	if ((spec && strcmp(spec, "recent") != 0) || !is_of_collector(shown))
		return;
	find_ends(shown, &from_ns, &to_ns);
	hour_ns = to_ns > NSEC_PER_HOUR ? to_ns - NSEC_PER_HOUR : 0;
	snprintf(hour, sizeof(hour), "%s..", time_format(hour_ns, begin));
	if (query_epochs(db, hour, &near))
		return;
	before = find_between(&near, shown->epoch[0].host, hour_ns, from_ns);
	if (before)
		log_info_once("the collector was started again at %s: --epoch '%s' "
			      "also shows the %s before",
			      time_format_near(from_ns, to_ns, begin), hour,
			      time_format_duration(from_ns - before->from_ns, length));
	query_epochs_fini(&near);
}
