/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files are opened for each reading: a descriptor that is kept would keep a
 * container's file system from being unmounted. They are read, not mapped, for
 * their owner may cut them meanwhile.
 */
#include "config.h"

#include "daemon/jit/jitread.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/times.h"
#include "daemon/jit/jitdump.h"
#include "daemon/os/arch.h"
#include "daemon/os/procroot.h"

#define CHUNK_SIZE        (64u << 10)
#define MAX_RECORDS       8192u /* of one answer */
#define MAX_RECORDS_BYTES (4u << 20)
#define MAX_LINE          4096u
#define RECORD_COST       256 /* bytes of the budget that reading a record takes */
#define CLOCK_SLACK_NS    NSEC_PER_SEC

/*
 * Trusts the owner's files, and root's if all may read them: a hard link may be to a
 * file of root that the user may not read.
 */
static bool is_believed(const struct jit_owner *owner, const struct stat *st)
{
	return st->st_uid == owner->uid || (!st->st_uid && st->st_mode & S_IROTH);
}

/*
 * Opens a file that is_believed() and is not older than the process. Refuses empty
 * files, and thus those of /proc, of which some change when they are read. A
 * descriptor, or -errno. In the worker.
 */
static int open_owned(const struct jit_owner *owner, const char *path, struct stat *st)
{
	int fd = procroot_open(owner->tgid, path, st);

	if (fd < 0 && owner->shares_root)
		fd = procroot_open(0, path, st);
	if (fd < 0)
		return fd;
	if (st->st_size && is_believed(owner, st) &&
	    time_to_ns(&st->st_mtim) + CLOCK_SLACK_NS >= owner->begun_real_ns)
		return fd;
	close(fd);
	return -EACCES;
}

/* Which file the worker has read, and in which state. */
struct file_state {
	uint64_t device, inode;
	uint64_t mtime_ns;
};

static struct file_state state_of(const struct stat *st)
{
	return (struct file_state){ st->st_dev, st->st_ino, time_to_ns(&st->st_mtim) };
}

static bool same_inode(const struct jit_file *f, uint64_t device, uint64_t inode)
{
	return f->inode == inode && f->device == device;
}

/* Begins a new file. Its code is newer than all code before, so the order goes on. */
static void begin(struct jit_file *f, struct jitmap *m, const struct file_state *st)
{
	const uint32_t order = m->order;

	jitmap_fini(m);
	m->order = order;
	*f = (struct jit_file){ .device = st->device, .inode = st->inode };
}

/* ---- the text ---- */

struct text_question {
	struct jit_owner owner;
	struct jit_file file;
};

struct text_answer {
	struct file_state state;
	bool goes_on;    /* what was read is still the beginning of the file */
	uint32_t before; /* bytes that were read before; what follows is new */
};

static bool goes_on(const struct jit_file *f, int fd, const struct stat *st)
{
	char tail[sizeof(f->tail)];

	return same_inode(f, st->st_dev, st->st_ino) &&
	       (uint64_t)st->st_size >= f->at && f->nr_tail <= sizeof(tail) &&
	       !file_pread(fd, tail, f->nr_tail, f->at - f->nr_tail) &&
	       !memcmp(tail, f->tail, f->nr_tail);
}

/* Runs in the worker: reads the new part of the file, and a few bytes before it. */
static int read_text(struct timed_child_job *job)
{
	const struct text_question *q = job->question;
	struct text_answer a = { 0 };
	struct stat st;
	char path[64], *to;
	uint64_t at;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)q->owner.inner_tgid);
	fd = open_owned(&q->owner, path, &st);
	if (fd < 0)
		return fd;
	a.state = state_of(&st);
	a.goes_on = goes_on(&q->file, fd, &st);
	at = a.goes_on ? q->file.at : 0;
	a.before = at < sizeof(q->file.tail) ? at : sizeof(q->file.tail);
	buf_put(&job->answer, &a, sizeof(a));
	to = buf_reserve(&job->answer, a.before + CHUNK_SIZE);
	got = to ? pread(fd, to, a.before + CHUNK_SIZE, at - a.before) : 0;
	if (got > 0)
		job->answer.len += (size_t)got;
	close(fd);
	return got < 0 ? -errno : 0;
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

