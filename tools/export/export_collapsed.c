/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_collapsed.c - a line for each stack: "comm;outer;inner 12"
 *
 * The number is samples if all samples stand for the same amount. Else it is that
 * amount, time or events, because only that may be added up.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "report/calls/export_tree.h"
#include "tools/export/export.h"

/* ';' separates frames and '\n' separates lines, so names must not have them. */
static void put_name(struct buf *b, const char *name)
{
	const size_t from = b->len;

	text_put_clean(b, *name ? name : "?");
	for (size_t i = from; i < b->len; i++) {
		if (b->data[i] == ';')
			b->data[i] = ':';
	}
}

static void put_stack(struct buf *b, const struct export_tree *t, uint32_t at)
{
	const struct export_tree_node *node = t->at[at];

	if (node->parent != EXPORT_NONE) {
		put_stack(b, t, node->parent);
		buf_putc(b, ';');
	}
	put_name(b, strings_at(&t->strings, t->frame[node->frame]->function));
}

static size_t choose_column(const struct export_samples *w)
{
	const struct selected_event *first = &w->ev.event[0];

	if (!first->mixed && !w->evidence)
		return 0;
	log_warn("samples of %s%s stand for different amounts: the numbers are %s",
		 first->name, w->evidence ? " and " EVENT_TICKS : "",
		 first->is_time ? "ns" : "events");
	return w->amount[0];
}

int export_collapsed(struct export_samples *w)
{
	const size_t column = choose_column(w);
	struct export_tree t;
	struct buf line = { 0 };
	int err = export_tree_gather(&t, w, false);

	for (size_t i = 0; i < t.nr && !err; i++) {
		const double value = round(t.at[i]->value[column]);

		if (value < 1)
			continue;
		buf_reset(&line);
		put_stack(&line, &t, (uint32_t)i);
		printf("%s %.0f\n", buf_str(&line), value);
		err = line.err;
	}
	buf_fini(&line);
	export_tree_fini(&t);
	return err;
}
