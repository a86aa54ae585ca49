/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * paths_print.c - text has addresses, as a disassembly shows them; CSV and JSON have
 *                 image offsets
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/path.h"
#include "tools/ui/out.h"
#include "tools/write/explain.h"
#include "tools/write/report.h"

static uint64_t address_of(const struct paths_report *r, int block)
{
	return r->cfg->block[block].start + r->cfg->bias;
}

static struct line line_of(const struct paths_report *r, int block)
{
	return image_line_at(r->im, r->cfg->block[block].start);
}

/* "0x1139 loop.c:12", and the file only where it is another one than before. */
static void put_place(const struct paths_report *r, int block, const char **file,
		      struct buf *out)
{
	const struct line line = line_of(r, block);

	buf_printf(out, "0x%" PRIx64, address_of(r, block));
	if (!line.file)
		return;
	if (!*file || strcmp(*file, line.file) != 0)
		buf_printf(out, " %s:%d", path_base(line.file), line.line);
	else
		buf_printf(out, " :%d", line.line);
	*file = line.file;
}

static void put_path_cell(struct table *t, const struct paths_report *r,
			  const struct pathcount_path *p)
{
	const char *file = NULL;
	struct buf text = { 0 };

	for (int i = 0; i < p->nr_blocks; i++) {
		put_place(r, p->block[i], &file, &text);
		buf_puts(&text, " > ");
	}
	if (p->end == r->cfg->exit)
		buf_puts(&text, "exit");
	else
		buf_printf(&text, "0x%" PRIx64, address_of(r, p->end));
	table_text(t, buf_str(&text));
	buf_fini(&text);
}

static int print_anchors(const struct paths_report *r, bool color)
{
	static const struct column columns[] = {
		{ "passes", "", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "windows", "", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "unknown", "", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "paths from", "", COLUMN_TEXT, COLUMN_EVERYWHERE },
	};
	struct table *t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	struct buf text = { 0 };
	int err;

	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < r->count.nr_anchors; i++) {
		const struct pathcount_anchor *a = &r->count.anchor[i];
		const char *file = NULL;

		buf_reset(&text);
		buf_puts(&text, a->block ? "loop " : "entry ");
		put_place(r, a->block, &file, &text);
		table_real(t, a->passes, 1);
		table_number(t, a->windows);
		table_percent(t, 100 * (1 - a->known));
		table_text(t, buf_str(&text));
	}
	err = table_print_text(t, color, true);
	table_free(t);
	buf_fini(&text);
	return err;
}

static int print_paths(const struct paths_report *r, bool color)
{
	static const struct column columns[] = {
		{ "passes", "", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "share", "", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "least", "", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "most", "", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "windows", "", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "called from", "", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "path", "", COLUMN_TEXT, COLUMN_EVERYWHERE },
	};
	struct table *t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	int err;

	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr; i++) {
		const struct pathcount_path *p = &r->count.path[i];

		table_real(t, p->passes, 1);
		table_percent(t, 100 * p->share.value);
		table_percent(t, 100 * p->share.low);
		table_percent(t, 100 * p->share.high);
		table_number(t, p->windows);
		table_text(t, r->caller[i]);
		put_path_cell(t, r, p);
	}
	err = table_print_text(t, color, true);
	table_free(t);
	return err;
}

static int print_text(const struct paths_report *r, int with_color)
{
	const bool color = out_use_color(with_color);
	int err;

	report_header(&r->scope->sel, &r->scope->ev);
	out_line("%s in %s: %" PRIu64 " windows passed its entry or a loop head",
		 r->place->name, r->place->image.desc.name, r->count.windows);
	out_line("%s", "");
	err = print_anchors(r, color);
	out_line("%s", "");
	if (!err)
		err = print_paths(r, color);
	if (!err && r->nr < r->count.nr_paths)
		out_line("... %zu more paths: --limit shows them",
			 r->count.nr_paths - r->nr);
	if (!err)
		report_footer(&r->scope->sel);
	return err;
}

