/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * schedulefile.c - a file of schedules, for the same build of the same program
 *
 * 	header  { magic, build id of this program, CPU model }, sum of the rest, rest
 *
 * The rest is isa_kept.h's. A program with another build id may hash or simulate in
 * another way, so it begins anew. The sum finds damage; isa_kept_get() is safe from
 * forged content, which only the user could have written.
 */
#include "config.h"

#include "report/explain/schedulefile.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/isa/isa_kept.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"

#define MAGIC       "CPI schedules 1\n"
#define BUILD_ID    32 /* bytes at most; the rest is 0 */
#define MAX_CPU     32
#define NAME_PREFIX "schedules-"

struct header {
	char magic[sizeof(MAGIC) - 1];
	uint8_t build_id[BUILD_ID];
	char cpu[MAX_CPU];
	uint64_t sum;
};

/* ---- this program's build id ---- */

/* Finds it in a segment of notes. */
static bool find_note(const uint8_t *at, size_t size, struct header *h)
{
	ElfW(Nhdr) note;

	while (size >= sizeof(note)) {
		size_t name, desc;

		memcpy(&note, at, sizeof(note));
		name = (note.n_namesz + 3u) & ~(size_t)3;
		desc = (note.n_descsz + 3u) & ~(size_t)3;
		if (name > size - sizeof(note) || desc > size - sizeof(note) - name)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(at + sizeof(note), "GNU", 4) && note.n_descsz &&
		    note.n_descsz <= BUILD_ID) {
			memcpy(h->build_id, at + sizeof(note) + name, note.n_descsz);
			return true;
		}
		at += sizeof(note) + name + desc;
		size -= sizeof(note) + name + desc;
	}
	return false;
}

/* The first object is the program. Returns 1 with its build id, else -1. */
static int on_object(struct dl_phdr_info *object, size_t size, void *ctx)
{
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &object->dlpi_phdr[i];

		if (p->p_type == PT_NOTE &&
		    find_note((const uint8_t *)(object->dlpi_addr + p->p_vaddr),
			      p->p_memsz, ctx))
			return 1;
	}
	return -1;
}

/* False if this program has no build id. */
static bool make_header(const struct isa *isa, struct header *h)
{
	memset(h, 0, sizeof(*h));
	memcpy(h->magic, MAGIC, sizeof(h->magic));
	snprintf(h->cpu, sizeof(h->cpu), "%s", isa_cpu(isa));
	return dl_iterate_phdr(on_object, h) == 1;
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

/* Opens this user's own home: with another's $HOME, as sudo -E has, nothing is made
 * there. */
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

/* The folder of this user's caches; its own folder in there is made. */
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

/* A folder, a file name in it, and the header of the file. */
struct schedule_file {
	int folder;
	char name[sizeof(NAME_PREFIX) + MAX_CPU];
	struct header header;
};

static int find_place(const struct isa *isa, struct schedule_file *p)
{
	if (!make_header(isa, &p->header))
		return -ENOTSUP;
	if (strchr(p->header.cpu, '/'))
		return -EINVAL;
	snprintf(p->name, sizeof(p->name), "%s%s", NAME_PREFIX, p->header.cpu);
	p->folder = open_folder();
	return p->folder < 0 ? p->folder : 0;
}

/* ---- the file ---- */

static uint64_t sum_of(const uint8_t *data, size_t size)
{
	return hash_bytes(0, data, size);
}

static int read_file(int folder, const char *name, struct buf *out)
{
	struct stat st;
	const int fd = file_open_regular(folder, name, &st);
	int err = 0;

	if (fd < 0)
		return fd;
	if (st.st_uid != geteuid() || st.st_mode & 0022)
		err = -EPERM;
	else if (st.st_size < (off_t)sizeof(struct header) ||
		 st.st_size > (off_t)(sizeof(struct header) + ISA_KEPT_MAX))
		err = -CPI_ECORRUPT;
	else if (!buf_reserve(out, (size_t)st.st_size))
		err = out->err;
	else
		err = file_pread(fd, out->data, (size_t)st.st_size, 0);
	if (!err)
		out->len = (size_t)st.st_size;
	close(fd);
	return err;
}

/* Takes the file's schedules, if it is whole and of this program. */
static int take_file(struct isa *isa, const struct schedule_file *p)
{
	struct buf file = { 0 };
	struct header found;
	const uint8_t *rest;
	size_t size;
	int err = read_file(p->folder, p->name, &file);

	if (!err) {
		memcpy(&found, file.data, sizeof(found));
		rest = (const uint8_t *)file.data + sizeof(found);
		size = file.len - sizeof(found);
		if (memcmp(&found, &p->header, offsetof(struct header, sum)))
			err = -ESTALE;
		else if (found.sum != sum_of(rest, size))
			err = -CPI_ECORRUPT;
		else
			err = isa_kept_get(isa, rest, size);
	}
	buf_fini(&file);
	return err;
}

int schedulefile_load(struct isa *isa)
{
	struct schedule_file p;
	uint64_t seed;
	int err = find_place(isa, &p);

	if (!err) {
		err = take_file(isa, &p);
		close(p.folder);
	}
	if (!err || err == -ENOMEM)
		return err;
	log_debug("schedules of %s are not kept so far: %s", isa_cpu(isa),
		  err_str(err));
	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == (ssize_t)sizeof(seed))
		isa_kept_seed(isa, seed);
	return 0;
}

static int write_file(const struct isa *isa, struct schedule_file *p)
{
	struct buf file = { 0 };
	const size_t start = sizeof(p->header);
	int err;

	buf_put(&file, &p->header, sizeof(p->header));
	err = isa_kept_put(isa, &file);
	if (!err) {
		p->header.sum =
			sum_of((const uint8_t *)file.data + start, file.len - start);
		memcpy(file.data, &p->header, sizeof(p->header));
		err = file_replace(p->folder, p->name, 0600, file.data, file.len);
	}
	buf_fini(&file);
	return err;
}

void schedulefile_save(const struct isa *isa)
{
	struct schedule_file p;
	int err;

	if (!isa || !isa_kept_grew(isa))
		return;
	err = find_place(isa, &p);
	if (!err) {
		err = write_file(isa, &p);
		close(p.folder);
	}
	if (err)
		log_debug("schedules of %s cannot be kept: %s", isa_cpu(isa),
			  err_str(err));
}
