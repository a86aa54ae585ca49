/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Servers are asked only through the caller's function (struct image_search). libdwfl
 * could do the same search, but it maps files (a file that shrinks would cause SIGBUS),
 * follows every link, and unpacks without a limit.
 */
#include "config.h"

#include "analysis/image/debugfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"

#define MAX_UNPACKED (256u << 20)
#define MAX_XZ_STATE (128u << 20)
#define MAX_CHECKED  (4ULL << 30) /* bytes of a file whose checksum is computed */

/* What a debug file must have to be believed. */
struct proof {
	uint8_t id[BUILD_ID_MAX];
	size_t id_size; /* 0: the checksum counts */
	uint32_t crc;
	const struct elffile *except;      /* it does not count; or NULL */
	const struct image_search *search; /* is told of each path; or NULL */
};

static int checksum(const struct elffile *f, uint32_t *crc)
{
	const size_t size = 1u << 16;
	uint8_t *bytes = malloc(size);
	uint32_t sum = 0;
	int err = f->size > MAX_CHECKED ? -EFBIG : 0;

	if (!bytes)
		return -ENOMEM;
	for (uint64_t at = 0; at < f->size && !err; at += size) {
		size_t n = f->size - at < size ? f->size - at : size;

		err = elffile_read(f, at, bytes, n);
		sum = lzma_crc32(bytes, n, sum);
	}
	free(bytes);
	if (!err)
		*crc = sum;
	return err;
}

static bool is_same_file(const struct elffile *a, const struct elffile *b)
{
	struct stat x, y;

	return fstat(a->fd, &x) == 0 && fstat(b->fd, &y) == 0 && file_same(&x, &y);
}

static bool is_proven(const struct elffile *f, const struct proof *want)
{
	uint8_t id[BUILD_ID_MAX];
	uint32_t crc;

	if (want->except && is_same_file(want->except, f))
		return false;

	if (want->id_size)
		return elffile_build_id(f, id) == want->id_size &&
		       memcmp(id, want->id, want->id_size) == 0;
	return checksum(f, &crc) == 0 && crc == want->crc;
}

/* fd is the file's from now on, or closed. */
static int adopt(int fd, const struct proof *want, struct elffile **out)
{
	struct elffile *f;
	int err = elffile_open_object_fd(fd, &f); /* dwz's are ET_REL */

	if (err) {
		close(fd);
		return err == -ENOMEM ? err : -ENOENT;
	}
	if (!is_proven(f, want)) {
		elffile_close(f);
		return -ENOENT;
	}
	*out = f;
	return 0;
}

/*
 * Opens a candidate. Symlinks are followed only below root, where distributions make
 * them and only the superuser can write.
 */
static int open_candidate(const char *path, bool follow, const struct proof *want,
			  struct elffile **out)
{
	char *real;
	int fd;

	if (want->search && want->search->look)
		want->search->look(want->search->looked, path, follow);
	real = follow ? realpath(path, NULL) : NULL;
	fd = file_open_regular(AT_FDCWD, real ? real : path, NULL);
	free(real);
	return fd < 0 ? -ENOENT : adopt(fd, want, out);
}

static int find_by_build_id(const char *root, const struct proof *want,
			    struct elffile **out)
{
	struct buf path = { 0 };
	int err;

	if (want->id_size < 2)
		return -ENOENT;
	buf_printf(&path, "%s/.build-id/%02x/", root, want->id[0]);
	for (size_t i = 1; i < want->id_size; i++)
		buf_printf(&path, "%02x", want->id[i]);
	buf_puts(&path, ".debug");
	err = path.err ? path.err : open_candidate(buf_str(&path), true, want, out);
	buf_fini(&path);
	return err;
}

