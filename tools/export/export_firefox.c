/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_firefox.c - the Firefox Profiler's processed format, version 60
 *
 * This is the first version in which all threads share the tables; here each column is
 * a thread. The database does not say when a sample was taken, so times are only
 * numbers in sequence.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/calls/export_tree.h"
#include "tools/export/export.h"
#include "tools/ui/json.h"

#define FORMAT_VERSION   60
#define GECKO_VERSION    31
#define RESOURCE_LIBRARY 1
#define GUID_SIZE        16

enum { OTHER, USER, KERNEL, NR_CATEGORIES };

static const struct {
	const char *name, *color;
} categories[NR_CATEGORIES] = {
	[OTHER] = { "Other", "grey" },
	[USER] = { "User", "yellow" },
	[KERNEL] = { "Kernel", "orange" },
};

/* The frames of one function; each one names it. */
struct function {
	const struct export_tree_frame *first;
	uint32_t file;
};

struct firefox {
	struct json j;
	struct export_samples *w;
	struct export_tree t;
	struct function *function;
	uint32_t nr_functions;
	uint32_t *of; /* per frame: its function */
};

static int compare_functions(const void *a, const void *b)
{
	const struct export_tree_frame *x = *(struct export_tree_frame *const *)a;
	const struct export_tree_frame *y = *(struct export_tree_frame *const *)b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

static int find_functions(struct firefox *x)
{
	const size_t nr = x->t.nr_frames;
	struct export_tree_frame **frame = calloc(nr + 1, sizeof(*frame));

	x->function = calloc(nr + 1, sizeof(*x->function));
	x->of = calloc(nr + 1, sizeof(*x->of));
	if (!frame || !x->function || !x->of) {
		free(frame);
		return -ENOMEM;
	}
	if (nr)
		memcpy(frame, x->t.frame, nr * sizeof(*frame));
	qsort(frame, nr, sizeof(*frame), compare_functions);
	for (size_t i = 0; i < nr; i++) {
		struct function *f;

		if (!i || compare_functions(&frame[i - 1], &frame[i]))
			x->function[x->nr_functions++] =
				(struct function){ frame[i], EXPORT_NONE };
		f = &x->function[x->nr_functions - 1];
		if (f->file == EXPORT_NONE)
			f->file = frame[i]->file;
		x->of[frame[i]->nr] = x->nr_functions - 1;
	}
	free(frame);
	return 0;
}

static const char *string(const struct firefox *x, uint32_t nr)
{
	return strings_at(&x->t.strings, nr);
}

/* Writes a number, or null if it is missing. */
static void put_index(struct json *j, uint32_t nr)
{
	if (nr == EXPORT_NONE)
		json_null(j, NULL);
	else
		json_number(j, NULL, nr);
}

static void put_line(struct json *j, int line)
{
	if (line > 0)
		json_number(j, NULL, (uint64_t)line);
	else
		json_null(j, NULL);
}

/* Writes a column whose value is the same in all rows. */
static void put_same(struct json *j, const char *key, size_t nr, const char *value)
{
	json_array(j, key);
	for (size_t i = 0; i < nr; i++)
		json_verbatim(j, NULL, value);
	json_end(j);
}

static void begin_table(struct json *j, const char *key, size_t nr)
{
	json_object(j, key);
	json_number(j, "length", nr);
}

/* Breakpad's form of a build id: a GUID, whose first fields are little-endian. */
static void put_breakpad_id(struct json *j, const char *build_id)
{
	static const int order[GUID_SIZE] = { 3, 2, 1,  0,  5,  4,  7,  6,
					      8, 9, 10, 11, 12, 13, 14, 15 };
	const size_t size = strlen(build_id) / 2;
	char id[2 * GUID_SIZE + 2] = "";

	for (size_t i = 0; i < GUID_SIZE; i++) {
		const char *byte = &build_id[2 * order[i]];
		const bool known = (size_t)order[i] < size;

		id[2 * i] = known ? (char)toupper(byte[0]) : '0';
		id[2 * i + 1] = known ? (char)toupper(byte[1]) : '0';
	}
	id[sizeof(id) - 2] = '0';
	json_string(j, "breakpadId", id);
}

static void put_libs(struct firefox *x)
{
	struct json *j = &x->j;

	json_array(j, "libs");
	for (size_t i = 0; i < x->t.nr_images; i++) {
		const struct export_tree_image *image = &x->t.image[i];
		const char *path = string(x, image->name);
		const char *name = string(x, image->base_name);
		const char *build_id = string(x, image->build_id);

		json_object(j, NULL);
		json_string(j, "arch", select_newest(&x->w->sel)->arch);
		json_string(j, "name", name);
		json_string(j, "path", path);
		json_string(j, "debugName", name);
		json_string(j, "debugPath", path);
		put_breakpad_id(j, build_id);
		json_string(j, "codeId", *build_id ? build_id : NULL);
		json_end(j);
	}
	json_end(j);
}

static void put_categories(struct json *j)
{
	json_array(j, "categories");
	for (size_t i = 0; i < NR_CATEGORIES; i++) {
		json_object(j, NULL);
		json_string(j, "name", categories[i].name);
		json_string(j, "color", categories[i].color);
		json_array(j, "subcategories");
		json_string(j, NULL, "Other");
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

static void put_meta(struct firefox *x)
{
	const struct query_epoch *newest = select_newest(&x->w->sel);
	struct json *j = &x->j;
	struct buf hosts = { 0 };

	select_hosts(&x->w->sel, &hosts);
	json_object(j, "meta");
	json_number(j, "version", GECKO_VERSION);
	json_number(j, "preprocessedProfileVersion", FORMAT_VERSION);
	json_string(j, "importedFrom", "cpi " PACKAGE_VERSION);
	json_string(j, "product", buf_str(&hosts));
	json_number(j, "startTime", x->w->sel.epochs.epoch[0].from_ns / 1000000);
	json_number(j, "interval", 1);
	json_number(j, "processType", 0);
	json_number(j, "stackwalk", 1);
	json_string(j, "platform", "Linux");
	json_string(j, "oscpu", newest->release);
	json_string(j, "abi", newest->arch);
	json_string(j, "CPUName", newest->cpu);
	json_number(j, "logicalCPUs", newest->nr_cpus);
	json_bool(j, "symbolicated", true);
	json_bool(j, "usesOnlyOneStackType", true);
	json_bool(j, "sourceCodeIsNotOnSearchfox", true);
	json_array(j, "markerSchema");
	json_end(j);
	json_array(j, "initialSelectedThreads");
	json_number(j, NULL, x->w->amount[0]);
	json_end(j);
	put_categories(j);
	json_end(j);
	buf_fini(&hosts);
}

static int category_of(const struct firefox *x, const struct export_tree_frame *f)
{
	if (f->image == EXPORT_NONE)
		return OTHER;
	return image_kind_is_kernel(x->t.image[f->image].kind) ? KERNEL : USER;
}

static void put_frames(struct firefox *x)
{
	const size_t nr = x->t.nr_frames;
	struct export_tree_frame *const *f = x->t.frame;
	struct json *j = &x->j;

	begin_table(j, "frameTable", nr);
	json_array(j, "address");
	for (size_t i = 0; i < nr; i++) {
		if (f[i]->image == EXPORT_NONE)
			json_signed(j, NULL, -1);
		else
			json_number(j, NULL, f[i]->address);
	}
	json_end(j);
	json_array(j, "inlineDepth");
	for (size_t i = 0; i < nr; i++)
		json_number(j, NULL, f[i]->depth);
	json_end(j);
	json_array(j, "category");
	for (size_t i = 0; i < nr; i++)
		json_signed(j, NULL, category_of(x, f[i]));
	json_end(j);
	put_same(j, "subcategory", nr, "0");
	json_array(j, "func");
	for (size_t i = 0; i < nr; i++)
		json_number(j, NULL, x->of[i]);
	json_end(j);
	put_same(j, "nativeSymbol", nr, "null");
	put_same(j, "innerWindowID", nr, "null");
	json_array(j, "line");
	for (size_t i = 0; i < nr; i++)
		put_line(j, f[i]->line);
	json_end(j);
	put_same(j, "column", nr, "null");
	json_end(j);
}

static void put_functions(struct firefox *x)
{
	const struct function *f = x->function;
	const size_t nr = x->nr_functions;
	struct json *j = &x->j;

	begin_table(j, "funcTable", nr);
	json_array(j, "name");
	for (size_t i = 0; i < nr; i++)
		json_number(j, NULL, f[i].first->function);
	json_end(j);
	put_same(j, "isJS", nr, "false");
	put_same(j, "relevantForJS", nr, "false");
	json_array(j, "resource");
	for (size_t i = 0; i < nr; i++) {
		if (f[i].first->image == EXPORT_NONE)
			json_signed(j, NULL, -1);
		else
			json_number(j, NULL, f[i].first->image);
	}
	json_end(j);
	json_array(j, "source");
	for (size_t i = 0; i < nr; i++)
		put_index(j, f[i].file);
	json_end(j);
	json_array(j, "lineNumber");
	for (size_t i = 0; i < nr; i++)
		put_line(j, f[i].first->begin_line);
	json_end(j);
	put_same(j, "columnNumber", nr, "null");
	json_end(j);
}

/* Resources are the libraries; sources have the numbers of strings. */
static void put_resources(struct firefox *x)
{
	const size_t nr = x->t.nr_images, nr_strings = x->t.strings.nr;
	struct json *j = &x->j;

	begin_table(j, "resourceTable", nr);
	json_array(j, "lib");
	for (size_t i = 0; i < nr; i++)
		json_number(j, NULL, i);
	json_end(j);
	json_array(j, "name");
	for (size_t i = 0; i < nr; i++)
		json_number(j, NULL, x->t.image[i].base_name);
	json_end(j);
	put_same(j, "host", nr, "null");
	json_array(j, "type");
	for (size_t i = 0; i < nr; i++)
		json_number(j, NULL, RESOURCE_LIBRARY);
	json_end(j);
	json_end(j);
	begin_table(j, "sources", nr_strings);
	put_same(j, "id", nr_strings, "null");
	json_array(j, "filename");
	for (size_t i = 0; i < nr_strings; i++)
		json_number(j, NULL, i);
	json_end(j);
	json_end(j);
}

static void put_stacks(struct firefox *x)
{
	struct export_tree_node *const *n = x->t.at;
	struct json *j = &x->j;

	begin_table(j, "stackTable", x->t.nr);
	json_array(j, "frame");
	for (size_t i = 0; i < x->t.nr; i++)
		json_number(j, NULL, n[i]->frame);
	json_end(j);
	json_array(j, "prefix");
	for (size_t i = 0; i < x->t.nr; i++)
		put_index(j, n[i]->parent);
	json_end(j);
	json_end(j);
}

static void put_empty_table(struct json *j, const char *key, const char *const *columns)
{
	begin_table(j, key, 0);
	for (; *columns; columns++) {
		json_array(j, *columns);
		json_end(j);
	}
	json_end(j);
}

static void put_shared(struct firefox *x)
{
	static const char *const symbols[] = { "libIndex", "address", "name",
					       "functionSize", NULL };
	struct json *j = &x->j;

	json_object(j, "shared");
	put_stacks(x);
	put_frames(x);
	put_functions(x);
	put_resources(x);
	put_empty_table(j, "nativeSymbols", symbols);
	json_array(j, "stringArray");
	for (size_t i = 0; i < x->t.strings.nr; i++)
		json_string(j, NULL, string(x, (uint32_t)i));
	json_end(j);
	json_end(j);
}

/* Weights are samples, or ms. */
static void put_samples(struct firefox *x, size_t column, bool is_time)
{
	struct export_tree_node *const *n = x->t.at;
	struct json *j = &x->j;
	size_t nr = 0;

	for (size_t i = 0; i < x->t.nr; i++)
		nr += n[i]->value[column] > 0;
	begin_table(j, "samples", nr);
	json_string(j, "weightType", is_time ? "tracing-ms" : "samples");
	json_array(j, "stack");
	for (size_t i = 0; i < x->t.nr; i++) {
		if (n[i]->value[column] > 0)
			json_number(j, NULL, i);
	}
	json_end(j);
	json_array(j, "weight");
	for (size_t i = 0; i < x->t.nr; i++) {
		if (n[i]->value[column] > 0)
			json_exact(j, NULL, n[i]->value[column] / (is_time ? 1e6 : 1));
	}
	json_end(j);
	json_array(j, "time");
	for (size_t i = 0; i < nr; i++)
		json_number(j, NULL, i);
	json_end(j);
	json_end(j);
}

static void put_thread(struct firefox *x, size_t column)
{
	static const char *const markers[] = { "data",    "name",  "startTime",
					       "endTime", "phase", "category",
					       NULL };
	const struct export_column *c = &x->w->column[column];
	struct json *j = &x->j;
	struct buf name = { 0 };

	buf_printf(&name, "%s of %s", export_column_kind(c), c->event);
	json_object(j, NULL);
	json_string(j, "name", buf_str(&name));
	json_string(j, "processName", buf_str(&name));
	json_string(j, "processType", "default");
	json_bool(j, "isMainThread", true);
	json_number(j, "processStartupTime", 0);
	json_null(j, "processShutdownTime");
	json_number(j, "registerTime", 0);
	json_null(j, "unregisterTime");
	json_array(j, "pausedRanges");
	json_end(j);
	buf_reset(&name);
	buf_printf(&name, "%zu", column);
	json_string(j, "pid", buf_str(&name));
	json_number(j, "tid", column);
	put_samples(x, column, c->is_time);
	put_empty_table(j, "markers", markers);
	json_end(j);
	buf_fini(&name);
}

int export_firefox(struct export_samples *w)
{
	struct firefox x = { .w = w };
	int err = export_tree_gather(&x.t, w, true);

	if (!err)
		err = find_functions(&x);
	if (err)
		goto out;
	json_object(&x.j, NULL);
	put_meta(&x);
	put_libs(&x);
	put_shared(&x);
	json_array(&x.j, "threads");
	for (size_t i = 0; i < w->nr_columns; i++)
		put_thread(&x, i);
	json_end(&x.j);
	json_end(&x.j);
out:
	export_tree_fini(&x.t);
	free(x.function);
	free(x.of);
	return err;
}
