/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * api.c - the table of reports, and how a request becomes a command's arguments
 *
 * One table has each report with its options, so the list at api/v1/ and the check of a
 * request cannot differ. An option that is not in the table is refused here; a value is
 * checked by the command, which knows its meaning.
 */
#include "config.h"

#include "web/api.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/did_you_mean.h"
#include "base/jsontext.h"
#include "db/clickhouse/storeurl.h"

/* Lists of options: words with spaces around them; a flag has "!" before its name. */
#define MACHINES " !local host platform cluster release machine "
#define EPOCHS   " epoch" MACHINES
#define FILTERS                                                                  \
	"!merge-platforms event image comm cgroup container unit label process " \
	"thread "
#define SELECTED EPOCHS FILTERS
#define ORIGIN   " host cluster release machine "
#define VERBOSE  "!verbose "
#define EXPLAIN  "cpu "

struct report {
	const char *name;
	const char *words;     /* of the command, "epoch list" */
	const char *options;   /* SELECTED and the like */
	const char *arguments; /* names of arguments, in their order; "*": any number */
	const char *formats;   /* the first one is the default */
};

static const struct report reports[] = {
	{ "prof", "prof",
	  SELECTED VERBOSE
	  "by procedure !inlines attribution !children !idle !by-stream "
	  "!over-time interval limit sort max-epochs ",
	  "", "json csv text" },
	{ "list", "list",
	  SELECTED VERBOSE EXPLAIN "!source !asm !both !inlines !all attribution ",
	  "procedure", "json csv text" },
	{ "calc", "calc", SELECTED VERBOSE EXPLAIN "!all !source !asm attribution ",
	  "procedure", "json csv text" },
	{ "sum", "sum", SELECTED VERBOSE EXPLAIN "attribution ", "procedure",
	  "json csv text" },
	{ "hot", "hot", SELECTED VERBOSE EXPLAIN "limit ", "", "json csv text" },
	{ "stalls", "stalls", SELECTED VERBOSE EXPLAIN "limit ", "", "json csv text" },
	{ "paths", "paths", SELECTED VERBOSE "limit ", "procedure", "json csv text" },
	{ "values", "values", SELECTED VERBOSE "limit ", "procedure", "json csv text" },
	{ "cfg", "cfg", SELECTED EXPLAIN, "procedure", "svg dot json" },
	{ "records", "records", SELECTED VERBOSE "limit ", "procedure",
	  "json csv text" },
	{ "tree", "tree",
	  SELECTED VERBOSE "!inverted !inlines !commands threshold !idle ", "",
	  "json csv text" },
	{ "callers", "callers", SELECTED VERBOSE "!inlines threshold !idle ",
	  "procedure", "json csv text" },
	{ "callees", "callees", SELECTED VERBOSE "!inlines threshold !idle ",
	  "procedure", "json csv text" },
	{ "flame", "flame",
	  SELECTED "!icicle !inverted !inlines !commands threshold !idle history fdr ",
	  "A B", "svg json" },
	{ "diff", "diff", MACHINES FILTERS VERBOSE "by history threshold fdr limit ",
	  "A B procedure", "json csv svg text" },
	{ "stats", "stats", SELECTED VERBOSE "by normalize fdr limit sort ", "*",
	  "json csv text" },
	{ "status", "status", " epoch !local !all ", "", "json csv text prometheus" },
	{ "epochs", "epoch list", EPOCHS "limit ", "", "json csv text" },
	{ "hosts", "fleet hosts", ORIGIN "limit ", "", "json csv text" },
	{ "fleet-top", "fleet top", ORIGIN "epoch event by price !cpi !exact limit ",
	  "", "json csv text" },
	{ "cat", "cat", SELECTED "!intervals !weights !edges !windows !stacks ", "",
	  "json csv text" },
	{ "export", "export", SELECTED "by !stacks !idle ", "",
	  "pprof collapsed speedscope firefox callgrind" },
};
#define NR_REPORTS (sizeof(reports) / sizeof(reports[0]))

static const struct {
	const char *format, *type, *suffix;
	bool as_file; /* whether or not the request says so */
} types[] = {
	{ "json", "application/json", "json", false },
	{ "csv", "text/csv; charset=utf-8", "csv", false },
	{ "text", "text/plain; charset=utf-8", "txt", false },
	{ "prometheus", "text/plain; version=0.0.4; charset=utf-8", "prom", false },
	{ "svg", "image/svg+xml", "svg", false },
	{ "dot", "text/vnd.graphviz; charset=utf-8", "dot", false },
	{ "pprof", "application/octet-stream", "pb.gz", true },
	{ "collapsed", "text/plain; charset=utf-8", "collapsed", true },
	{ "speedscope", "application/json", "speedscope.json", true },
	{ "firefox", "application/json", "firefox.json", true },
	{ "callgrind", "text/plain; charset=utf-8", "callgrind", true },
};

bool api_has_store(const struct text_list *dbs)
{
	bool has = false;

	for (int i = 0; i < dbs->nr; i++)
		has |= storeurl_is(dbs->item[i]);
	return has;
}