/* Notes that everything up to at was read; text is the file from some place on. */
static void go_to(struct jit_file *f, const char *text, size_t len, uint64_t at)
{
	f->at = at;
	f->nr_tail = len < sizeof(f->tail) ? len : sizeof(f->tail);
	memcpy(f->tail, text + len - f->nr_tail, f->nr_tail);
}

/* The code of all lines existed when the file was last written. */
static struct jit_code when_written(const struct jit_file *f, uint64_t written_ns)
{
	const uint64_t now_ns = time_mono_ns(), ago_ns = time_real_ns() - written_ns;

	return (struct jit_code){
		.since_ns = f->read_ns,
		.known_ns = ago_ns < now_ns - f->read_ns ? now_ns - ago_ns : now_ns,
	};
}

/* Takes the lines of one answer in. 1 when there may be more, 0, or -errno. */
static int take_lines(struct jit_file *f, struct jitmap *m, const struct text_answer *a,
		      const char *text, size_t len, uint64_t now_ns)
{
	const struct jit_code when = when_written(f, a->state.mtime_ns);
	size_t used = 0;
	int err = 0;

	if (len > a->before)
		err = add_lines(m, text + a->before, len - a->before, &when, &used);
	if (err)
		return err;
	go_to(f, text, a->before + used, f->at + used);
	if (f->at >= JITREAD_MAX_TEXT)
		return -CPI_ELIMIT;
	if (used && len == a->before + CHUNK_SIZE)
		return 1;
	f->read_ns = now_ns;
	return 0;
}

static int take_text(struct jit_file *f, struct jitmap *m, const struct buf *answer,
		     size_t *budget, uint64_t now_ns)
{
	struct text_answer a;
	const size_t len = answer->len - sizeof(a);

	if (answer->len < sizeof(a))
		return -CPI_ECORRUPT;
	memcpy(&a, answer->data, sizeof(a));
	if (a.before > len)
		return -CPI_ETRUNCATED; /* it was cut meanwhile */
	if (!a.goes_on)
		begin(f, m, &a.state);
	*budget -= len < *budget ? len : *budget;
	return f->is_full ? 0
			  : take_lines(f, m, &a, answer->data + sizeof(a), len, now_ns);
}

int jitread_text(struct timed_child *a, const struct jit_owner *owner,
		 struct jit_file *f, struct jitmap *m, size_t *budget)
{
	struct text_question asked = { .owner = *owner };
	const struct timed_child_question q = { .fn = read_text,
						.data = &asked,
						.size = sizeof(asked),
						.tgid = owner->tgid };
	int more = 1;

	while (more > 0 && *budget >= CHUNK_SIZE) {
		const uint64_t now_ns = time_mono_ns();
		struct buf answer = { 0 };

		asked.file = *f;
		more = timed_child_ask(a, &q, &answer);
		if (!more)
			more = take_text(f, m, &answer, budget, now_ns);
		buf_fini(&answer);
	}
	if (more == -CPI_ELIMIT) {
		f->is_full = true;
		more = 0;
	}
	return more < 0 ? more : 0;
}

/* ---- the dump ---- */

struct dump_question {
	struct jit_owner owner;
	uint64_t device, inode, at; /* of what was read before */
	uint32_t max_records;
	char path[PATH_MAX]; /* last: its end is left out */
};

/* Followed by the records, each with its name behind it. */
struct dump_answer {
	struct file_state state;
	int32_t end; /* 0: there is more; -EAGAIN: the end for now; or an error */
	uint32_t nr_records;
	bool has_header;
	struct jitdump_header header;
};

/* Opens the file at the path in a question. Returns a descriptor, or -errno. */
static int open_asked(const struct jit_owner *owner, const char *path, size_t size,
		      struct stat *st)
{
	return memchr(path, '\0', size) ? open_owned(owner, path, st) : -EINVAL;
}

static void put_record(struct buf *out, const struct jitdump_record *r)
{
	buf_put(out, r, sizeof(*r));
	buf_put(out, r->name ? r->name : "", r->name ? strlen(r->name) + 1 : 1);
}

