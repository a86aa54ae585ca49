/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libdw (0.188) opens .dwo files itself, whatever path they have, and knows no
 * packages. So they are opened here. The rows of a package's index (DWARF 5, section
 * 7.3.5; version 2 is the GNU format for DWARF 4) are searched linearly, because the
 * index is small.
 */
#include "config.h"

#include "analysis/image/splitfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"

#define MAX_COLUMNS 32

static int adopt(int err, struct splitfile *out)
{
	if (err)
		return err == -ENOMEM ? err : -ENOENT;
	return elfview_open(out->file, &out->view);
}

int splitfile_open(const char *directory, const char *path, size_t max,
		   struct splitfile *out)
{
	struct buf whole = { 0 }, bytes = { 0 };
	struct stat st;
	int fd, err;

	buf_printf(&whole, "%s%s%s", path[0] == '/' || !directory ? "" : directory,
		   path[0] == '/' || !directory ? "" : "/", path);
	fd = whole.err ? whole.err : file_open_regular(AT_FDCWD, buf_str(&whole), &st);
	buf_fini(&whole);
	if (fd < 0)
		return fd == -ENOMEM ? fd : -ENOENT;
	err = st.st_size <= 0 || (uint64_t)st.st_size > max ? -ENOENT : 0;
	if (!err && !buf_reserve(&bytes, (size_t)st.st_size))
		err = -ENOMEM;
	if (!err)
		err = file_pread(fd, bytes.data, (size_t)st.st_size, 0);
	close(fd);
	if (!err)
		err = elffile_open_object_memory(bytes.data, (size_t)st.st_size,
						 &out->file);
	if (err)
		buf_fini(&bytes);
	return adopt(err, out);
}

int splitfile_open_package(const char *path, struct splitfile *out)
{
	int fd = file_open_regular(AT_FDCWD, path, NULL);
	int err;

	if (fd < 0)
		return -ENOENT;
	err = elffile_open_object_fd(fd, &out->file);
	if (err)
		close(fd);
	return adopt(err, out);
}

void splitfile_close(struct splitfile *s)
{
	elfview_close(&s->view);
	elffile_close(s->file);
	s->file = NULL;
}

static void find_sections(const struct splitfile *s, struct split_piece out[SPLIT_NR])
{
	static const char *const names[SPLIT_NR][2] = {
#define SPLIT_NAMES(id, name) [SPLIT_##id] = { name ".dwo", ".z" name ".dwo" },
		SPLIT_SECTIONS(SPLIT_NAMES)
#undef SPLIT_NAMES
	};

	for (int i = 0; i < SPLIT_NR; i++) {
		const Elf_Data *data =
			elfview_section(&s->view, names[i][0], names[i][1]);

		out[i] = (struct split_piece){ data ? data->d_buf : NULL,
					       data ? data->d_size : 0 };
	}
}

static uint32_t number_at(const char *at)
{
	uint32_t n;

	memcpy(&n, at, sizeof(n));
	return n;
}

/* An index's header, and where its parts begin. */
struct index {
	uint32_t version, nr_columns, nr_units, nr_slots;
	const char *ids, *rows, *columns, *offsets, *sizes;
};

static bool read_index(const Elf_Data *data, struct index *x)
{
	const char *at = data->d_buf;
	uint64_t need;

	if (data->d_size < 16)
		return false;
	x->version = number_at(at) & 0xffff;
	x->nr_columns = number_at(at + 4);
	x->nr_units = number_at(at + 8);
	x->nr_slots = number_at(at + 12);
	need = 16 + (uint64_t)x->nr_slots * 12 + x->nr_columns * 4ULL +
	       (uint64_t)x->nr_columns * x->nr_units * 8;
	if (x->nr_columns > MAX_COLUMNS || need > data->d_size)
		return false;
	x->ids = at + 16;
	x->rows = x->ids + x->nr_slots * 8ULL;
	x->columns = x->rows + x->nr_slots * 4ULL;
	x->offsets = x->columns + x->nr_columns * 4ULL;
	x->sizes = x->offsets + (uint64_t)x->nr_units * x->nr_columns * 4;
	return true;
}

/* The row of an id, from 1; 0 for none. */
static uint32_t find_row(const struct index *x, uint64_t id)
{
	for (uint32_t slot = 0; slot < x->nr_slots; slot++) {
		uint64_t other;
		uint32_t row = number_at(x->rows + slot * 4ULL);

		memcpy(&other, x->ids + slot * 8ULL, sizeof(other));
		if (other == id && row && row <= x->nr_units)
			return row;
	}
	return 0;
}

static int section_of(uint32_t version, uint32_t column)
{
	switch (column) {
	case 1:
		return SPLIT_INFO;
	case 3:
		return SPLIT_ABBREV;
	case 4:
		return SPLIT_LINE;
	case 6:
		return SPLIT_OFFSETS;
	case 8:
		return version >= 5 ? SPLIT_RANGES : SPLIT_NR;
	}
	return SPLIT_NR;
}

/* Cuts the unit's part out of each section that the index has a column for. */
static int cut(const struct index *x, uint32_t row, struct split_piece out[SPLIT_NR])
{
	const uint64_t first = (uint64_t)(row - 1) * x->nr_columns;

	for (uint32_t i = 0; i < x->nr_columns; i++) {
		const int section =
			section_of(x->version, number_at(x->columns + i * 4));
		const uint32_t offset = number_at(x->offsets + (first + i) * 4);
		const uint32_t size = number_at(x->sizes + (first + i) * 4);

		if (section == SPLIT_NR || !out[section].data)
			continue;
		if (offset > out[section].size || size > out[section].size - offset)
			return -ENOENT;
		out[section].data += offset;
		out[section].size = size;
	}
	return 0;
}

int splitfile_find(const struct splitfile *s, uint64_t id,
		   struct split_piece out[SPLIT_NR])
{
	const Elf_Data *data =
		elfview_section(&s->view, ".debug_cu_index", ".zdebug_cu_index");
	struct index x;
	uint32_t row;

	if (elf_getident(s->view.elf, NULL)[EI_DATA] !=
	    (__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB))
		return -ENOENT;
	find_sections(s, out);
	if (!data)
		return 0;
	if (!read_index(data, &x))
		return -ENOENT;
	row = find_row(&x, id);
	return row ? cut(&x, row, out) : -ENOENT;
}
