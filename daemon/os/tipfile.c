/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tipfile.c - one item after the other, through stdio
 *
 * Files are untrusted: an item larger than CPI_TIP_MAX_ITEM is an error, and a
 * file without an end mark counts as truncated even if all its items are valid.
 */
#include "config.h"

#include "daemon/os/tipfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"

struct tipfile_writer {
	FILE *f;
	unsigned int banks;
	uint64_t nr; /* records */
};

struct tipfile {
	FILE *f;
	struct tipfile_info info;
	uint64_t where, next; /* offsets of the item, and of the one behind it */
	uint64_t nr;
};

/* The item's fixed part, little-endian in the file. */
struct code_head {
	uint64_t address, flags;
};

static int put_bytes(struct tipfile_writer *w, const void *data, size_t size)
{
	if (fwrite(data, 1, size, w->f) == size)
		return 0;
	return errno ? -errno : -EIO;
}

static int put_item(struct tipfile_writer *w, enum cpi_tip_type type, size_t size)
{
	const struct cpi_tip_item item = { htole32(type), htole32(size) };

	return put_bytes(w, &item, sizeof(item));
}

int tipfile_create(const char *path, const struct tipfile_info *info,
		   struct tipfile_writer **out)
{
	const struct cpi_tip_header header = {
		.magic = htole32(CPI_TIP_MAGIC),
		.version = htole32(CPI_TIP_VERSION),
		.interval = htole64(info->interval),
		.banks = htole32(info->banks),
		.name_size = htole32(strlen(info->name)),
	};
	struct tipfile_writer *w;
	int err;

	if (!info->interval || !info->banks || info->banks > CPI_TIP_MAX_BANKS)
		return -EINVAL;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->banks = info->banks;
	w->f = fopen(path, "we");
	err = w->f ? put_bytes(w, &header, sizeof(header)) : -errno;
	if (!err)
		err = put_bytes(w, info->name, strlen(info->name));
	if (err) {
		tipfile_abandon(w);
		return err;
	}
	*out = w;
	return 0;
}

int tipfile_put_sample(struct tipfile_writer *w, const struct cpi_tip_sample *s)
{
	uint64_t words[CPI_TIP_WORDS + CPI_TIP_MAX_BANKS];
	const size_t size = (CPI_TIP_WORDS + w->banks) * sizeof(words[0]);
	int err;

	if (!s->n || s->n > w->banks)
		return -EINVAL;
	cpi_tip_encode(s, w->banks, words);
	err = put_item(w, CPI_TIP_RECORD, size);
	w->nr++;
	return err ? err : put_bytes(w, words, size);
}

int tipfile_put_code(struct tipfile_writer *w, const struct tipfile_code *code)
{
	const size_t len = strnlen(code->text, TIPFILE_TEXT_MAX);
	const struct code_head head = { htole64(code->address),
					htole64(code->begins_function ? CPI_TIP_BEGINS
								      : 0) };
	char text[TIPFILE_TEXT_MAX + 1];
	int err = put_item(w, CPI_TIP_CODE, sizeof(head) + len);

	for (size_t i = 0; i < len; i++)
		text[i] = (unsigned char)code->text[i] < ' ' ? ' ' : code->text[i];
	if (!err)
		err = put_bytes(w, &head, sizeof(head));
	return err ? err : put_bytes(w, text, len);
}

int tipfile_end(struct tipfile_writer *w)
{
	const uint64_t nr = htole64(w->nr);
	int err = put_item(w, CPI_TIP_END, sizeof(nr));

	if (!err)
		err = put_bytes(w, &nr, sizeof(nr));
	if (fclose(w->f) && !err)
		err = -errno;
	free(w);
	return err;
}

void tipfile_abandon(struct tipfile_writer *w)
{
	if (w && w->f)
		fclose(w->f);
	free(w);
}

static int get_bytes(struct tipfile *f, void *data, size_t size)
{
	if (fread(data, 1, size, f->f) != size)
		return ferror(f->f) ? -EIO : -CPI_ETRUNCATED;
	f->next += size;
	return 0;
}