/* Appends records from offset `at` on. Returns what end in struct dump_answer says. */
static int read_records(int fd, uint64_t at, struct dump_answer *a, uint32_t max,
			struct buf *out)
{
	char data[JITDUMP_RECORD_MAX];
	struct jitdump_record r = { 0 };
	ssize_t got;
	int err = 0;

	if (!at) {
		err = file_pread(fd, data, JITDUMP_HEADER_SIZE, 0);
		if (!err)
			err = jitdump_header(data, JITDUMP_HEADER_SIZE, &a->header);
		a->has_header = !err;
		at = a->header.size;
	}
	while (!err && a->nr_records < max && out->len < MAX_RECORDS_BYTES) {
		r = (struct jitdump_record){ 0 };
		got = pread(fd, data, sizeof(data), (off_t)at);
		err = got < 0 ? -errno : jitdump_record(data, (size_t)got, &r);
		if (err)
			break;
		put_record(out, &r);
		a->nr_records++;
		at += r.size;
	}
	return err;
}

/* In the worker. */
static int read_dump(struct timed_child_job *job)
{
	const struct dump_question *q = job->question;
	struct dump_answer a = { 0 };
	struct stat st;
	int fd;

	fd = open_asked(&q->owner, q->path,
			job->size - offsetof(struct dump_question, path), &st);
	if (fd < 0)
		return fd;
	a.state = state_of(&st);
	buf_put(&job->answer, &a, sizeof(a));
	a.end = read_records(fd,
			     st.st_ino == q->inode && st.st_dev == q->device ? q->at
									     : 0,
			     &a, q->max_records, &job->answer);
	close(fd);
	if (!job->answer.err)
		memcpy(job->answer.data, &a, sizeof(a));
	return 0;
}

/*
 * Adds moved code, with the name, bytes and tables of the newest code at the old
 * address.
 */
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

/* Takes the records of an answer in. 0, -EAGAIN at the end, or what is wrong. */
static int take_records(struct jit_file *f, struct jitmap *m,
			const struct dump_answer *a, const struct buf *answer,
			uint64_t now_ns, size_t *budget)
{
	const char *from = answer->data + sizeof(*a), *end = answer->data + answer->len;
	int err = 0;

	if (a->has_header) {
		f->has_other_clock = a->header.has_other_clock;
		f->is_foreign = a->header.machine != arch_native.elf_machine;
		f->at = a->header.size;
	}
	for (uint32_t i = 0; !err && i < a->nr_records; i++) {
		struct jitdump_record r;

		if ((size_t)(end - from) <= sizeof(r))
			return -CPI_ECORRUPT;
		memcpy(&r, from, sizeof(r));
		r.name = from + sizeof(r);
		from = memchr(r.name, '\0', (size_t)(end - r.name));
		if (!from++)
			return -CPI_ECORRUPT;
		if (r.kind != JITDUMP_OTHER)
			err = add_record(f, m, &r, now_ns, budget);
		if (err)
			break;
		*budget -= RECORD_COST < *budget ? RECORD_COST : *budget;
		f->at += r.size;
		if (f->at > JITREAD_MAX_DUMP)
			err = -CPI_ELIMIT;
	}
	return err ? err : a->end;
}

static int take_dump(struct jit_file *f, struct jitmap *m, const struct buf *answer,
		     uint64_t now_ns, size_t *budget)
{
	struct dump_answer a;
	int err;

	if (answer->len < sizeof(a))
		return -CPI_ECORRUPT;
	memcpy(&a, answer->data, sizeof(a));
	if (!same_inode(f, a.state.device, a.state.inode))
		begin(f, m, &a.state);
	if (f->is_full)
		return -EAGAIN;
	err = take_records(f, m, &a, answer, now_ns, budget);
	if (err == -EAGAIN)
		f->read_ns = now_ns;
	return err;
}

int jitread_dump(struct timed_child *a, const struct jit_owner *owner, const char *path,
		 struct jit_file *f, struct jitmap *m, size_t *budget)
{
	struct dump_question asked = { .owner = *owner };
	struct timed_child_question q = { .fn = read_dump,
					  .data = &asked,
					  .tgid = owner->tgid };
	int err = 0;