/* A string at the start of a section, and what follows its padding. */
static const char *link_of(struct elffile *f, const char *section, const uint8_t **rest,
			   size_t *rest_size, size_t align)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elffile_section(f, section, &shdr);
	Elf_Data *data = scn ? elffile_data(f, scn) : NULL;
	const char *name;
	size_t len;

	if (!data)
		return NULL;
	name = data->d_buf;
	len = strnlen(name, data->d_size);
	if (!len || len >= PATH_MAX || len == data->d_size)
		return NULL;
	len = (len + 1 + align - 1) / align * align;
	if (len > data->d_size)
		return NULL;
	*rest = (const uint8_t *)name + len;
	*rest_size = data->d_size - len;
	return name;
}

static uint32_t number_of(const struct elffile *f, const uint8_t *p)
{
	const char *ident = elf_getident(f->elf, NULL);

	if (ident[EI_DATA] == ELFDATA2MSB)
		return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
	return (uint32_t)p[3] << 24 | p[2] << 16 | p[1] << 8 | p[0];
}

static int find_by_link(const char *path, const char *root, const char *name,
			const struct proof *want, struct elffile **out)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	const int len = slash ? (int)(slash - path) : 1;
	const char *directory = slash ? path : ".";
	struct buf at[3] = { 0 };
	int err = -ENOENT;

	if (!path || strchr(name, '/'))
		return -ENOENT;
	buf_printf(&at[0], "%.*s/%s", len, directory, name);
	buf_printf(&at[1], "%.*s/.debug/%s", len, directory, name);
	buf_printf(&at[2], "%s%.*s/%s", root, len, directory, name);
	for (int i = 0; i < 3; i++) {
		const bool below_root = i == 2;

		if (err == -ENOENT && (!below_root || path[0] == '/'))
			err = at[i].err ? at[i].err
					: open_candidate(buf_str(&at[i]), below_root,
							 want, out);
		buf_fini(&at[i]);
	}
	return err;
}

/* debugfile_find(), which tells search of each path. */
static int find_below_root(struct elffile *f, const char *path, const char *root,
			   const struct image_search *search, struct elffile **out)
{
	struct proof want = { .except = f, .search = search };
	const uint8_t *rest;
	const char *name;
	size_t size;
	int err;

	want.id_size = elffile_build_id(f, want.id);
	err = find_by_build_id(root, &want, out);
	if (err != -ENOENT)
		return err;
	name = link_of(f, ".gnu_debuglink", &rest, &size, 4);
	if (!name || size < 4)
		return -ENOENT;
	want.crc = number_of(f, rest);
	return find_by_link(path, root, name, &want, out);
}

int debugfile_find(struct elffile *f, const char *path, const char *root,
		   struct elffile **out)
{
	return find_below_root(f, path, root, NULL, out);
}

static const char *read_altlink(struct elffile *f, struct proof *want)
{
	const uint8_t *rest;
	const char *name = link_of(f, ".gnu_debugaltlink", &rest, &want->id_size, 1);

	if (!name || !want->id_size || want->id_size > BUILD_ID_MAX)
		return NULL;
	memcpy(want->id, rest, want->id_size);
	return name;
}

/* From the directory that f is in, wherever it was found. */
static int find_beside(struct elffile *f, const char *name, const struct proof *want,
		       struct elffile **out)
{
	struct buf at = { 0 };
	char *own = elffile_path(f);
	int err;

	if (!own)
		return -ENOENT;
	buf_printf(&at, "%.*s/%s", (int)(strrchr(own, '/') - own), own, name);
	err = at.err ? at.err : open_candidate(buf_str(&at), false, want, out);
	buf_fini(&at);
	free(own);
	return err;
}

static int find_below(const char *root, const char *name, const struct proof *want,
		      struct elffile **out)
{
	const size_t len = strlen(DEBUGFILE_ROOT);
	struct buf at = { 0 };
	int err;

	if (strncmp(name, DEBUGFILE_ROOT, len) != 0 || name[len] != '/')
		return -ENOENT;
	buf_printf(&at, "%s%s", root, name + len);
	err = at.err ? at.err : open_candidate(buf_str(&at), true, want, out);
	buf_fini(&at);
	return err;
}

/*
 * Finds the file to which dwz moved common parts (.gnu_debugaltlink): by build id; by
 * its name, in which /usr/lib/debug is replaced by root; beside f; and beside path.
 */
