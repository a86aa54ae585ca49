/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cachefile.c - what this program has computed, kept for its next run
 *
 *	header  { magic, build id of this program, key, sum of the content }, content
 */
#include "config.h"

#include "report/cache/cachefile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/times.h"
#include "decode/elfid.h"

#define MAGIC "CPI cache 1\n"

struct cachefile_header {
	char magic[sizeof(MAGIC) - 1];
	uint8_t build_id[32];           /* BUILD_ID_MAX bytes at most; the rest is 0 */
	uint8_t key[CACHEFILE_MAX_KEY]; /* the rest is 0 */
	uint64_t sum;
};

/* ---- this program's build id ---- */

/* The first object is the program. Returns 1 with its build id, else -1. */
static int on_object(struct dl_phdr_info *object, size_t size, void *ctx)
{
	struct cachefile_header *h = ctx;
	uint8_t build_id_size;

	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &object->dlpi_phdr[i];

		if (p->p_type == PT_NOTE &&
		    !elfid_from_notes((const void *)(object->dlpi_addr + p->p_vaddr),
				      p->p_memsz, h->build_id, &build_id_size))
			return 1;
	}
	return -1;
}

/* Returns 0, or -ENOTSUP if this program has no build id. */
static int make_header(const struct cachefile *f, struct cachefile_header *h)
{
	if (f->key_size > sizeof(h->key) || strchr(f->name, '/'))
		return -EINVAL;
	memset(h, 0, sizeof(*h));
	memcpy(h->magic, MAGIC, sizeof(h->magic));
	memcpy(h->key, f->key, f->key_size);
	return dl_iterate_phdr(on_object, h) == 1 ? 0 : -ENOTSUP;
}

/* ---- the folder ---- */

/* Opens a folder to which no other user may write; creates it if it does not exist. */
static int open_own(int dirfd, const char *name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	struct stat st;
	int fd = openat(dirfd, name, flags);

	if (fd < 0 && errno == ENOENT && !mkdirat(dirfd, name, 0700))
		fd = openat(dirfd, name, flags);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & 0022))
		return fd;
	close(fd);
	return -EPERM;
}

/*
 * Opens $HOME if this user owns it. With sudo -E it is another user's, and no file is
 * made there.
 */
static int open_home(void)
{
	const char *home = getenv("HOME");
	struct stat st;
	int fd;

	if (!home || *home != '/')
		return -ENOENT;
	fd = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && st.st_uid == geteuid())
		return fd;
	close(fd);
	return -EPERM;
}

/* Opens this program's folder in the folder of this user's caches; creates both. */
static int open_folder(void)
{
	const char *cache = getenv("XDG_CACHE_HOME");
	int base, caches, folder;

	if (cache && *cache == '/') {
		caches = open_own(AT_FDCWD, cache);
	} else {
		base = open_home();
		if (base < 0)
			return base;
		caches = open_own(base, ".cache");
		close(base);
	}
	if (caches < 0)
		return caches;
	folder = open_own(caches, "cpi");
	close(caches);
	return folder;
}

/* ---- the file ---- */

static uint64_t sum_of(const uint8_t *data, size_t size)
{
	return hash_bytes(0, data, size);
}

/* Checks the file's status, and reads its header. */
static int read_header(int fd, const struct stat *st,
		       const struct cachefile_header *wanted, size_t max_size,
		       struct cachefile_header *found)
{
	int err;

	if (st->st_uid != geteuid() || st->st_mode & 0022)
		return -EPERM;
	if (st->st_size < (off_t)sizeof(*found) ||
	    (size_t)st->st_size - sizeof(*found) > max_size)
		return -CPI_ECORRUPT;
	err = file_pread(fd, found, sizeof(*found), 0);
	if (!err && memcmp(found, wanted, offsetof(struct cachefile_header, sum)))
		err = -ESTALE;
	return err;
}

static int read_content(int fd, size_t size, uint64_t sum, struct buf *out)
{
	const size_t len = out->len;
	char *to = buf_reserve(out, size);
	int err = to || !size ? 0 : out->err;

	if (!err && size)
		err = file_pread(fd, to, size, sizeof(struct cachefile_header));
	if (!err && sum_of((const uint8_t *)to, size) != sum)
		err = -CPI_ECORRUPT;
	if (!err)
		out->len = len + size;
	return err;
}