static const struct report *find_report(const char *name)
{
	for (size_t i = 0; i < NR_REPORTS; i++) {
		if (!strcmp(reports[i].name, name))
			return &reports[i];
	}
	return NULL;
}

/* Where a word of a list is; NULL if it is not there. */
static const char *find_word(const char *list, const char *word)
{
	const size_t size = strlen(word);

	for (const char *at = list; *at; at += strcspn(at, " ")) {
		at += strspn(at, " ");
		if (!strncmp(at + (*at == '!'), word, size) && size &&
		    strchr(" ", at[(*at == '!') + size]))
			return at;
	}
	return NULL;
}

/* The next word of a list as a string; false at its end. */
static bool next_word(const char **list, char *out, size_t size)
{
	size_t len;

	*list += strspn(*list, " ");
	len = strcspn(*list, " ");
	snprintf(out, size, "%.*s", (int)len, *list);
	*list += len;
	return len;
}

/* Appends "prefix name = value" to argv; 0, -E2BIG or -ENOMEM. */
static int add(struct api_call *call, const char *prefix, const char *name,
	       const char *value)
{
	if (call->nr == API_MAX_ARGV)
		return -E2BIG;
	if (asprintf(&call->argv[call->nr], "%s%s%s%s", prefix, name, value ? "=" : "",
		     value ? value : "") < 0)
		return -ENOMEM;
	call->nr++;
	return 0;
}

static int add_words(struct api_call *call, const char *words)
{
	char word[32];
	int err = 0;

	while (!err && next_word(&words, word, sizeof(word)))
		err = add(call, "", word, NULL);
	return err;
}

static int add_databases(struct api_call *call, const struct text_list *dbs)
{
	int err = 0;

	for (int i = 0; !err && i < dbs->nr; i++)
		err = add(call, "--", "db", dbs->item[i]);
	return err;
}

static bool is_on(const char *value)
{
	return !*value || !strcmp(value, "1") || !strcmp(value, "true");
}

/* Suggests the nearest name: "text" for "txt". */
static int unknown_option(const struct report *r, const char *name, struct buf *why)
{
	struct did_you_mean guess = did_you_mean_init(name);
	const char *list = r->options;
	char words[40][32];
	size_t nr = 0;

	while (nr < 40 && next_word(&list, words[nr], sizeof(words[nr]))) {
		did_you_mean_try(&guess, words[nr] + (words[nr][0] == '!'));
		nr++;
	}
	buf_printf(why, "%s: there is no option %s", r->name, name);
	if (guess.best)
		buf_printf(why, ": did you mean %s?", guess.best);
	return -EINVAL;
}

static int add_option(struct api_call *call, const struct report *r,
		      const struct target_arg *arg, struct buf *why)
{
	const char *word = find_word(r->options, arg->name);

	if (!word)
		return unknown_option(r, arg->name, why);
	if (*word != '!')
		return add(call, "--", arg->name, arg->value);
	if (is_on(arg->value))
		return add(call, "--", arg->name, NULL);
	if (!strcmp(arg->value, "0") || !strcmp(arg->value, "false"))
		return 0;
	buf_printf(why, "%s: %s=%s: say 1 or 0", r->name, arg->name, arg->value);
	return -EINVAL;
}

/* Whether an argument of the query is one of the command's, and not an option. */
static bool is_argument(const struct report *r, const char *name)
{
	return !strcmp(name, "arg") ||
	       (!find_word(r->options, name) && find_word(r->arguments, name));
}

static int take_format(struct api_call *call, const struct report *r,
		       const char *format, struct buf *why)
{
	char first[16];
	const char *formats = r->formats;

	next_word(&formats, first, sizeof(first));
	if (!format)
		format = first;
	if (!find_word(r->formats, format)) {
		buf_printf(why, "%s: format=%s: say one of %s", r->name, format,
			   r->formats);
		return -EINVAL;
	}
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(types[i].format, format))
			continue;
		call->type = types[i].type;
		call->suffix = types[i].suffix;
		call->as_file |= types[i].as_file;
	}
	return add(call, "--", "format", format);
}

/* The options, in the order of the query. */
static int take_options(struct api_call *call, const struct report *r,
			const struct target *t, struct buf *why)
{
	const char *format = NULL;
	int err = 0;

	for (int i = 0; !err && i < t->nr_args; i++) {
		const struct target_arg *arg = &t->arg[i];

		if (!strcmp(arg->name, "format"))
			format = arg->value;
		else if (!strcmp(arg->name, "download"))
			call->as_file = is_on(arg->value);
		else if (!is_argument(r, arg->name))
			err = add_option(call, r, arg, why);
	}
	return err ? err : take_format(call, r, format, why);
}

