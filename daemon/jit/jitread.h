/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jitread.h - reads the files in which a process names its run-time code
 *
 * /tmp/perf-PID.map grows line by line, or is written again; jit-PID.dump only grows. A
 * file is used only if it belongs to the user of the process, or to root and is
 * readable by everybody, and if it was written after the process began, because another
 * process may have had the PID before. The bytes of one reading, and of all readings,
 * are bounded. A timed child reads the files (timed_child.h).
 */
#ifndef CPI_DAEMON_JITREAD_H
#define CPI_DAEMON_JITREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/jit/jitmap.h"
#include "daemon/os/timed_child.h"

#define JITREAD_MAX_TEXT (64u << 20) /* of a map; the rest is not read */
#define JITREAD_MAX_DUMP (16ULL << 30)
#define JITREAD_MAX_TABLES \
	(64u << 10) /* of one code object; larger tables are not used */

/* The process of the files. Read it while the process lives. */
struct jit_owner {
	pid_t tgid, inner_tgid; /* its PID here, and in its own PID namespace */
	uid_t uid;
	uint64_t begun_real_ns;
	bool shares_root; /* its files can still be found after it has ended */
};

/*
 * Returns 0; -errno (-ENOENT: the process has ended; or an error of timed_child_ask());
 * or -CPI_EFORMAT.
 */
int jit_owner_read(struct timed_child *a, pid_t tgid, struct jit_owner *out);

/* How much of a file has been read. Starts as { 0 }. */
struct jit_file {
	uint64_t device, inode;
	uint64_t at;      /* everything before this offset has been read */
	uint64_t read_ns; /* (monotonic) all that the file had at this time has been
			     read */
	char tail[32];    /* the bytes before at: if they differ, the file was written
			     again */
	size_t nr_tail;
	bool is_full; /* a limit was reached, or the file is damaged: no more is read */
	/* Of a dump: the .eh_frame of the next code. */
	uint64_t tables_at;
	uint32_t tables_size;
	bool has_tables; /* some code has unwind tables */
	bool has_other_clock,
		is_foreign; /* of a dump: its times, or its code, cannot be used */
};

/*
 * Adds the new part of the file to *m, which is cleared if the file was written again.
 * *budget is the number of bytes that may be read; it is reduced by those that were.
 * Returns 0, or -errno if there is no file, or none that may be used. The caller then
 * calls jitmap_build().
 */
int jitread_text(struct timed_child *a, const struct jit_owner *owner,
		 struct jit_file *f, struct jitmap *m, size_t *budget);

/* The same for the dump at path, as the process sees it. */
int jitread_dump(struct timed_child *a, const struct jit_owner *owner, const char *path,
		 struct jit_file *f, struct jitmap *m, size_t *budget);

/* A piece of a dump, and where to copy it. */
struct jitread_piece {
	uint64_t at;
	uint32_t size;
	uint32_t to; /* offset in the output */
};

/* Limits of one reading: the number of pieces, and their bytes together. */
#define JITREAD_MAX_PIECES 128
#define JITREAD_MAX_BYTES  (8u << 20)

/*
 * Copies pieces of a dump. Returns the number of pieces before the first that cannot be
 * read, or -errno.
 */
int jitread_pieces(struct timed_child *a, const struct jit_owner *owner,
		   const char *path, const struct jit_file *f,
		   const struct jitread_piece *piece, int nr, void *out);

/* Copies one piece. Returns 0, -errno, or -CPI_E…. */
int jitread_bytes(struct timed_child *a, const struct jit_owner *owner,
		  const char *path, const struct jit_file *f, uint64_t at, size_t size,
		  void *out);

/* Whether a mapped file's name is that of a process's jitdump. */
bool jitread_is_dump(const char *path);

#endif
