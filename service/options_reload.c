/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options_reload.c - the current options, and what a new configuration changes
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/log.h"
#include "base/text.h"
#include "service/options_private.h"

/*
 * Appends the values of an option that are in force, separated by commas. Returns the
 * last of these settings, or NULL.
 */
static const struct service_setting *join_values(const struct service_program *p,
						 const struct service_settings *s,
						 size_t option, struct buf *values)
{
	const struct service_setting *last = NULL;

	for (size_t i = 0; i < s->nr; i++) {
		if (s->list[i].option != option || !service_setting_in_force(p, s, i))
			continue;
		if (last)
			buf_putc(values, ',');
		last = &s->list[i];
		text_put_clean(values, last->value);
	}
	return last;
}

/* "FILE:LINE" and the like. */
static void put_origin(const struct service_setting *s, struct buf *from)
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

static int tell_option(const struct service_program *p,
		       const struct service_settings *s, size_t option,
		       service_options_fn fn, void *ctx)
{
	const struct service_option *o = &p->options[option];
	struct buf values = { 0 }, from = { 0 };
	const struct service_setting *last = join_values(p, s, option, &values);
	int err;

	if (!values.len) /* an empty text on the command line */
		last = NULL;
	put_origin(last, &from);
	err = values.err ? values.err : from.err;
	if (!err && (last || o->fallback))
		fn(ctx, o->name, last ? buf_str(&values) : o->fallback, buf_str(&from));
	buf_fini(&values);
	buf_fini(&from);
	return err;
}

int service_options_each(const struct service_program *p,
			 const struct service_settings *s, service_options_fn fn,
			 void *ctx)
{
	int err = 0;

	for (size_t i = 0; i < p->nr && !err; i++) {
		if (!(p->options[i].flags & SERVICE_COMMAND_LINE))
			err = tell_option(p, s, i, fn, ctx);
	}
	return err;
}

static void put_option(void *ctx, const char *name, const char *value, const char *from)
{
	buf_printf(ctx, "option_%s %s\noption_%s_from %s\n", name, value, name, from);
}

int service_options_describe(const struct service_program *p,
			     const struct service_settings *s, struct buf *out)
{
	int err = service_options_each(p, s, put_option, out);

	return err ? err : out->err;
}

/* 1 if their values differ, 0 if not, or -ENOMEM. */
static int differs(const struct service_program *p, const struct service_settings *a,
		   const struct service_settings *b, size_t option)
{
	struct buf in_a = { 0 }, in_b = { 0 };
	int result;

	join_values(p, a, option, &in_a);
	join_values(p, b, option, &in_b);
	result = in_a.err || in_b.err ? -ENOMEM
				      : strcmp(buf_str(&in_a), buf_str(&in_b)) != 0;
	buf_fini(&in_a);
	buf_fini(&in_b);
	return result;
}

static void remove_values(struct service_settings *s, size_t option)
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

/* Moves the option's settings, so their places in the files are also updated. */
static int move_values(struct service_settings *from, struct service_settings *to,
		       size_t option)
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

int service_options_compare(const struct service_program *p,
			    const struct service_settings *s,
			    const struct service_settings *now,
			    struct service_changes *out)
{
	for (size_t i = 0; i < p->nr; i++) {
		const bool can = p->options[i].flags & SERVICE_RELOADS;
		const int differ = differs(p, s, now, i);

		if (differ < 0)
			return differ;
		if (differ && !(p->options[i].flags & SERVICE_COMMAND_LINE))
			buf_printf(can ? &out->changed : &out->left, " %s",
				   p->options[i].name);
	}
	return out->changed.err ? out->changed.err : out->left.err;
}

void service_changes_end(struct service_changes *c, bool taken)
{
	if (taken)
		log_info("config: changed:%s",
			 c->changed.len ? buf_str(&c->changed) : " nothing");
	if (c->left.len)
		log_warn("config: these changes need a restart:%s", buf_str(&c->left));
	buf_fini(&c->changed);
	buf_fini(&c->left);
}

int service_options_take(const struct service_program *p, struct service_settings *s,
			 struct service_settings *now)
{
	int err = 0;

	for (size_t i = 0; i < p->nr && !err; i++) {
		if (!(p->options[i].flags & SERVICE_RELOADS))
			continue;
		remove_values(s, i);
		err = move_values(now, s, i);
	}
	return err;
}
