/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files are opened for each reading: a descriptor that is kept would keep a
 * container's file system from being unmounted. They are read, not mapped, for
 * their owner may cut them meanwhile.
 */
#include "config.h"

#include "daemon/jitread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/times.h"
#include "daemon/arch.h"
#include "daemon/jitdump.h"
#include "daemon/procroot.h"

#define CHUNK_SIZE     (64u << 10)
#define MAX_LINE       4096u
#define RECORD_COST    256 /* bytes of the budget that reading a record takes */
#define CLOCK_SLACK_NS NSEC_PER_SEC

static uint64_t to_ns(const struct timespec *ts)
{
	return (uint64_t)ts->tv_sec * NSEC_PER_SEC + (uint64_t)ts->tv_nsec;
}

/* A root's file may be a link that the process's user made to what it may not read. */
static bool is_believed(const struct jit_owner *owner, const struct stat *st)
{
	return st->st_uid == owner->uid || (!st->st_uid && st->st_mode & S_IROTH);
}

/*
 * A file that this owner answers for. Those of /proc and the like say that they are
 * empty; some change when they are read. A descriptor, or -errno.
 */
static int open_owned(const struct jit_owner *owner, const char *path, struct stat *st)
{
	int fd = procroot_open(owner->tgid, path, PROCROOT_NEVER_WAIT, st);

	if (fd < 0 && fd != -EREMOTE && owner->shares_root)
		fd = procroot_open(0, path, PROCROOT_NEVER_WAIT, st);
	if (fd < 0)
		return fd;
	if (st->st_size && is_believed(owner, st) &&
	    to_ns(&st->st_mtim) + CLOCK_SLACK_NS >= owner->begun_real_ns)
		return fd;
	close(fd);
	return -EACCES;
}

static bool same_inode(const struct jit_file *f, const struct stat *st)
{
	return f->inode == st->st_ino && f->device == st->st_dev;
}

/* Whether what was read is still the beginning of the file. */
static bool goes_on(const struct jit_file *f, int fd, const struct stat *st)
{
	char tail[sizeof(f->tail)];

	return same_inode(f, st) && (uint64_t)st->st_size >= f->at &&
	       !file_pread(fd, tail, f->nr_tail, f->at - f->nr_tail) &&
	       !memcmp(tail, f->tail, f->nr_tail);
}

/* What is told from now on is newer than all that was. */
static void begin(struct jit_file *f, struct jitmap *m, const struct stat *st)
{
	const uint32_t order = m->order;

	jitmap_fini(m);
	m->order = order;
	*f = (struct jit_file){ .device = st->st_dev, .inode = st->st_ino };
}

/* Notes that everything up to at was read. */
static void go_to(struct jit_file *f, int fd, uint64_t at)
{
	f->at = at;
	f->nr_tail = at < sizeof(f->tail) ? at : sizeof(f->tail);
	if (file_pread(fd, f->tail, f->nr_tail, at - f->nr_tail))
		f->nr_tail = 0;
}

static int add_line(struct jitmap *m, const char *line, size_t len,
		    const struct jit_code *when)
{
	struct jit_code code = *when;
	const char *name;
	size_t name_len;
	int err;

	if (jitmap_parse(line, len, &code, &name, &name_len))
		return 0; /* what else a process may write there */
	err = jitmap_add(m, &code, name, name_len);
	return err == -EINVAL ? 0 : err;
}

/*
 * Takes the whole lines of a chunk; *used is their length. A line that is too long is
 * passed over in pieces.
 */
static int add_lines(struct jitmap *m, const char *chunk, size_t len,
		     const struct jit_code *when, size_t *used)
{
	const char *line = chunk, *end = chunk + len, *newline;
	int err = 0;

	while (!err && (newline = memchr(line, '\n', end - line))) {
		err = add_line(m, line, newline - line, when);
		line = newline + 1;
	}
	if (!err && (size_t)(end - line) > MAX_LINE)
		line = end;
	*used = line - chunk;
	return err;
}

/*
 * Reads lines to the end of the file, or of the budget. The code of all of them was
 * there when the last was written.
 */
static int read_lines(struct jit_file *f, int fd, uint64_t written_ns, struct jitmap *m,
		      size_t *budget)
{
	const uint64_t now_ns = time_mono_ns(), ago_ns = time_real_ns() - written_ns;
	const struct jit_code when = {
		.since_ns = f->read_ns,
		.known_ns = ago_ns < now_ns - f->read_ns ? now_ns - ago_ns : now_ns,
	};
	char *chunk = malloc(CHUNK_SIZE);
	uint64_t at = f->at;
	size_t used;
	ssize_t got;
	int err = chunk ? 0 : -ENOMEM;

	while (!err && *budget >= CHUNK_SIZE) {
		got = pread(fd, chunk, CHUNK_SIZE, at);
		if (got < 0) {
			err = -errno;
			break;
		}
		*budget -= got;
		err = add_lines(m, chunk, got, &when, &used);
		if (!err && !used) {
			f->read_ns = now_ns;
			break;
		}
		at += err ? 0 : used;
		if (at >= JITREAD_MAX_TEXT)
			err = -CPI_ELIMIT;
	}
	go_to(f, fd, at);
	free(chunk);
	return err;
}

