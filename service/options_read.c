/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options_read.c - where the values of options come from
 *
 * First all values are collected, with their places, so that 'cpi config' can show
 * where each was given. Then the values in force are set. Each value in a file is
 * checked when it is read, even if a later value replaces it.
 */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/did_you_mean.h"
#include "base/grow.h"
#include "base/log.h"
#include "service/options_private.h"

#define MAX_OPTIONS 64

/* getopt_long() returns LONG_BASE + the index of the record, or the option's letter. */
#define LONG_BASE 256

/* One reading. */
struct options_reader {
	const struct service_program *p;
	struct service_settings *settings;
};

static int add_setting(struct service_settings *s, size_t option, const char *value,
		       const char *file, struct unitfile_place at)
{
	struct service_setting *added;

	if (GROW(s->list, s->nr))
		return -ENOMEM;
	added = &s->list[s->nr];
	*added = (struct service_setting){ .option = option, .at = at };
	added->value = strdup(value);
	added->file = file ? strdup(file) : NULL;
	s->nr++; /* from here on service_settings_fini() frees it */
	return added->value && (added->file || !file) ? 0 : -ENOMEM;
}

void service_settings_fini(struct service_settings *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		free(s->list[i].value);
		free(s->list[i].file);
	}
	free(s->list);
	*s = (struct service_settings){ 0 };
}

static int set_option(const struct service_program *p, const struct service_option *o,
		      const char *where, const char *value, void *options)
{
	int err = o->set((char *)options + o->at, value);
	struct buf *why = p->why_at ? (void *)((char *)options + p->why_at) : NULL;

	if (err == -EINVAL || err == -ERANGE)
		log_err("%s%s: \"%s\" is no valid %s: %s", where, o->name, value,
			o->arg ? o->arg : "answer (yes or no)",
			why && why->len ? buf_str(why) : o->help);
	return err;
}

/* ---- the command line ---- */

static void fill_getopt(const struct service_program *p, struct option *longs,
			char *letters)
{
	*letters++ = '+'; /* no permuting: an argument behind the options is an error */
	for (size_t i = 0; i < p->nr; i++) {
		const struct service_option *o = &p->options[i];

		longs[i] = (struct option){
			.name = o->name,
			.has_arg = o->arg ? required_argument : no_argument,
			.val = LONG_BASE + (int)i,
		};
		if (!o->letter)
			continue;
		*letters++ = o->letter;
		if (o->arg)
			*letters++ = ':';
	}
	longs[p->nr] = (struct option){ 0 };
	*letters = '\0';
}

/* The index of the option's record; p->nr if getopt has reported an error. */
static size_t find_result(const struct service_program *p, int result)
{
	size_t i = 0;

	if (result >= LONG_BASE)
		return (size_t)(result - LONG_BASE);
	while (i < p->nr && p->options[i].letter != result)
		i++;
	return i;
}

