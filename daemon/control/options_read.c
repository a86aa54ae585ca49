/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options_read.c - where the values of options come from
 *
 * All values are collected with their places first, and those in force are set then, so
 * that 'cpi config' can tell where each of them was given. A value in a file is checked
 * where it stands, also if another one replaces it.
 */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/did_you_mean.h"
#include "base/err.h"
#include "base/grow.h"
#include "daemon/control/options_private.h"

#define SECTION "cpid"

/* Long options report this + their record, letters themselves. */
#define LONG_BASE 256

static int add_setting(struct settings *s, size_t option, const char *value,
		       const char *file, struct unitfile_place at)
{
	struct setting *added;

	if (GROW(s->list, s->nr))
		return -ENOMEM;
	added = &s->list[s->nr];
	*added = (struct setting){ .option = option, .at = at };
	added->value = strdup(value);
	added->file = file ? strdup(file) : NULL;
	s->nr++; /* from here on options_fini() frees it */
	return added->value && (added->file || !file) ? 0 : -ENOMEM;
}

static void say_invalid(const char *where, const struct option_record *r,
			const char *value, struct buf *why)
{
	fprintf(stderr, "cpid: %s%s: \"%s\" is no valid %s%s%s\n", where, r->name,
		value, r->arg ? r->arg : "yes or no", why->len ? ": " : "",
		buf_str(why));
}

/* ---- the command line ---- */

static void fill_getopt(const struct option_record *records, size_t nr,
			struct option *longs, char *letters)
{
	*letters++ = '+'; /* no permuting: an argument behind the options is an error */
	for (size_t i = 0; i < nr; i++) {
		longs[i] = (struct option){
			.name = records[i].name,
			.has_arg = records[i].arg ? required_argument : no_argument,
			.val = LONG_BASE + (int)i,
		};
		if (!records[i].letter)
			continue;
		*letters++ = records[i].letter;
		if (records[i].arg)
			*letters++ = ':';
	}
	longs[nr] = (struct option){ 0 };
	*letters = '\0';
}

/* nr if there is none: getopt has said why. */
static size_t find_result(const struct option_record *records, size_t nr, int result)
{
	size_t i = 0;

	if (result >= LONG_BASE)
		return (size_t)(result - LONG_BASE);
	while (i < nr && records[i].letter != result)
		i++;
	return i;
}

