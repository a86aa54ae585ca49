/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.c - options of a service, from its config files and the command line
 */
#include "config.h"

#include "service/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/did_you_mean.h"
#include "base/log.h"
#include "service/unitfile.h"

#define MAX_OPTIONS 64

struct service_value {
	struct service_value *next;
	char text[];
};

/* One reading of the options. */
struct reading {
	const struct service_program *p;
	void *options;
	struct service_value **values;
};

int service_set_flag(void *member, const char *text)
{
	bool *flag = member;

	if (strcmp(text, "yes") && strcmp(text, "no"))
		return -EINVAL;
	*flag = !strcmp(text, "yes");
	return 0;
}

int service_set_given(void *member, const char *text)
{
	const char **out = member;

	*out = text;
	return *text ? 0 : -EINVAL;
}

int service_set_text(void *member, const char *text)
{
	const char **out = member;

	*out = *text ? text : NULL;
	return 0;
}

int service_add_text(void *member, const char *text)
{
	struct text_list *list = member;

	if (!*text || list->nr == TEXT_LIST_MAX)
		return -EINVAL;
	list->item[list->nr++] = text;
	return 0;
}

int service_set_config(void *member, const char *text)
{
	return 0;
}

static void *member_of(const struct reading *r, const struct service_option *o)
{
	return (char *)r->options + o->at;
}

static void clear_list(const struct reading *r, const struct service_option *o)
{
	struct text_list *list = member_of(r, o);

	list->nr = 0;
}

void service_values_free(struct service_value *values)
{
	struct service_value *next;

	for (; values; values = next) {
		next = values->next;
		free(values);
	}
}

static int show_help(const struct service_program *p)
{
	char left[64];

	printf("usage: %s [OPTION...]\n\n%s\n\n", p->name, p->about);
	for (size_t i = 0; i < p->nr; i++) {
		const struct service_option *o = &p->options[i];

		snprintf(left, sizeof(left), "--%s%s%s", o->name, o->arg ? "=" : "",
			 o->arg ? o->arg : "");
		printf("  %-20s %s\n", left, o->help);
	}
	printf("\nMore: man 8 %s\n", p->name);
	return 1;
}

/* Options without set print something: the help or the version. */
static int print(const struct service_program *p, const struct service_option *o)
{
	if (!strcmp(o->name, "help"))
		return show_help(p);
	printf("%s %s\n", p->name, PACKAGE_VERSION);
	return 1;
}

static void say_invalid(const struct service_program *p, const struct service_option *o,
			const char *value)
{
	log_err("--%s=%s: not valid: %s (see '%s --help')", o->name, value, o->help,
		p->name);
}

/* ---- files ---- */

static int keep_value(struct reading *r, const char *value, const char **out)
{
	struct service_value *kept = malloc(sizeof(*kept) + strlen(value) + 1);

	if (!kept)
		return -ENOMEM;
	strcpy(kept->text, value);
	kept->next = *r->values;
	*r->values = kept;
	*out = kept->text;
	return 0;
}

static const struct service_option *find_option(const struct service_program *p,
						const char *name)
{
	for (size_t i = 0; i < p->nr; i++) {
		if (!p->options[i].on_line && !strcmp(p->options[i].name, name))
			return &p->options[i];
	}
	return NULL;
}

static void say_unknown(const struct service_program *p, const char *file,
			const struct unitfile_setting *s)
{
	struct did_you_mean near = did_you_mean_init(s->name);

	for (size_t i = 0; i < p->nr; i++) {
		if (!p->options[i].on_line)
			did_you_mean_try(&near, p->options[i].name);
	}
	log_err("%s:%u:%u: there is no option \"%s\"%s%s%s", file, s->name_at.line,
		s->name_at.column, s->name, near.best ? "; did you mean \"" : "",
		near.best ? near.best : "", near.best ? "\"?" : "");
}

