/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libunwind searches a table of 32-bit distances by function. The table is built from
 * the frame descriptions once for each image, and an image whose descriptions lie
 * farther apart than 32 bits is refused. The few signal frames have a list of their
 * own, because the caller must ask for them by address.
 */
#include "config.h"

#include "analysis/unwind/unwindtables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/ehframe.h"
#include "base/err.h"

#define MAX_SIGNALS 4 /* an image has one, if any */

struct unwindtables {
	struct elffile *file;
	struct ehframe frames; /* but for fde, which the entries say */
	struct unwindtables_entry *entry;
	size_t nr;
	struct ehframe_fde signal[MAX_SIGNALS];
	size_t nr_signals;
};

static bool is_near(int64_t distance)
{
	return distance == (int32_t)distance;
}

static int make_entries(struct unwindtables *t)
{
	const struct ehframe *e = &t->frames;

	t->entry = calloc(e->nr, sizeof(*t->entry));
	if (!t->entry)
		return -ENOMEM;
	for (size_t i = 0; i < e->nr; i++) {
		const int64_t function = (int64_t)(e->fde[i].function - e->address),
			      fde = (int64_t)(e->fde[i].address - e->address);

		if (!is_near(function) || !is_near(fde))
			return -CPI_ELIMIT;
		t->entry[t->nr++] =
			(struct unwindtables_entry){ (int32_t)function, (int32_t)fde };
		if (e->fde[i].signals && t->nr_signals < MAX_SIGNALS)
			t->signal[t->nr_signals++] = e->fde[i];
	}
	return 0;
}

int unwindtables_open(struct elffile *f, struct unwindtables **out)
{
	struct unwindtables *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	err = ehframe_read(f, &t->frames);
	if (!err)
		err = t->frames.nr ? make_entries(t) : -ENOENT;
	if (err) {
		unwindtables_close(t);
		return err;
	}
	free(t->frames.fde);
	t->frames.fde = NULL;
	t->file = f;
	*out = t;
	return 0;
}

void unwindtables_close(struct unwindtables *t)
{
	if (!t)
		return;
	ehframe_fini(&t->frames);
	free(t->entry);
	elffile_close(t->file);
	free(t);
}

size_t unwindtables_memory(const struct unwindtables *t)
{
	return sizeof(*t) + t->frames.size + t->nr * sizeof(*t->entry);
}

bool unwindtables_address_of(const struct unwindtables *t, uint64_t offset,
			     uint64_t *address)
{
	return elffile_address_of(t->file, offset, address);
}

uint64_t unwindtables_base(const struct unwindtables *t)
{
	return t->frames.address;
}

const struct unwindtables_entry *unwindtables_entries(const struct unwindtables *t,
						      size_t *nr)
{
	*nr = t->nr;
	return t->entry;
}

bool unwindtables_is_signal(const struct unwindtables *t, uint64_t address)
{
	for (size_t i = 0; i < t->nr_signals; i++) {
		if (address - t->signal[i].function < t->signal[i].size)
			return true;
	}
	return false;
}

bool unwindtables_read(const struct unwindtables *t, uint64_t address, uint64_t *word)
{
	const uint64_t at = address - t->frames.address;
	uint64_t offset;

	if (at < t->frames.size) {
		const uint64_t left = t->frames.size - at;

		*word = 0;
		memcpy(word, t->frames.bytes + at,
		       left < sizeof(*word) ? left : sizeof(*word));
		return true;
	}
	return elffile_offset_of(t->file, address, &offset) &&
	       !elffile_read(t->file, offset, word, sizeof(*word));
}