static int read_line(int argc, char **argv, struct options *o)
{
	size_t nr, i;
	const struct option_record *records = option_records(&nr);
	struct option longs[nr + 1];
	char letters[2 * nr + 2];
	int result, err;

	fill_getopt(records, nr, longs, letters);
	optind = 0; /* glibc: start anew */
	while ((result = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		i = find_result(records, nr, result);
		if (i == nr)
			return -EINVAL;
		err = add_setting(&o->settings, i, optarg ? optarg : "", NULL,
				  (struct unitfile_place){ 0 });
		if (err)
			return err;
	}
	if (optind < argc) {
		fprintf(stderr, "cpid: there is no argument \"%s\"\n", argv[optind]);
		return -EINVAL;
	}
	return 0;
}

/* ---- files ---- */

static void say_unknown(const char *where, const char *name)
{
	struct did_you_mean near = did_you_mean_init(name);
	size_t nr;
	const struct option_record *records = option_records(&nr);

	for (size_t i = 0; i < nr; i++) {
		if (!(records[i].flags & OPTION_ON_LINE))
			did_you_mean_try(&near, records[i].name);
	}
	fprintf(stderr, "cpid: %sthere is no option \"%s\"", where, name);
	if (near.best)
		fprintf(stderr, "; did you mean \"%s\"?", near.best);
	fprintf(stderr, "\n");
}

static size_t find_name(const struct option_record *records, size_t nr,
			const char *name)
{
	size_t i = 0;

	while (i < nr && (strcmp(records[i].name, name) != 0 ||
			  records[i].flags & OPTION_ON_LINE))
		i++;
	return i;
}

/* An empty value is the default. */
static int check_value(const char *where, const struct option_record *r,
		       const char *value)
{
	struct options scratch;
	int err;

	if (!*value)
		return 0;
	options_init(&scratch);
	err = r->set(&scratch, value);
	if (err == -EINVAL)
		say_invalid(where, r, value, &scratch.why);
	options_fini(&scratch);
	return err;
}

static int take_setting(void *ctx, const char *file, const struct unitfile_setting *s)
{
	struct options *o = ctx;
	char where[PATH_MAX + 32];
	size_t nr, i;
	const struct option_record *records = option_records(&nr);
	int err;

	i = find_name(records, nr, s->name);
	snprintf(where, sizeof(where), "%s:%u:%u: ", file,
		 i < nr ? s->value_at.line : s->name_at.line,
		 i < nr ? s->value_at.column : s->name_at.column);
	if (i == nr) {
		say_unknown(where, s->name);
		return -EINVAL;
	}
	err = check_value(where, &records[i], s->value);
	return err ? err : add_setting(&o->settings, i, s->value, file, s->value_at);
}

/* The last one that the command line names; or NULL. */
static const char *named_file(const struct options *o)
{
	size_t nr;
	const struct option_record *records = option_records(&nr);
	const char *name = NULL;

	for (size_t i = 0; i < o->settings.nr; i++) {
		if (!strcmp(records[o->settings.list[i].option].name, "config"))
			name = o->settings.list[i].value;
	}
	return name;
}

static int read_files(struct options *o)
{
	const struct unitfile_reader reader = {
		.program = "cpid", .section = SECTION, .setting = take_setting, .ctx = o
	};
	const char *path = named_file(o);
	const bool is_named = path;

	if (!path)
		path = getenv("CPI_CONFIG");
	if (!path || !*path)
		path = CPI_CONFIG_FILE;
	return unitfile_read(&reader, path, !is_named);
}

/* ---- what is in force ---- */

bool settings_in_force(const struct settings *s, size_t i)
{
	size_t nr;
	const struct option_record *records = option_records(&nr);
	const struct setting *this = &s->list[i];
	const bool is_list = records[this->option].flags & OPTION_LIST;

	if (this->file && !*this->value)
		return false;
	for (size_t k = 0; k < s->nr; k++) {
		const struct setting *other = &s->list[k];

		if (other->option != this->option || k == i)
			continue;
		if (this->file && !other->file)
			return false;
		if (!this->file == !other->file && k > i &&
		    (!is_list || (other->file && !*other->value)))
			return false;
	}
	return true;
}

static int set_options(struct options *o)
{
	size_t nr;
	const struct option_record *records = option_records(&nr);
	const struct setting *s;
	int err;

	for (size_t i = 0; i < o->settings.nr; i++) {
		s = &o->settings.list[i];
		if (!settings_in_force(&o->settings, i))
			continue;
		err = records[s->option].set(o, s->value);
		if (err == -EINVAL)
			say_invalid("--", &records[s->option], s->value, &o->why);
		if (err)
			return err;
	}
	return 0;
}

/* What only prints needs no valid configuration. */
static bool only_prints(const struct options *o)
{
	size_t nr;
	const struct option_record *records = option_records(&nr);

	for (size_t i = 0; i < o->settings.nr; i++) {
		char letter = records[o->settings.list[i].option].letter;

		if (letter == 'h' || letter == 'V')
			return true;
	}
	return false;
}

int options_parse(int argc, char **argv, struct options *o)
{
	int err;

	options_init(o);
	err = read_line(argc, argv, o);
	if (!err && !only_prints(o))
		err = read_files(o);
	if (!err)
		err = set_options(o);
	if (err == -EINVAL)
		fprintf(stderr, "Try 'cpid --help'.\n");
	return err;
}