	snprintf(asked.path, sizeof(asked.path), "%s", path);
	q.size = offsetof(struct dump_question, path) + strlen(asked.path) + 1;
	while (!err && *budget >= RECORD_COST) {
		const uint64_t now_ns = time_mono_ns();
		struct buf answer = { 0 };

		asked.device = f->device;
		asked.inode = f->inode;
		asked.at = f->at;
		asked.max_records = *budget / RECORD_COST < MAX_RECORDS
					    ? (uint32_t)(*budget / RECORD_COST)
					    : MAX_RECORDS;
		err = timed_child_ask(a, &q, &answer);
		if (!err)
			err = take_dump(f, m, &answer, now_ns, budget);
		buf_fini(&answer);
	}
	if (err == -CPI_ELIMIT || err == -CPI_ECORRUPT || err == -CPI_EFORMAT) {
		f->is_full = true;
		err = 0;
	}
	return err == -EAGAIN ? 0 : err;
}

/* ---- pieces of it ---- */

struct pieces_question {
	struct jit_owner owner;
	uint64_t device, inode;
	uint32_t nr, size; /* of all of them */
			   /* nr pieces, and the path */
};

/* In the worker: the bytes of one piece after the other. */
static int read_pieces(struct timed_child_job *job)
{
	const struct pieces_question *q = job->question;
	const struct jitread_piece *piece = (const void *)(q + 1);
	const char *path = (const char *)(piece + q->nr);
	const size_t before = (size_t)(path - (const char *)q);
	struct stat st;
	int fd, err = 0;

	if (job->size <= before)
		return -EINVAL;
	fd = open_asked(&q->owner, path, job->size - before, &st);
	if (fd < 0)
		return fd;
	if (st.st_ino != q->inode || st.st_dev != q->device)
		err = -ESTALE;
	for (uint32_t i = 0; !err && i < q->nr; i++) {
		void *to = buf_reserve(&job->answer, piece[i].size);

		if (!to || file_pread(fd, to, piece[i].size, (off_t)piece[i].at))
			break;
		job->answer.len += piece[i].size;
	}
	close(fd);
	return err;
}

/* The question, or -EFBIG. */
static int ask_pieces(struct buf *to, const struct jit_owner *owner, const char *path,
		      const struct jit_file *f, const struct jitread_piece *piece,
		      int nr, size_t size)
{
	const struct pieces_question head = { *owner, f->device, f->inode, (uint32_t)nr,
					      (uint32_t)size };

	buf_put(to, &head, sizeof(head));
	buf_put(to, piece, (size_t)nr * sizeof(*piece));
	buf_put(to, path, strlen(path) + 1);
	if (to->err)
		return to->err;
	return to->len > TIMED_CHILD_MAX_QUESTION || size > JITREAD_MAX_BYTES ? -EFBIG
									      : 0;
}

int jitread_pieces(struct timed_child *a, const struct jit_owner *owner,
		   const char *path, const struct jit_file *f,
		   const struct jitread_piece *piece, int nr, void *out)
{
	struct buf question = { 0 }, answer = { 0 };
	struct timed_child_question q = { .fn = read_pieces, .tgid = owner->tgid };
	size_t size = 0, at = 0;
	int done = 0, err;

	for (int i = 0; i < nr; i++)
		size += piece[i].size;
	err = ask_pieces(&question, owner, path, f, piece, nr, size);
	q.data = question.data;
	q.size = question.len;
	if (!err)
		err = timed_child_ask(a, &q, &answer);
	for (; !err && done < nr && piece[done].size <= answer.len - at; done++) {
		memcpy((char *)out + piece[done].to, answer.data + at,
		       piece[done].size);
		at += piece[done].size;
	}
	buf_fini(&question);
	buf_fini(&answer);
	return err ? err : done;
}

int jitread_bytes(struct timed_child *a, const struct jit_owner *owner,
		  const char *path, const struct jit_file *f, uint64_t at, size_t size,
		  void *out)
{
	const struct jitread_piece piece = { at, (uint32_t)size, 0 };

	const int nr = jitread_pieces(a, owner, path, f, &piece, 1, out);

	return nr < 0 ? nr : nr == 1 ? 0 : -CPI_ETRUNCATED;
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
