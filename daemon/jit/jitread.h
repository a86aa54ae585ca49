/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jitread.h - the files in which a process names the code that it made
 *
 * /tmp/perf-PID.map grows a line at a time, or is written anew; jit-PID.dump grows. A
 * file is believed when it is the process's user's, or root's for everybody to read,
 * and was written since the process began: the number may have been another's before.
 * What is read at once, and altogether, is bounded. A timed child reads it
 * (timed_child.h).
 */
#ifndef CPI_DAEMON_JITREAD_H
#define CPI_DAEMON_JITREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/jit/jitmap.h"
#include "daemon/os/timed_child.h"

#define JITREAD_MAX_TEXT   (64u << 20) /* of a map; what is behind is not read */
#define JITREAD_MAX_DUMP   (16ULL << 30)
#define JITREAD_MAX_TABLES (64u << 10) /* of one code; larger ones are not used */

/* Whose files, and where: to be asked while the process lives. */
struct jit_owner {
	pid_t tgid, inner_tgid; /* here, and in its own PID namespace */
	uid_t uid;
	uint64_t begun_real_ns;
	bool shares_root; /* its files are found when it is gone, too */
};

/* 0, -errno (-ENOENT: it is gone; or as timed_child_ask()), or -CPI_EFORMAT. */
int jit_owner_read(struct timed_child *a, pid_t tgid, struct jit_owner *out);

/* How far a file was read. Starts as { 0 }. */
struct jit_file {
	uint64_t device, inode;
	uint64_t at;      /* everything before it was */
	uint64_t read_ns; /* (monotonic) everything that stood there then was */
	char tail[32];    /* what is before at: a file that was written anew differs */
	size_t nr_tail;
	bool is_full; /* at a limit, or damaged: no more is read */
	/* Of a dump: the .eh_frame of the code that comes next. */
	uint64_t tables_at;
	uint32_t tables_size;
	bool has_tables; /* some code has one */
	bool has_other_clock,
		is_foreign; /* of a dump: its times, its code are no use */
};

/*
 * Reads what is new into *m, which begins anew with the file. *budget is how many bytes
 * may be read, and what is left of it. 0 or -errno: nothing is there, or nobody's to
 * believe. Whoever calls builds *m.
 */
int jitread_text(struct timed_child *a, const struct jit_owner *owner,
		 struct jit_file *f, struct jitmap *m, size_t *budget);

/* The same of the dump at path, as the process sees it. */
int jitread_dump(struct timed_child *a, const struct jit_owner *owner, const char *path,
		 struct jit_file *f, struct jitmap *m, size_t *budget);

/* Bytes of it, and where they go. */
struct jitread_piece {
	uint64_t at;
	uint32_t size;
	uint32_t to; /* offset in the output */
};

/* The most of one reading: pieces, and bytes of all of them. */
#define JITREAD_MAX_PIECES 128
#define JITREAD_MAX_BYTES  (8u << 20)

/*
 * Copies pieces of the dump that was read. How many there were before one that cannot
 * be read, or -errno.
 */
int jitread_pieces(struct timed_child *a, const struct jit_owner *owner,
		   const char *path, const struct jit_file *f,
		   const struct jitread_piece *piece, int nr, void *out);

/* Copies one of them: 0, -errno, or -CPI_E…. */
int jitread_bytes(struct timed_child *a, const struct jit_owner *owner,
		  const char *path, const struct jit_file *f, uint64_t at, size_t size,
		  void *out);

/* Whether a mapped file's name is that of a process's jitdump. */
bool jitread_is_dump(const char *path);

#endif
