/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_llvm_binary.c - LLVM's sample profile in its extensible binary format
 *
 * Version 103 (llvm/ProfileData/SampleProf.h, SampleProfWriter.cpp): a magic number, a
 * table of sections, the sections. All numbers in sections are LEB128. Names are in a
 * table, and referred to by their numbers. A compiler reads only the functions of its
 * module. It finds them by the table of offsets, which therefore comes first.
 */
#include "config.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/varint.h"
#include "report/calls/strings.h"
#include "tools/export/export.h"

#define MAGIC          0x5350524f46343204ULL /* "SPROF42", 4: extensible binary */
#define FORMAT_VERSION 103

/* In the order of the file; the numbers come from the format. */
enum { SUMMARY, NAMES, OFFSETS, PROFILES, NR_SECTIONS };

static const uint64_t section_type[NR_SECTIONS] = {
	[SUMMARY] = 1, [NAMES] = 2, [OFFSETS] = 4, [PROFILES] = 32
};

struct section_entry {
	uint64_t type, flags, offset, size; /* little-endian */
};

struct binary {
	const struct compiler_profile *f;
	struct strings names;
	struct buf section[NR_SECTIONS];
	struct buf counts; /* uint64_t: the counts of all lines */
	uint64_t max_head;
	int err;
};

static void put_name(struct binary *x, const char *name)
{
	uint32_t nr = 0;
	int err = strings_add(&x->names, name, &nr);

	if (err)
		x->err = err;
	varint_put(&x->section[PROFILES], nr);
}

static void put_key(struct binary *x, const struct feedback_key *at)
{
	varint_put(&x->section[PROFILES], at->line);
	varint_put(&x->section[PROFILES], at->discriminator);
}

static void put_line(struct binary *x, const struct feedback_line *l)
{
	struct buf *b = &x->section[PROFILES];
	size_t nr = 0;

	for (const struct feedback_target *t = l->targets; t; t = t->next)
		nr++;
	put_key(x, &l->at);
	varint_put(b, l->count);
	varint_put(b, nr);
	for (const struct feedback_target *t = l->targets; t; t = t->next) {
		put_name(x, t->name);
		varint_put(b, t->count);
	}
	buf_put(&x->counts, &l->count, sizeof(l->count));
}

static void put_body(struct binary *x, const struct feedback_function *fn)
{
	struct buf *b = &x->section[PROFILES];

	put_name(x, fn->name);
	varint_put(b, fn->total);
	varint_put(b, fn->nr_lines);
	for (size_t i = 0; i < fn->nr_lines; i++)
		put_line(x, fn->line[i]);
	varint_put(b, fn->nr_children);
	for (size_t i = 0; i < fn->nr_children; i++) {
		put_key(x, &fn->child[i]->at);
		put_body(x, fn->child[i]);
	}
}

static void put_profiles(struct binary *x)
{
	struct buf *offsets = &x->section[OFFSETS];
	uint32_t nr = 0;

	varint_put(offsets, x->f->nr_functions);
	for (size_t i = 0; i < x->f->nr_functions; i++) {
		const struct feedback_function *fn = x->f->function[i];
		int err = strings_add(&x->names, fn->name, &nr);

		if (err)
			x->err = err;
		varint_put(offsets, nr);
		varint_put(offsets, x->section[PROFILES].len);
		varint_put(&x->section[PROFILES], fn->head_count);
		put_body(x, fn);
		if (fn->head_count > x->max_head)
			x->max_head = fn->head_count;
	}
}

static void put_names(struct binary *x)
{
	struct buf *b = &x->section[NAMES];

	varint_put(b, x->names.nr);
	for (size_t i = 0; i < x->names.nr; i++) {
		buf_puts(b, strings_at(&x->names, (uint32_t)i));
		buf_putc(b, 0);
	}
}

static int descending(const void *va, const void *vb)
{
	const uint64_t a = *(const uint64_t *)va, b = *(const uint64_t *)vb;

	return (a < b) - (a > b);
}

/* How many of the largest counts make up each share of the total, in millionths. */
static void put_cutoffs(struct binary *x, const uint64_t *count, size_t nr,
			uint64_t total)
{
	static const uint32_t cutoff[] = { 10000,  100000, 200000, 300000,
					   400000, 500000, 600000, 700000,
					   800000, 900000, 950000, 990000,
					   999000, 999900, 999990, 999999 };
	const size_t nr_cutoffs = sizeof(cutoff) / sizeof(cutoff[0]);
	struct buf *b = &x->section[SUMMARY];
	uint64_t sum = 0;
	size_t i = 0;

	varint_put(b, nr_cutoffs);
	for (size_t k = 0; k < nr_cutoffs; k++) {
		const uint64_t wanted =
			(uint64_t)((unsigned __int128)total * cutoff[k] / 1000000);

		for (; i < nr && (sum < wanted || (i && count[i] == count[i - 1])); i++)
			sum += count[i];
		varint_put(b, cutoff[k]);
		varint_put(b, i ? count[i - 1] : 0);
		varint_put(b, i);
	}
}

static void put_summary(struct binary *x)
{
	const size_t nr = x->counts.len / sizeof(uint64_t);
	uint64_t *count = (uint64_t *)x->counts.data, total = 0;
	struct buf *b = &x->section[SUMMARY];

	if (nr)
		qsort(count, nr, sizeof(*count), descending);
	for (size_t i = 0; i < nr; i++)
		total += count[i];
	varint_put(b, total);
	varint_put(b, nr ? count[0] : 0);
	varint_put(b, x->max_head);
	varint_put(b, nr);
	varint_put(b, x->f->nr_functions);
	put_cutoffs(x, count, nr, total);
}

static int write_file(const struct binary *x)
{
	struct section_entry entry[NR_SECTIONS];
	const uint64_t nr = htole64(NR_SECTIONS);
	struct buf head = { 0 };
	uint64_t at;
	int err;

	varint_put(&head, MAGIC);
	varint_put(&head, FORMAT_VERSION);
	at = head.len + sizeof(nr) + sizeof(entry);
	for (int i = 0; i < NR_SECTIONS; i++) {
		entry[i] = (struct section_entry){ htole64(section_type[i]), 0,
						   htole64(at),
						   htole64(x->section[i].len) };
		at += x->section[i].len;
	}
	buf_put(&head, &nr, sizeof(nr));
	buf_put(&head, entry, sizeof(entry));
	err = head.err;
	if (!err)
		fwrite(head.data, 1, head.len, stdout);
	for (int i = 0; i < NR_SECTIONS && !err; i++)
		fwrite(x->section[i].data, 1, x->section[i].len, stdout);
	buf_fini(&head);
	return err;
}

int export_llvm_binary(const struct compiler_profile *f)
{
	struct binary x = { .f = f };
	int err;

	put_profiles(&x);
	put_names(&x);
	put_summary(&x);
	err = x.err ? x.err : x.counts.err;
	for (int i = 0; i < NR_SECTIONS && !err; i++)
		err = x.section[i].err;
	if (!err)
		err = write_file(&x);
	for (int i = 0; i < NR_SECTIONS; i++)
		buf_fini(&x.section[i]);
	buf_fini(&x.counts);
	strings_fini(&x.names);
	return err;
}