/* Offsets of the blocks, or their lines, with blanks between. */
static void put_blocks_cell(struct table *t, const struct paths_report *r,
			    const struct pathcount_path *p, bool lines)
{
	struct buf text = { 0 };

	for (int i = 0; i < p->nr_blocks; i++) {
		const struct line line = line_of(r, p->block[i]);

		buf_puts(&text, i ? " " : "");
		if (!lines)
			buf_printf(&text, "0x%" PRIx64,
				   r->cfg->block[p->block[i]].start);
		else if (line.file)
			buf_printf(&text, "%s:%d", line.file, line.line);
		else
			buf_puts(&text, "-");
	}
	table_text(t, buf_str(&text));
	buf_fini(&text);
}

static int print_csv(const struct paths_report *r)
{
	static const struct column columns[] = {
		{ "", "anchor", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "end", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "", "passes", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "share", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "share_low", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "share_high", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "seen", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "windows", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "caller", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "", "caller_image", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "", "blocks", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "", "lines", COLUMN_TEXT, COLUMN_EVERYWHERE },
	};
	struct table *t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	int err;

	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < r->nr; i++) {
		const struct pathcount_path *p = &r->count.path[i];

		table_hex(t, r->cfg->block[p->block[0]].start);
		if (p->end == r->cfg->exit)
			table_text(t, "exit");
		else
			table_hex(t, r->cfg->block[p->end].start);
		table_exact(t, p->passes);
		table_exact(t, p->share.value);
		table_exact(t, p->share.low);
		table_exact(t, p->share.high);
		table_number(t, p->seen);
		table_number(t, p->windows);
		table_text(t, r->caller[i]);
		table_text(t, r->caller_image[i]);
		put_blocks_cell(t, r, p, false);
		put_blocks_cell(t, r, p, true);
	}
	err = table_print_csv(t, true);
	table_free(t);
	return err;
}

/* The members of a block that is a place in the code. */
static void json_block(struct json *j, const struct paths_report *r, int block)
{
	const struct line line = line_of(r, block);

	json_hex(j, "offset", r->cfg->block[block].start);
	json_hex(j, "address", address_of(r, block));
	json_string(j, "file", line.file);
	if (line.file)
		json_number(j, "line", line.line);
}

static void json_anchors(struct json *j, const struct paths_report *r)
{
	json_array(j, "anchors");
	for (size_t i = 0; i < r->count.nr_anchors; i++) {
		const struct pathcount_anchor *a = &r->count.anchor[i];

		json_object(j, NULL);
		json_string(j, "kind", a->block ? "loop" : "entry");
		json_block(j, r, a->block);
		json_exact(j, "passes", a->passes);
		json_number(j, "seen", a->seen);
		json_number(j, "windows", a->windows);
		json_exact(j, "unknown", 1 - a->known);
		json_end(j);
	}
	json_end(j);
}

static void json_path(struct json *j, const struct paths_report *r, size_t i)
{
	const struct pathcount_path *p = &r->count.path[i];

	json_object(j, NULL);
	json_hex(j, "anchor", r->cfg->block[p->block[0]].start);
	if (p->end == r->cfg->exit)
		json_string(j, "end", "exit");
	else
		json_hex(j, "end", r->cfg->block[p->end].start);
	json_exact(j, "passes", p->passes);
	json_exact(j, "share", p->share.value);
	json_exact(j, "share_low", p->share.low);
	json_exact(j, "share_high", p->share.high);
	json_number(j, "seen", p->seen);
	json_number(j, "windows", p->windows);
	json_string(j, "caller", r->caller[i]);
	json_string(j, "caller_image", r->caller_image[i]);
	json_array(j, "blocks");
	for (int k = 0; k < p->nr_blocks; k++) {
		json_object(j, NULL);
		json_block(j, r, p->block[k]);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static int print_json(const struct paths_report *r)
{
	struct json j = { 0 };

	json_object(&j, NULL);
	report_json_header(&j, &r->scope->sel);
	json_string(&j, "procedure", r->place->name);
	json_string(&j, "image", r->place->image.desc.name);
	json_number(&j, "windows", r->count.windows);
	json_anchors(&j, r);
	json_array(&j, "paths");
	for (size_t i = 0; i < r->nr; i++)
		json_path(&j, r, i);
	json_end(&j);
	report_json_losses(&j, &r->scope->sel);
	json_end(&j);
	return 0;
}

int paths_print(const struct paths_report *r, const struct out_options *out)
{
	switch (out->format) {
	case OUT_JSON:
		return print_json(r);
	case OUT_CSV:
		return print_csv(r);
	default:
		return print_text(r, out->color);
	}
}
