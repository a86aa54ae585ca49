/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options_reload.c - what is in force, and what a new configuration changes of it
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"
#include "daemon/control/options_private.h"

/* The values of an option in force, separated by commas; from where the last one is. */
static const struct setting *join_values(const struct settings *s, size_t option,
					 struct buf *values)
{
	const struct setting *last = NULL;

	for (size_t i = 0; i < s->nr; i++) {
		if (s->list[i].option != option || !settings_in_force(s, i))
			continue;
		if (last)
			buf_putc(values, ',');
		last = &s->list[i];
		text_put_clean(values, *last->value ? last->value : "yes");
	}
	return last;
}

/* "FILE:LINE" and the like. */
static void put_origin(const struct setting *s, struct buf *from)
{
	if (!s) {
		buf_puts(from, "default");
	} else if (!s->file) {
		buf_puts(from, "command line");
	} else {
		text_put_clean(from, s->file);
		buf_printf(from, ":%u", s->at.line);
	}
}

static int tell_option(const struct options *o, size_t option, options_fn fn, void *ctx)
{
	size_t nr;
	const struct option_record *r = &option_records(&nr)[option];
	struct buf values = { 0 }, from = { 0 };
	const struct setting *last = join_values(&o->settings, option, &values);
	int err;

	put_origin(last, &from);
	err = values.err ? values.err : from.err;
	if (!err && (last || r->fallback))
		fn(ctx, r->name, last ? buf_str(&values) : r->fallback, buf_str(&from));
	buf_fini(&values);
	buf_fini(&from);
	return err;
}

int options_each(const struct options *o, options_fn fn, void *ctx)
{
	size_t nr;
	const struct option_record *records = option_records(&nr);
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		if (!(records[i].flags & OPTION_ON_LINE))
			err = tell_option(o, i, fn, ctx);
	}
	return err;
}

/* 1 if their values differ, 0 if not, or -ENOMEM. */
static int differs(const struct options *a, const struct options *b, size_t option)
{
	struct buf in_a = { 0 }, in_b = { 0 };
	int result;

	join_values(&a->settings, option, &in_a);
	join_values(&b->settings, option, &in_b);
	result = in_a.err || in_b.err ? -ENOMEM
				      : strcmp(buf_str(&in_a), buf_str(&in_b)) != 0;
	buf_fini(&in_a);
	buf_fini(&in_b);
	return result;
}

static void remove_values(struct settings *s, size_t option)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->nr; i++) {
		if (s->list[i].option != option) {
			s->list[kept++] = s->list[i];
			continue;
		}
		free(s->list[i].value);
		free(s->list[i].file);
	}
	s->nr = kept;
}

/* Also where a value stands, if that moved. */
static int move_values(struct settings *from, struct settings *to, size_t option)
{
	for (size_t i = 0; i < from->nr; i++) {
		if (from->list[i].option != option)
			continue;
		if (GROW(to->list, to->nr))
			return -ENOMEM;
		to->list[to->nr++] = from->list[i];
		from->list[i].value = NULL;
		from->list[i].file = NULL;
	}
	return 0;
}

int options_compare(const struct options *o, const struct options *now,
		    struct buf *changed, struct buf *left)
{
	size_t nr;
	const struct option_record *records = option_records(&nr);

	for (size_t i = 0; i < nr; i++) {
		const bool can = records[i].flags & OPTION_RELOADS;
		const int differ = differs(o, now, i);

		if (differ < 0)
			return differ;
		if (differ && !(records[i].flags & OPTION_ON_LINE))
			buf_printf(can ? changed : left, " %s", records[i].name);
	}
	return changed->err ? changed->err : left->err;
}

int options_take(struct options *o, struct options *now)
{
	size_t nr;
	const struct option_record *records = option_records(&nr);
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		if (!(records[i].flags & OPTION_RELOADS))
			continue;
		remove_values(&o->settings, i);
		err = move_values(&now->settings, &o->settings, i);
	}
	o->verbose = now->verbose;
	return err;
}