/* Opens the file and reads its header. Returns a descriptor or an error. */
static int open_file(const struct cachefile *f, struct cachefile_header *found,
		     uint64_t *size)
{
	struct cachefile_header wanted;
	struct stat st;
	int folder, fd, err = make_header(f, &wanted);

	if (err)
		return err;
	folder = open_folder();
	if (folder < 0)
		return folder;
	fd = file_open_regular(folder, f->name, &st);
	close(folder);
	if (fd < 0)
		return fd;
	err = read_header(fd, &st, &wanted, f->max_size, found);
	if (err) {
		close(fd);
		return err;
	}
	*size = (uint64_t)st.st_size - sizeof(*found);
	return fd;
}

int cachefile_open(const struct cachefile *f, uint64_t *size)
{
	struct cachefile_header found;

	return open_file(f, &found, size);
}

int cachefile_read(int fd, uint64_t at, void *out, size_t size)
{
	return file_pread(fd, out, size, (off_t)(sizeof(struct cachefile_header) + at));
}

int cachefile_load(const struct cachefile *f, struct buf *out)
{
	struct cachefile_header found;
	uint64_t size;
	int err, fd = open_file(f, &found, &size);

	if (fd < 0)
		return fd;
	err = read_content(fd, (size_t)size, found.sum, out);
	close(fd);
	return err;
}

int cachefile_save(const struct cachefile *f, const void *data, size_t size)
{
	struct buf file = { 0 };
	struct cachefile_header h;
	sighandler_t old;
	int folder, err = size > f->max_size ? -EFBIG : make_header(f, &h);

	if (err)
		return err;
	h.sum = sum_of(data, size);
	buf_put(&file, &h, sizeof(h));
	buf_put(&file, data, size);
	folder = file.err ? file.err : open_folder();
	if (folder >= 0) {
		old = signal(SIGXFSZ, SIG_IGN); /* a write then fails with EFBIG */
		err = file_replace(folder, f->name, 0600, file.data, file.len);
		signal(SIGXFSZ, old);
		close(folder);
	} else {
		err = folder;
	}
	buf_fini(&file);
	return err;
}

/* ---- the limit ---- */

struct cachefile_old {
	char name[NAME_MAX + 1];
	uint64_t written_ns, bytes;
};

static int by_age(const void *a, const void *b)
{
	const struct cachefile_old *x = a, *y = b;

	return (x->written_ns > y->written_ns) - (x->written_ns < y->written_ns);
}

/* Lists the files whose names begin with prefix. Returns their bytes. */
static uint64_t list_files(DIR *dir, const char *prefix, struct cachefile_old **file,
			   size_t *nr)
{
	uint64_t bytes = 0;
	const struct dirent *e;
	struct stat st;

	while ((e = readdir(dir))) {
		if (strncmp(e->d_name, prefix, strlen(prefix)) != 0 ||
		    fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode) || GROW(*file, *nr))
			continue;
		bytes += (uint64_t)st.st_size;
		(*file)[*nr].bytes = (uint64_t)st.st_size;
		(*file)[*nr].written_ns = (uint64_t)st.st_mtim.tv_sec * NSEC_PER_SEC +
					  (uint64_t)st.st_mtim.tv_nsec;
		strcpy((*file)[(*nr)++].name, e->d_name);
	}
	return bytes;
}

void cachefile_limit(const char *prefix, uint64_t max_bytes)
{
	struct cachefile_old *file = NULL;
	const int folder = open_folder();
	DIR *dir = folder < 0 ? NULL : fdopendir(folder);
	uint64_t bytes;
	size_t nr = 0;

	if (!dir) {
		if (folder >= 0)
			close(folder);
		return;
	}
	bytes = list_files(dir, prefix, &file, &nr);
	if (bytes > max_bytes) {
		qsort(file, nr, sizeof(*file), by_age);
		for (size_t i = 0; i < nr && bytes > max_bytes / 4 * 3; i++) {
			if (!unlinkat(folder, file[i].name, 0))
				bytes -= file[i].bytes;
		}
	}
	free(file);
	closedir(dir);
}