/* An empty value of a list removes what it has so far. */
static int take_setting(void *ctx, const char *file, const struct unitfile_setting *s)
{
	struct reading *r = ctx;
	const struct service_option *o = find_option(r->p, s->name);
	const char *value;
	int err;

	if (!o) {
		say_unknown(r->p, file, s);
		return -EINVAL;
	}
	if (o->set == service_add_text && !*s->value) {
		clear_list(r, o);
		return 0;
	}
	err = keep_value(r, s->value, &value);
	if (!err)
		err = o->set(member_of(r, o), value);
	if (err == -EINVAL)
		log_err("%s:%u:%u: %s: \"%s\" is not valid: %s", file, s->value_at.line,
			s->value_at.column, s->name, value, o->help);
	return err;
}

/* ---- the command line ---- */

static void fill_getopt(const struct service_program *p, struct option *table)
{
	memset(table, 0, sizeof(*table) * (p->nr + 1));
	for (size_t i = 0; i < p->nr; i++)
		table[i] = (struct option){ p->options[i].name,
					    p->options[i].arg ? required_argument
							      : no_argument,
					    NULL, (int)i + 1 };
}

/* The file that the line names, or NULL; whether the line only asks for a text. */
static const char *find_config(const struct service_program *p, int argc, char **argv,
			       bool *only_prints)
{
	struct option table[MAX_OPTIONS + 1];
	const char *path = NULL;
	int value;

	fill_getopt(p, table);
	*only_prints = false;
	opterr = 0; /* errors are told of when the options are taken */
	while ((value = getopt_long(argc, argv, "", table, NULL)) != -1) {
		if (value == '?')
			continue;
		if (p->options[value - 1].set == service_set_config)
			path = optarg;
		*only_prints |= !p->options[value - 1].set;
	}
	opterr = 1;
	optind = 0; /* glibc: start anew */
	return path;
}

static int read_files(struct reading *r, int argc, char **argv)
{
	const struct unitfile_reader reader = { .program = r->p->name,
						.section = r->p->name,
						.setting = take_setting,
						.ctx = r };
	bool only_prints;
	const char *path = find_config(r->p, argc, argv, &only_prints);

	if (path)
		return unitfile_read(&reader, path, false);
	path = getenv(r->p->env);
	return only_prints ? 0
			   : unitfile_read(&reader, path && *path ? path : r->p->file,
					   true);
}

/* The first value of a list on the line removes those of files. */
static int take(const struct reading *r, int value, bool *seen)
{
	const struct service_option *o = &r->p->options[value - 1];
	int err;

	if (!o->set)
		return print(r->p, o);
	if (o->set == service_add_text && !seen[value - 1])
		clear_list(r, o);
	seen[value - 1] = true;
	err = o->set(member_of(r, o), o->arg ? optarg : "yes");
	if (err < 0)
		say_invalid(r->p, o, o->arg ? optarg : "yes");
	return err;
}

static int read_line(const struct reading *r, int argc, char **argv)
{
	struct option table[MAX_OPTIONS + 1];
	bool seen[MAX_OPTIONS] = { false };
	int value, err = 0;

	fill_getopt(r->p, table);
	while (!err && (value = getopt_long(argc, argv, "", table, NULL)) != -1)
		err = value == '?' ? -EINVAL : take(r, value, seen);
	if (!err && optind < argc) {
		log_err("'%s' is one argument too many (see '%s --help')", argv[optind],
			r->p->name);
		err = -EINVAL;
	}
	return err;
}

int service_options_read(const struct service_program *p, int argc, char **argv,
			 void *options, struct service_value **values)
{
	struct reading r = { .p = p, .options = options, .values = values };
	int err = p->nr <= MAX_OPTIONS ? 0 : -EINVAL;

	*values = NULL;
	if (!err)
		err = read_files(&r, argc, argv);
	return err ? err : read_line(&r, argc, argv);
}