static int read_command_line(const struct options_reader *r, int argc, char **argv)
{
	struct option longs[MAX_OPTIONS + 1];
	char letters[2 * MAX_OPTIONS + 2];
	int result, err;
	size_t i;

	if (r->p->nr > MAX_OPTIONS)
		return -E2BIG;
	fill_getopt(r->p, longs, letters);
	optind = 0; /* glibc: start anew */
	while ((result = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		i = find_result(r->p, result);
		if (i == r->p->nr)
			return -EINVAL;
		err = add_setting(r->settings, i, r->p->options[i].arg ? optarg : "yes",
				  NULL, (struct unitfile_place){ 0 });
		if (err)
			return err;
	}
	if (optind < argc) {
		log_err("'%s' is one argument too many", argv[optind]);
		return -EINVAL;
	}
	return 0;
}

/* ---- files ---- */

static void say_unknown(const struct service_program *p, const char *where,
			const char *name)
{
	struct did_you_mean near = did_you_mean_init(name);

	for (size_t i = 0; i < p->nr; i++) {
		if (!(p->options[i].flags & SERVICE_COMMAND_LINE))
			did_you_mean_try(&near, p->options[i].name);
	}
	log_err("%sthere is no option \"%s\"%s%s%s", where, name,
		near.best ? "; did you mean \"" : "", near.best ? near.best : "",
		near.best ? "\"?" : "");
}

static size_t find_name(const struct service_program *p, const char *name)
{
	size_t i = 0;

	while (i < p->nr && (strcmp(p->options[i].name, name) != 0 ||
			     p->options[i].flags & SERVICE_COMMAND_LINE))
		i++;
	return i;
}

/* An empty value is the default. */
static int check_value(const struct service_program *p, const struct service_option *o,
		       const char *where, const char *value)
{
	void *scratch;
	int err;

	if (!*value)
		return 0;
	scratch = malloc(p->size);
	if (!scratch)
		return -ENOMEM;
	p->init(scratch);
	err = set_option(p, o, where, value, scratch);
	if (p->fini)
		p->fini(scratch);
	free(scratch);
	return err;
}

static int take_setting(void *ctx, const char *file, const struct unitfile_setting *s)
{
	const struct options_reader *r = ctx;
	const size_t i = find_name(r->p, s->name);
	const bool is_known = i < r->p->nr;
	char where[PATH_MAX + 32];
	int err;

	snprintf(where, sizeof(where), "%s:%u:%u: ", file,
		 is_known ? s->value_at.line : s->name_at.line,
		 is_known ? s->value_at.column : s->name_at.column);
	if (!is_known) {
		say_unknown(r->p, where, s->name);
		return -EINVAL;
	}
	err = check_value(r->p, &r->p->options[i], where, s->value);
	return err ? err : add_setting(r->settings, i, s->value, file, s->value_at);
}

/* The last one that the command line names; or NULL. */
static const char *named_file(const struct options_reader *r)
{
	const char *name = NULL;

	for (size_t i = 0; i < r->settings->nr; i++) {
		const struct service_setting *s = &r->settings->list[i];

		if (r->p->options[s->option].set == service_set_config)
			name = s->value;
	}
	return name;
}

static int read_files(struct options_reader *r)
{
	const struct unitfile_reader reader = { .program = r->p->name,
						.section = r->p->name,
						.setting = take_setting,
						.ctx = r };
	const char *path = named_file(r);
	const bool is_named = path;

	if (!path)
		path = getenv(r->p->env);
	if (!path || !*path)
		path = r->p->file;
	return unitfile_read(&reader, path, !is_named);
}

/* ---- what is in force ---- */

bool service_setting_in_force(const struct service_program *p,
			      const struct service_settings *s, size_t i)
{
	const struct service_setting *this = &s->list[i];
	const bool is_list = p->options[this->option].flags & SERVICE_LIST;

	if (this->file && !*this->value)
		return false;
	for (size_t k = 0; k < s->nr; k++) {
		const struct service_setting *other = &s->list[k];

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

int service_options_set(const struct service_program *p,
			const struct service_settings *s, void *options)
{
	int err = 0;

	for (size_t i = 0; i < s->nr && !err; i++) {
		if (service_setting_in_force(p, s, i))
			err = set_option(p, &p->options[s->list[i].option], "--",
					 s->list[i].value, options);
	}
	return err;
}

/* Help and version are printed even if the configuration is invalid. */
static const struct service_option *find_printing(const struct options_reader *r)
{
	for (size_t i = 0; i < r->settings->nr; i++) {
		const struct service_option *o =
			&r->p->options[r->settings->list[i].option];

		if (!o->set)
			return o;
	}
	return NULL;
}

int service_options_read(const struct service_program *p, int argc, char **argv,
			 void *options, struct service_settings *s)
{
	struct options_reader r = { .p = p, .settings = s };
	const struct service_option *prints;
	int err;

	*s = (struct service_settings){ 0 };
	err = read_command_line(&r, argc, argv);
	prints = err ? NULL : find_printing(&r);
	if (prints) {
		service_option_show(p, prints);
		return 1;
	}
	if (!err)
		err = read_files(&r);
	if (!err)
		err = service_options_set(p, s, options);
	if (err == -EINVAL)
		fprintf(stderr, "Try '%s --help'.\n", p->name);
	return err;
}