static int find_alternate(struct elffile *f, const char *path, const char *root,
			  struct elffile **out)
{
	struct proof want = { 0 };
	const char *name = read_altlink(f, &want), *last;
	int err;

	if (!name)
		return -ENOENT;
	last = strrchr(name, '/');
	err = find_by_build_id(root, &want, out);
	if (err == -ENOENT)
		err = find_below(root, name, &want, out);
	if (err == -ENOENT && name[0] != '/')
		err = find_beside(f, name, &want, out);
	if (err == -ENOENT)
		err = find_by_link(path, root, last ? last + 1 : name, &want, out);
	return err;
}

static int fetch(const struct image_search *search, const struct proof *want,
		 struct elffile **out)
{
	int fd;

	if (!search || !search->fetch || !want->id_size)
		return -ENOENT;
	fd = search->fetch(search->ctx, want->id, want->id_size);
	return fd < 0 ? -ENOENT : adopt(fd, want, out);
}

int debugfile_search(struct elffile *f, const char *path,
		     const struct image_search *search, struct elffile **out)
{
	struct proof want = { 0 };
	int err = -ENOENT;

	if (search && search->directory)
		err = find_below_root(f, path, search->directory, search, out);
	if (err == -ENOENT)
		err = find_below_root(f, path, DEBUGFILE_ROOT, search, out);
	want.id_size = elffile_build_id(f, want.id);
	return err == -ENOENT ? fetch(search, &want, out) : err;
}

int debugfile_search_id(const uint8_t *id, size_t id_size,
			const struct image_search *search, struct elffile **out)
{
	struct proof want = { .id_size = id_size, .search = search };
	int err = -ENOENT;

	if (!id_size || id_size > sizeof(want.id))
		return -ENOENT;
	memcpy(want.id, id, id_size);
	if (search && search->directory)
		err = find_by_build_id(search->directory, &want, out);
	if (err == -ENOENT)
		err = find_by_build_id(DEBUGFILE_ROOT, &want, out);
	return err == -ENOENT ? fetch(search, &want, out) : err;
}

int debugfile_search_alternate(struct elffile *f, const char *path,
			       const struct image_search *search, struct elffile **out)
{
	struct proof want = { 0 };
	int err = -ENOENT;

	if (!read_altlink(f, &want))
		return -ENOENT;
	if (search && search->directory)
		err = find_alternate(f, path, search->directory, out);
	if (err == -ENOENT)
		err = find_alternate(f, path, DEBUGFILE_ROOT, out);
	return err == -ENOENT ? fetch(search, &want, out) : err;
}

static int unpack(const Elf_Data *packed, struct buf *out)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret ret;
	int err = 0;

	if (lzma_stream_decoder(&stream, MAX_XZ_STATE, 0) != LZMA_OK)
		return -ENOMEM;
	stream.next_in = packed->d_buf;
	stream.avail_in = packed->d_size;
	do {
		const size_t step = 1u << 16;
		uint8_t *to = buf_reserve(out, step);

		if (!to || out->len > MAX_UNPACKED) {
			err = to ? -CPI_ELIMIT : -ENOMEM;
			break;
		}
		stream.next_out = to;
		stream.avail_out = step;
		ret = lzma_code(&stream, LZMA_FINISH);
		out->len += step - stream.avail_out;
	} while (ret == LZMA_OK);
	if (!err && ret != LZMA_STREAM_END)
		err = -CPI_ECORRUPT;
	lzma_end(&stream);
	return err;
}

int debugfile_unpack(struct elffile *f, struct elffile **out)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = elffile_section(f, ".gnu_debugdata", &shdr);
	Elf_Data *packed = scn ? elffile_data(f, scn) : NULL;
	struct buf bytes = { 0 };
	int err;

	if (!packed)
		return -ENOENT;
	err = unpack(packed, &bytes);
	if (!err)
		err = elffile_open_memory(bytes.data, bytes.len, out);
	if (!err)
		return 0;
	buf_fini(&bytes);
	return err == -ENOMEM ? err : -ENOENT;
}
