/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_pprof.c - a gzipped protocol buffer, tools/export/pprof.proto
 *
 * Messages in a row form one message. So each is packed and written as soon as it is
 * complete: samples are never kept in memory, but what they refer to is. Addresses are
 * those of a disassembly, in a mapping of the whole address space, so that pprof leaves
 * them as they are.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/grow.h"
#include "base/hash.h"
#include "base/text.h"
#include "report/calls/strings.h"
#include "tools/export/export.h"
#include "tools/export/pprof.pb-c.h"
#include "tools/write/report.h"

/* A numbered function, location or mapping. */
struct pprof_known {
	struct hnode node;
	uint64_t key[4];
	uint64_t id;
};

struct pprof {
	const struct export_samples *w;
	gzFile out;
	struct buf packed;
	struct strings strings;
	struct hmap mappings, functions, locations;
	size_t nr_mappings, nr_functions, nr_locations;
	struct arena memory; /* of struct pprof_known */
	uint64_t *location;  /* of one sample */
	size_t nr;
	int64_t value[EXPORT_MAX_COLUMNS];
};

/* Writes a message, the next piece of the profile. */
static int put_message(struct pprof *p, const Pprof__Profile *piece)
{
	const size_t size = pprof__profile__get_packed_size(piece);
	uint8_t *bytes;

	buf_reset(&p->packed);
	bytes = buf_reserve(&p->packed, size);
	if (!bytes || size > UINT32_MAX)
		return -ENOMEM;
	pprof__profile__pack(piece, bytes);
	return gzwrite(p->out, bytes, (unsigned int)size) == (int)size ? 0 : -EIO;
}

/* Returns the number of a text, and writes the text the first time. */
static int put_string(struct pprof *p, const char *text, int64_t *out)
{
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	const size_t before = p->strings.nr;
	struct buf clean = { 0 };
	char *string;
	uint32_t nr;
	int err;

	text_put_clean(&clean, text);
	string = (char *)buf_str(&clean);
	err = clean.err ? clean.err : strings_add(&p->strings, string, &nr);
	if (!err && p->strings.nr > before) {
		piece.n_string_table = 1;
		piece.string_table = &string;
		err = put_message(p, &piece);
	}
	if (!err)
		*out = nr;
	buf_fini(&clean);
	return err;
}

/*
 * Finds the number of a key. Returns 1 for a new key, which gets the next number, *nr +
 * 1; 0 for a known one; or -ENOMEM.
 */
static int find_or_add(struct pprof *p, struct hmap *map, const uint64_t key[4],
		       size_t *nr, uint64_t *id)
{
	const uint64_t hash =
		hash_bytes(0, key, sizeof(((struct pprof_known *)0)->key));
	struct pprof_known *k;

	for (struct hnode *n = hmap_first(map, hash); n; n = hmap_next(n)) {
		k = container_of(n, struct pprof_known, node);
		if (!memcmp(k->key, key, sizeof(k->key))) {
			*id = k->id;
			return 0;
		}
	}
	k = arena_alloc(&p->memory, sizeof(*k));
	if (!k || hmap_insert(map, &k->node, hash))
		return -ENOMEM;
	memcpy(k->key, key, sizeof(k->key));
	*id = k->id = ++*nr;
	return 1;
}

static int put_mapping(struct pprof *p, const struct query_image *image, uint64_t *id)
{
	const uint64_t key[4] = { (uint64_t)image->id };
	Pprof__Mapping mapping = PPROF__MAPPING__INIT, *list = &mapping;
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	char build_id[REPORT_BUILD_ID_SIZE];
	int err = find_or_add(p, &p->mappings, key, &p->nr_mappings, id);

	if (err <= 0)
		return err;
	mapping.id = *id;
	mapping.memory_limit = UINT64_MAX;
	mapping.has_functions = true;
	mapping.has_filenames = true;
	mapping.has_line_numbers = true;
	mapping.has_inline_frames = true;
	piece.n_mapping = 1;
	piece.mapping = &list;
	err = put_string(p, image->desc.name, &mapping.filename);
	if (!err)
		err = put_string(p, report_build_id(&image->desc, build_id),
				 &mapping.build_id);
	return err ? err : put_message(p, &piece);
}

