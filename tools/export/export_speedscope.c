/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_speedscope.c - speedscope's own format, by its JSON schema
 *
 * Each column is a profile of its own, because speedscope shows one at a time.
 */
#include "config.h"

#include "report/calls/export_tree.h"
#include "tools/export/export.h"
#include "tools/ui/json.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

static void put_frame(struct json *j, const struct export_tree *t,
		      const struct export_tree_frame *f)
{
	json_object(j, NULL);
	json_string(j, "name", strings_at(&t->strings, f->function));
	if (f->file != EXPORT_NONE)
		json_string(j, "file", strings_at(&t->strings, f->file));
	else if (f->image != EXPORT_NONE)
		json_string(j, "file",
			    strings_at(&t->strings, t->image[f->image].name));
	if (f->begin_line)
		json_number(j, "line", (uint64_t)f->begin_line);
	json_end(j);
}

static void put_frames(struct json *j, const struct export_tree *t)
{
	json_object(j, "shared");
	json_array(j, "frames");
	for (size_t i = 0; i < t->nr_frames; i++)
		put_frame(j, t, t->frame[i]);
	json_end(j);
	json_end(j);
}

static void put_stack(struct json *j, const struct export_tree *t, uint32_t at)
{
	if (t->at[at]->parent != EXPORT_NONE)
		put_stack(j, t, t->at[at]->parent);
	json_number(j, NULL, t->at[at]->frame);
}

static void put_samples(struct json *j, const struct export_tree *t, size_t column)
{
	json_array(j, "samples");
	for (size_t i = 0; i < t->nr; i++) {
		if (!(t->at[i]->value[column] > 0))
			continue;
		json_array(j, NULL);
		put_stack(j, t, (uint32_t)i);
		json_end(j);
	}
	json_end(j);
	json_array(j, "weights");
	for (size_t i = 0; i < t->nr; i++) {
		if (t->at[i]->value[column] > 0)
			json_exact(j, NULL, t->at[i]->value[column]);
	}
	json_end(j);
}

static void put_profile(struct json *j, const struct export_samples *w,
			const struct export_tree *t, size_t column)
{
	const struct export_column *c = &w->column[column];
	struct buf name = { 0 };
	double total = 0;

	for (size_t i = 0; i < t->nr; i++)
		total += t->at[i]->value[column];
	buf_printf(&name, "%s of %s", export_column_kind(c), c->event);
	json_object(j, NULL);
	json_string(j, "type", "sampled");
	json_string(j, "name", buf_str(&name));
	json_string(j, "unit", c->is_time ? "nanoseconds" : "none");
	json_number(j, "startValue", 0);
	json_exact(j, "endValue", total);
	put_samples(j, t, column);
	json_end(j);
	buf_fini(&name);
}

int export_speedscope(struct export_samples *w)
{
	struct json j = { 0 };
	struct export_tree t;
	struct buf hosts = { 0 };
	int err = export_tree_gather(&t, w, false);

	if (err)
		goto out;
	select_hosts(&w->sel, &hosts);
	json_object(&j, NULL);
	json_string(&j, "$schema", SCHEMA);
	json_string(&j, "exporter", "cpi " PACKAGE_VERSION);
	json_string(&j, "name", buf_str(&hosts));
	json_number(&j, "activeProfileIndex", w->amount[0]);
	put_frames(&j, &t);
	json_array(&j, "profiles");
	for (size_t i = 0; i < w->nr_columns; i++)
		put_profile(&j, w, &t, i);
	json_end(&j);
	json_end(&j);
out:
	buf_fini(&hosts);
	export_tree_fini(&t);
	return err;
}