/* The arguments: named ones in the order of the command, then those named "arg". */
static int take_arguments(struct api_call *call, const struct report *r,
			  const struct target *t)
{
	const char *names = r->arguments;
	char name[16];
	int err = add(call, "", "--", NULL);

	while (!err && next_word(&names, name, sizeof(name))) {
		for (int i = 0; !err && i < t->nr_args; i++) {
			if (!strcmp(t->arg[i].name, name) && is_argument(r, name))
				err = add(call, "", t->arg[i].value, NULL);
		}
	}
	for (int i = 0; !err && i < t->nr_args; i++) {
		if (!strcmp(t->arg[i].name, "arg"))
			err = add(call, "", t->arg[i].value, NULL);
	}
	return err;
}

int api_call_make(const char *report, const struct target *t,
		  const struct text_list *dbs, struct api_call *call, struct buf *why)
{
	const struct report *r = find_report(report);
	int err;

	if (!r)
		return -ENOENT;
	*call = (struct api_call){ .report = r->name };
	err = add_words(call, r->words);
	if (!err)
		err = add_databases(call, dbs);
	if (!err)
		err = take_options(call, r, t, why);
	if (!err)
		err = take_arguments(call, r, t);
	if (err)
		api_call_fini(call);
	if (err == -E2BIG)
		buf_printf(why, "%s: too many options", r->name);
	return err == -E2BIG ? -EINVAL : err;
}

static const char *value_of(const struct target *t, const char *name)
{
	for (int i = 0; i < t->nr_args; i++) {
		if (!strcmp(t->arg[i].name, name))
			return t->arg[i].value;
	}
	return NULL;
}

/*
 * The values of arguments and options that name epochs. Without any, cpi stats reads
 * all epochs.
 */
static int add_specs(struct api_call *call, const char *report, const struct target *t)
{
	const bool any = !strcmp(report, "stats");
	int err = 0;

	for (int i = 0; !err && i < t->nr_args; i++) {
		const char *name = t->arg[i].name;

		if (!strcmp(name, "A") || !strcmp(name, "B") ||
		    (!strcmp(name, "history") && strcmp(t->arg[i].value, "none")) ||
		    (any && !strcmp(name, "arg")))
			err = add(call, "", t->arg[i].value, NULL);
	}
	if (!err && any && !value_of(t, "arg") && !value_of(t, "epoch"))
		err = add(call, "", "all", NULL);
	return err;
}

/*
 * Whether a stamp of the request's epochs can be made. Not for a comparison without
 * "history", which may use any earlier epochs; and not with "arg", where only the order
 * says which arguments are epochs.
 */
static bool has_stamp(const char *report, const struct target *t)
{
	const bool has_sides = value_of(t, "A") || value_of(t, "B");

	if (!strcmp(report, "status") || !strcmp(report, "epochs"))
		return false;
	if (!strcmp(report, "diff") || !strcmp(report, "flame"))
		return !value_of(t, "arg") && (!has_sides || value_of(t, "history"));
	return true;
}

int api_stamp_make(const struct api_call *report, const struct target *t,
		   const struct text_list *dbs, struct api_call *stamp)
{
	static const struct report any = { .options = EPOCHS };
	struct buf why = { 0 };
	int err;

	if (api_has_store(dbs) || !has_stamp(report->report, t))
		return -ENODATA;
	*stamp = (struct api_call){ .report = "stamp", .type = "text/plain" };
	err = add_words(stamp, "epoch stamp");
	if (!err)
		err = add_databases(stamp, dbs);
	for (int i = 0; !err && i < t->nr_args; i++) {
		if (find_word(EPOCHS, t->arg[i].name))
			err = add_option(stamp, &any, &t->arg[i], &why);
	}
	if (!err)
		err = add(stamp, "", "--", NULL);
	if (!err)
		err = add_specs(stamp, report->report, t);
	if (err)
		api_call_fini(stamp);
	buf_fini(&why);
	return err;
}

void api_call_fini(struct api_call *call)
{
	for (int i = 0; i < call->nr; i++)
		free(call->argv[i]);
	*call = (struct api_call){ .nr = 0 };
}

static void describe_words(struct buf *out, const char *key, const char *words)
{
	const char *before = "";
	char word[32];

	buf_printf(out, ", \"%s\": [", key);
	while (next_word(&words, word, sizeof(word))) {
		buf_puts(out, before);
		jsontext_put(out, word + (*word == '!'));
		before = ", ";
	}
	buf_putc(out, ']');
}

void api_describe(const struct text_list *dbs, struct buf *out)
{
	buf_puts(out, "{\"version\": ");
	jsontext_put(out, PACKAGE_VERSION);
	buf_printf(out, ", \"fleet\": %s", api_has_store(dbs) ? "true" : "false");
	buf_puts(out, ", \"reports\": [");
	for (size_t i = 0; i < NR_REPORTS; i++) {
		buf_puts(out, i ? ",\n {\"name\": " : "\n {\"name\": ");
		jsontext_put(out, reports[i].name);
		describe_words(out, "arguments", reports[i].arguments);
		describe_words(out, "formats", reports[i].formats);
		describe_words(out, "options", reports[i].options);
		buf_putc(out, '}');
	}
	buf_puts(out, "\n]}\n");
}