int jitread_text(const struct jit_owner *owner, struct jit_file *f, struct jitmap *m,
		 size_t *budget)
{
	char path[64];
	struct stat st;
	int fd, err;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)owner->inner_tgid);
	fd = open_owned(owner, path, &st);
	if (fd < 0)
		return fd;
	if (!goes_on(f, fd, &st))
		begin(f, m, &st);
	err = f->is_full ? 0 : read_lines(f, fd, to_ns(&st.st_mtim), m, budget);
	if (err == -CPI_ELIMIT) {
		f->is_full = true;
		err = 0;
	}
	close(fd);
	return err;
}

/* The name, bytes and tables of what moved are those of what was there. */
static int add_move(struct jitmap *m, const struct jitdump_record *r,
		    const struct jit_code *when, size_t *budget)
{
	const struct jit_code *old = jitmap_newest(m, r->old_address);
	struct jit_code code = *when;
	char name[JITMAP_MAX_NAME + 1];

	*budget -= m->nr < *budget ? m->nr : *budget; /* all were looked at */
	if (!old)
		return 0;
	code.bytes_at = old->bytes_at;
	code.tables_at = old->tables_at;
	code.tables_size = old->tables_size;
	snprintf(name, sizeof(name), "%s", jitmap_name(m, old));
	return jitmap_add(m, &code, name, strlen(name));
}

static void note_tables(struct jit_file *f, const struct jitdump_record *r)
{
	f->tables_at = f->at + r->tables_at;
	f->tables_size = f->is_foreign || r->tables_size > JITREAD_MAX_TABLES
				 ? 0
				 : r->tables_size;
	f->has_tables |= f->tables_size != 0;
}

static int add_record(struct jit_file *f, struct jitmap *m,
		      const struct jitdump_record *r, uint64_t now_ns, size_t *budget)
{
	struct jit_code code = { .start = r->address,
				 .end = r->address + r->code_size,
				 .since_ns = r->time_ns,
				 .known_ns = r->time_ns };
	int err;

	if (f->has_other_clock) {
		code.since_ns = f->read_ns;
		code.known_ns = now_ns;
	}
	if (r->kind == JITDUMP_MOVE) {
		err = add_move(m, r, &code, budget);
	} else if (r->kind == JITDUMP_TABLES) {
		note_tables(f, r);
		return 0;
	} else {
		code.tables_at = f->tables_at;
		code.tables_size = f->tables_size;
		f->tables_size = 0;
		code.bytes_at = f->is_foreign ? 0 : f->at + r->code_at;
		err = jitmap_add(m, &code, r->name, strlen(r->name));
	}
	return err == -EINVAL ? 0 : err;
}

static int read_header(struct jit_file *f, int fd)
{
	char data[JITDUMP_HEADER_SIZE];
	struct jitdump_header h;
	int err = file_pread(fd, data, sizeof(data), 0);

	if (!err)
		err = jitdump_header(data, sizeof(data), &h);
	if (!err) {
		f->has_other_clock = h.has_other_clock;
		f->is_foreign = h.machine != arch_native.elf_machine;
		f->at = h.size;
	}
	return err;
}

static int read_records(struct jit_file *f, int fd, struct jitmap *m, size_t *budget)
{
	uint64_t now_ns = time_mono_ns();
	char data[JITDUMP_RECORD_MAX];
	struct jitdump_record r;
	ssize_t got;
	int err = f->at ? 0 : read_header(f, fd);

	while (!err && *budget >= RECORD_COST) {
		got = pread(fd, data, sizeof(data), f->at);
		err = got < 0 ? -errno : jitdump_record(data, got, &r);
		if (err == -EAGAIN) {
			f->read_ns = now_ns;
			return 0;
		}
		if (!err && r.kind != JITDUMP_OTHER)
			err = add_record(f, m, &r, now_ns, budget);
		if (err)
			break;
		*budget -= RECORD_COST < *budget ? RECORD_COST : *budget;
		f->at += r.size;
		if (f->at > JITREAD_MAX_DUMP)
			err = -CPI_ELIMIT;
	}
	return err;
}

int jitread_dump(const struct jit_owner *owner, const char *path, struct jit_file *f,
		 struct jitmap *m, size_t *budget)
{
	struct stat st;
	int fd, err;

	fd = open_owned(owner, path, &st);
	if (fd < 0)
		return fd;
	if (!same_inode(f, &st))
		begin(f, m, &st);
	err = f->is_full ? 0 : read_records(f, fd, m, budget);
	if (err == -CPI_ELIMIT || err == -CPI_ECORRUPT || err == -CPI_EFORMAT) {
		f->is_full = true;
		err = 0;
	}
	close(fd);
	return err;
}

int jitread_open(const struct jit_owner *owner, const char *path,
		 const struct jit_file *f)
{
	struct stat st;
	const int fd = open_owned(owner, path, &st);

	if (fd < 0 || same_inode(f, &st))
		return fd;
	close(fd);
	return -ESTALE;
}

int jitread_bytes(const struct jit_owner *owner, const char *path,
		  const struct jit_file *f, uint64_t at, size_t size, void *out)
{
	const int fd = jitread_open(owner, path, f);
	int err;

	if (fd < 0)
		return fd;
	err = file_pread(fd, out, size, at);
	close(fd);
	return err;
}

bool jitread_is_dump(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t digits;

	if (!name || strncmp(name, "/jit-", 5))
		return false;
	name += 5;
	digits = strspn(name, "0123456789");
	return digits && !strcmp(name + digits, ".dump");
}