static int read_header(struct tipfile *f)
{
	struct cpi_tip_header h;
	uint32_t name_size;
	int err = get_bytes(f, &h, sizeof(h));

	if (err)
		return err;
	name_size = le32toh(h.name_size);
	f->info.interval = le64toh(h.interval);
	f->info.banks = le32toh(h.banks);
	if (le32toh(h.magic) != CPI_TIP_MAGIC)
		return -CPI_EFORMAT;
	if (le32toh(h.version) != CPI_TIP_VERSION)
		return -CPI_EVERSION;
	if (!f->info.interval || f->info.interval > INT64_MAX || !f->info.banks ||
	    f->info.banks > CPI_TIP_MAX_BANKS || name_size > TIPFILE_NAME_MAX)
		return -CPI_ECORRUPT;
	err = get_bytes(f, f->info.name, name_size);
	return !err && strlen(f->info.name) != name_size ? -CPI_ECORRUPT : err;
}

int tipfile_open_stream(FILE *stream, struct tipfile **out)
{
	struct tipfile *f = calloc(1, sizeof(*f));
	int err;

	if (!f) {
		fclose(stream);
		return -ENOMEM;
	}
	f->f = stream;
	err = read_header(f);
	if (err) {
		tipfile_close(f);
		return err;
	}
	*out = f;
	return 0;
}

int tipfile_open(const char *path, struct tipfile **out)
{
	const int fd = file_open_regular(AT_FDCWD, path, NULL);
	FILE *stream;

	if (fd < 0)
		return fd;
	stream = fdopen(fd, "r");
	if (!stream) {
		close(fd);
		return -ENOMEM;
	}
	return tipfile_open_stream(stream, out);
}

void tipfile_close(struct tipfile *f)
{
	if (f && f->f)
		fclose(f->f);
	free(f);
}

const struct tipfile_info *tipfile_info(const struct tipfile *f)
{
	return &f->info;
}

uint64_t tipfile_where(const struct tipfile *f)
{
	return f->where;
}

static int take_sample(struct tipfile *f, const uint64_t *words, size_t size,
		       struct cpi_tip_sample *out)
{
	if (size != (CPI_TIP_WORDS + f->info.banks) * sizeof(words[0]) ||
	    cpi_tip_decode(words, f->info.banks, out))
		return -CPI_ECORRUPT;
	f->nr++;
	return CPI_TIP_RECORD;
}

static int take_code(const uint64_t *words, size_t size, struct tipfile_code *out)
{
	const size_t len = size - sizeof(struct code_head);

	if (size < sizeof(struct code_head))
		return -CPI_ECORRUPT;
	out->address = le64toh(words[0]);
	out->begins_function = le64toh(words[1]) & CPI_TIP_BEGINS;
	memcpy(out->text, (const char *)words + sizeof(struct code_head), len);
	out->text[len] = '\0';
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)out->text[i] < ' ')
			return -CPI_ECORRUPT;
	}
	return CPI_TIP_CODE;
}

/* Nothing is behind it, and no record is missing. */
static int take_end(struct tipfile *f, const uint64_t *words, size_t size)
{
	if (size != sizeof(words[0]) || le64toh(words[0]) != f->nr || getc(f->f) != EOF)
		return -CPI_ECORRUPT;
	return 0;
}

int tipfile_next(struct tipfile *f, union tipfile_item *out)
{
	uint64_t words[CPI_TIP_MAX_ITEM / sizeof(uint64_t)];
	struct cpi_tip_item item;
	uint32_t size;
	int err;

	f->where = f->next;
	err = get_bytes(f, &item, sizeof(item));
	if (err)
		return err;
	size = le32toh(item.size);
	if (size > sizeof(words))
		return -CPI_ECORRUPT;
	err = get_bytes(f, words, size);
	if (err)
		return err;
	switch (le32toh(item.type)) {
	case CPI_TIP_RECORD:
		return take_sample(f, words, size, &out->sample);
	case CPI_TIP_CODE:
		return take_code(words, size, &out->code);
	case CPI_TIP_END:
		return take_end(f, words, size);
	}
	return -CPI_ECORRUPT;
}
