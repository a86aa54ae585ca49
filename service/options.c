/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options.c - what an option does with its value, and the help
 */
#include "config.h"

#include "service/options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "service/options_private.h"

#define HELP_COLUMN 30

int service_set_flag(void *member, const char *text)
{
	static const struct {
		const char *word;
		bool value;
	} words[] = { { "yes", true },  { "true", true }, { "on", true },
		      { "1", true },    { "no", false },  { "false", false },
		      { "off", false }, { "0", false } };
	bool *flag = member;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(text, words[i].word))
			continue;
		*flag = words[i].value;
		return 0;
	}
	return -EINVAL;
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
	return *text ? 0 : -EINVAL;
}

static void show_option(const struct service_option *o)
{
	int width = printf("  %c%c%s --%s", o->letter ? '-' : ' ',
			   o->letter ? o->letter : ' ', o->letter ? "," : " ", o->name);

	if (o->arg)
		width += printf("=%s", o->arg);
	printf("%*s%s", width < HELP_COLUMN ? HELP_COLUMN - width : 1, "", o->help);
	if (o->fallback && o->arg)
		printf(" (default: %s)", o->fallback);
	putchar('\n');
}

static void show_help(const struct service_program *p)
{
	printf("usage: %s [OPTION...]\n\n%s\n\n", p->name, p->about);
	for (size_t i = 0; i < p->nr; i++)
		show_option(&p->options[i]);
	printf("\n%sMore: man 8 %s\n", p->more ? p->more : "", p->name);
}

void service_option_show(const struct service_program *p,
			 const struct service_option *o)
{
	if (!strcmp(o->name, "help"))
		show_help(p);
	else
		printf("%s %s\n", p->name, PACKAGE_VERSION);
}

static void print_option(void *ctx, const char *name, const char *value,
			 const char *from)
{
	printf("%-16s  %-40s  %s\n", name, value, from);
}

int service_options_print(const struct service_program *p,
			  const struct service_settings *s)
{
	return service_options_each(p, s, print_option, NULL);
}
