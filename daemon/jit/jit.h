/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit.h - samples in code that processes made at run time
 *
 * Such code has no file. Where its process tells of it (jitread.h), a sample's image
 * is "[jit:COMM]", and its offset counts from one that the code object has for good:
 * a hash of its name, size and, where they are known, bytes. So samples of one
 * function add up wherever it lay, in every process of the command, and a report
 * needs no process.
 *
 * A sample that no map explains yet waits, because some maps are written late, or at
 * exit. At the next flush it is looked up once more; then it gets its image or none.
 *
 * I1  What a process says is used for its own samples only.
 * I2  Bounded: JIT_MAX_PROCESSES, JIT_MAX_BYTES of maps, JIT_MAX_WAITING samples,
 *     JIT_MAX_WANTED look-ups, JIT_MAX_OBJECTS and JIT_MAX_CODE_BYTES of code from one
 * flush to the next, and what is read from one round to the next. What is beyond has no
 * image.
 */
#ifndef CPI_DAEMON_JIT_H
#define CPI_DAEMON_JIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/entry.h"
#include "daemon/procmap/images.h"
#include "daemon/procmap/procmap.h"

#define JIT_MAX_PROCESSES   1024
#define JIT_MAX_BYTES       (64u << 20)
#define JIT_MAX_WAITING     16384
#define JIT_MAX_WANTED      65536 /* look-ups, from one jit_read_noted() to the next */
#define JIT_MAX_OBJECTS     16384
#define JIT_MAX_CODE_BYTES  (8u << 20)
#define JIT_MAX_OBJECT_SIZE (1u << 20) /* of larger code the bytes are not kept */

struct jit;

struct jit *jit_new(struct images *im); /* NULL when out of memory */
void jit_free(struct jit *j);           /* accepts NULL */

/* Whether samples in a mapping of this image may be in such code. */
bool jit_may_hold(const struct known_image *image);

/*
 * The process has such a mapping. Who it is can be asked only while it lives: the
 * sooner this is called, the more short-lived ones are known. Returns whether it was
 * seen for the first time.
 */
bool jit_note(struct jit *j, const struct process *p);

/*
 * The code that held pc, in a process, when it was sampled: pc + *bias is the image's
 * offset. Nothing is read. 0, -EEXIST when more than one did, -ENOENT when nobody
 * knows, -EAGAIN when that can only be told behind jit_read_noted().
 */
int jit_find(struct jit *j, const struct process *p, uint64_t pc, uint64_t from_ns,
	     uint64_t to_ns, struct known_image **image, uint64_t *bias);

/*
 * Asks and reads what look-ups lacked: who their processes are, what these told by
 * then, and the bytes of the code. What is not known behind it is not known for now.
 */
void jit_read_noted(struct jit *j);

/* A code object's place, and that of its unwind tables in its process's dump. */
struct jit_tables {
	uint64_t start, end;
	uint64_t at, size; /* size 0: there are none */
};

/* Whether p told how to unwind frames of its code; what it told by a moment is read. */
bool jit_has_tables(struct jit *j, const struct process *p, uint64_t when_ns);

/* The tables of the code that held pc then. 0, or as jit_find(); reads nothing. */
int jit_find_tables(struct jit *j, const struct process *p, uint64_t pc,
		    uint64_t when_ns, struct jit_tables *out);

/*
 * A file that has the tables (jitimage.h), for the caller to close, or -errno. Of p,
 * only tgid and start_ns matter.
 */
int jit_open_tables(struct jit *j, const struct process *p, const struct jit_tables *t);

/* Whether p tells of its code with the bytes. */
bool jit_has_code(struct jit *j, const struct process *p);

/*
 * The code that a process has made at [address, address + size), as far as it told:
 * what is not known is 0. Returns the bytes up to the last that is known. *order is
 * what jit_order() was then. Of p, only tgid and start_ns matter, here and below.
 */
size_t jit_copy(struct jit *j, const struct process *p, uint64_t address, void *to,
		size_t size, uint32_t *order);

/* Changes whenever the process has told of more code, which it is soon asked for. */
uint32_t jit_order(struct jit *j, const struct process *p);

/* Whether the code that held pc at a moment was in a copy of that order. */
bool jit_was_copied(struct jit *j, const struct process *p, uint64_t pc,
		    uint64_t when_ns, uint32_t order);

/* Samples of one address, and the batch's interval. */
struct jit_sample {
	struct cpi_entry entry;
	uint64_t from_ns, to_ns;
};

/* Keeps a sample in code that nobody knew for jit_retry_waiting(). Whether there was
 * room for it. */
bool jit_wait(struct jit *j, const struct process *p, const struct jit_sample *s);
uint64_t jit_nr_waiting(const struct jit *j); /* Σ counts */

/*
 * Reads all maps once more and calls fn with each sample that waits, and what
 * jit_find() says of it now. Of its process, only tgid, start_ns, comm, cgroup and
 * label are known still.
 */
typedef void (*jit_retry_fn)(void *ctx, const struct jit_sample *s,
			     const struct process *p, int err,
			     struct known_image *image, uint64_t bias);
void jit_retry_waiting(struct jit *j, jit_retry_fn fn, void *ctx);

/* A code object that has samples since the last jit_take(). */
struct jit_object {
	struct hnode node;
	struct jit_object *next; /* in the list that jit_take() gives out */
	struct known_image *image;
	uint64_t offset, size;
	uint8_t *bytes; /* size of them; NULL: not known */
	char name[];
};

/* All of them; the caller's now, to free by jit_free_objects(). */
struct jit_object *jit_take(struct jit *j);
void jit_free_objects(struct jit_object *list);

/* From now on as much may be read again; processes that are gone are forgotten. */
void jit_next_round(struct jit *j);

void jit_mark_images(const struct jit *j);

#endif