static int put_function(struct pprof *p, const struct export_frame *f, uint64_t *id)
{
	const struct line *line = f->begin.file && !f->inlined ? &f->begin : &f->line;
	Pprof__Function function = PPROF__FUNCTION__INIT, *list = &function;
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	int err = put_string(p, f->function, &function.name);

	function.start_line = f->inlined ? 0 : f->begin.line;
	if (!err)
		err = put_string(p, f->raw ? f->raw : f->function,
				 &function.system_name);
	if (!err && line->file)
		err = put_string(p, line->file, &function.filename);
	if (!err) {
		const uint64_t key[4] = { (uint64_t)function.name,
					  (uint64_t)function.system_name,
					  (uint64_t)function.filename,
					  (uint64_t)function.start_line };

		err = find_or_add(p, &p->functions, key, &p->nr_functions, id);
	}
	if (err <= 0)
		return err;
	function.id = *id;
	piece.n_function = 1;
	piece.function = &list;
	return put_message(p, &piece);
}

/* An instruction: its frames, from the innermost inlined call to the procedure. */
static int put_new_location(struct pprof *p, const struct export_frame *frame,
			    size_t nr, uint64_t mapping, uint64_t id)
{
	Pprof__Location location = PPROF__LOCATION__INIT, *list = &location;
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	Pprof__Line *lines = calloc(nr, sizeof(*lines));
	Pprof__Line **line = calloc(nr, sizeof(*line));
	int err = lines && line ? 0 : -ENOMEM;

	for (size_t i = 0; i < nr && !err; i++) {
		pprof__line__init(&lines[i]);
		lines[i].line = frame[i].line.line;
		line[i] = &lines[i];
		err = put_function(p, &frame[i], &lines[i].function_id);
	}
	location.id = id;
	location.mapping_id = mapping;
	location.address = frame->address;
	location.n_line = nr;
	location.line = line;
	piece.n_location = 1;
	piece.location = &list;
	if (!err)
		err = put_message(p, &piece);
	free(lines);
	free(line);
	return err;
}

/* A frame without an image is identified by its name. */
static int put_location(struct pprof *p, const struct export_frame *frame, size_t nr,
			uint64_t *id)
{
	uint64_t key[4] = { 0, frame->offset };
	int64_t name = 0;
	int err;

	if (frame->image)
		err = put_mapping(p, frame->image, &key[0]);
	else
		err = put_string(p, frame->function, &name);
	if (err)
		return err;
	key[2] = (uint64_t)name;
	err = find_or_add(p, &p->locations, key, &p->nr_locations, id);
	return err <= 0 ? err : put_new_location(p, frame, nr, key[0], *id);
}

static int add_location(struct pprof *p, uint64_t id)
{
	if (GROW(p->location, p->nr))
		return -ENOMEM;
	p->location[p->nr++] = id;
	return 0;
}

static int put_locations(struct pprof *p, const struct export_stack *w)
{
	uint64_t id;
	int err = 0;

	p->nr = 0;
	for (size_t i = 0, nr; i < w->nr_frames && !err; i += nr) {
		for (nr = 1; i + nr < w->nr_frames && w->frame[i + nr - 1].inlined;)
			nr++;
		err = put_location(p, &w->frame[i], nr, &id);
		if (!err)
			err = add_location(p, id);
	}
	return err;
}

static int64_t to_integer(double value)
{
	return value < 9.2e18 ? llround(value) : INT64_MAX;
}

static int put_sample(struct pprof *p, const struct export_stack *w,
		      Pprof__Label *label, Pprof__Label **labels)
{
	Pprof__Sample sample = PPROF__SAMPLE__INIT, *list = &sample;
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	int err = put_locations(p, w);

	for (size_t i = 0; i < w->nr_labels && !err; i++) {
		pprof__label__init(&label[i]);
		labels[i] = &label[i];
		err = put_string(p, w->label[i].key, &label[i].key);
		if (!err)
			err = put_string(p, w->label[i].value, &label[i].str);
	}
	for (size_t i = 0; i < p->w->nr_columns; i++)
		p->value[i] = to_integer(w->value[i]);
	sample.n_location_id = p->nr;
	sample.location_id = p->location;
	sample.n_value = p->w->nr_columns;
	sample.value = p->value;
	sample.n_label = w->nr_labels;
	sample.label = labels;
	piece.n_sample = 1;
	piece.sample = &list;
	return err ? err : put_message(p, &piece);
}

static int put_stack(void *ctx, const struct export_stack *w)
{
	Pprof__Label *label = calloc(w->nr_labels + 1, sizeof(*label));
	Pprof__Label **labels = calloc(w->nr_labels + 1, sizeof(*labels));
	int err = label && labels ? put_sample(ctx, w, label, labels) : -ENOMEM;

	free(label);
	free(labels);
	return err;
}

static int name_column(struct pprof *p, const struct export_column *c,
		       Pprof__ValueType *type)
{
	struct buf name = { 0 };
	int err;

	if (c->is_amount)
		buf_printf(&name, "%s-amount", c->event);
	else
		buf_printf(&name, "%s", c->is_time ? "time" : c->event);
	err = name.err ? name.err : put_string(p, buf_str(&name), &type->type);
	buf_fini(&name);
	return err ? err
		   : put_string(p, c->is_time ? "nanoseconds" : "count", &type->unit);
}

static int put_columns(struct pprof *p)
{
	const size_t nr = p->w->nr_columns;
	Pprof__ValueType type[EXPORT_MAX_COLUMNS], *types[EXPORT_MAX_COLUMNS];
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		pprof__value_type__init(&type[i]);
		types[i] = &type[i];
		err = name_column(p, &p->w->column[i], &type[i]);
	}
	if (err)
		return err;
	piece.n_sample_type = nr;
	piece.sample_type = types;
	piece.default_sample_type = type[p->w->amount[0]].type;
	return put_message(p, &piece);
}

/* An event has a single period only if it has a single stream. */
static int put_period(struct pprof *p)
{
	const struct query_streams *streams = &p->w->sel.streams;
	Pprof__ValueType type = PPROF__VALUE_TYPE__INIT;
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	size_t i = 0;
	int err;

	while (p->w->ev.of[i])
		i++;
	if (p->w->ev.event[0].nr_streams > 1)
		return 0;
	err = put_string(p, p->w->ev.event[0].name, &type.type);
	if (!err)
		err = put_string(p,
				 strcmp(streams->stream[i].desc.unit, "ns") != 0
					 ? streams->stream[i].desc.unit
					 : "nanoseconds",
				 &type.unit);
	piece.period_type = &type;
	piece.period = (int64_t)streams->stream[i].desc.mean_period;
	return err ? err : put_message(p, &piece);
}

static int put_head(struct pprof *p)
{
	const struct query_epochs *e = &p->w->sel.epochs;
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	struct buf about = { 0 }, hosts = { 0 };
	int64_t empty, comment;
	int err = put_string(p, "", &empty);

	if (!err)
		err = put_columns(p);
	if (!err)
		err = put_period(p);
	select_hosts(&p->w->sel, &hosts);
	buf_printf(&about, "cpi " PACKAGE_VERSION ", of %s", buf_str(&hosts));
	if (!err)
		err = put_string(p, buf_str(&about), &comment);
	piece.time_nanos = (int64_t)e->epoch[0].from_ns;
	for (size_t i = 0; i < e->nr; i++)
		piece.duration_nanos +=
			(int64_t)(e->epoch[i].to_ns - e->epoch[i].from_ns);
	piece.n_comment = 1;
	piece.comment = &comment;
	if (!err)
		err = about.err ? about.err : put_message(p, &piece);
	buf_fini(&about);
	buf_fini(&hosts);
	return err;
}

/* pprof takes the first mapping for the program, so the first one has no name. */
static int put_nothing(struct pprof *p)
{
	const struct query_image nothing = { .desc = { .name = "" } };
	uint64_t id;

	return put_mapping(p, &nothing, &id);
}

int export_pprof(struct export_samples *w)
{
	struct pprof p = { .w = w };
	int fd, err;

	fd = fflush(stdout) ? -1 : dup(STDOUT_FILENO);
	if (fd < 0)
		return -errno;
	p.out = gzdopen(fd, "wb");
	if (!p.out) {
		close(fd);
		return -ENOMEM;
	}
	arena_init(&p.memory, 0);
	err = put_head(&p);
	if (!err)
		err = put_nothing(&p);
	if (!err)
		err = w->each(w, put_stack, &p);
	if (gzclose(p.out) != Z_OK && !err)
		err = -EIO;
	buf_fini(&p.packed);
	strings_fini(&p.strings);
	hmap_fini(&p.mappings);
	hmap_fini(&p.functions);
	hmap_fini(&p.locations);
	arena_fini(&p.memory);
	free(p.location);
	return err;
}
