/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit.h - attributes samples in code that processes made at run time
 *
 * Such code has no file. If its process describes it (jitread.h), a sample's image is
 * "[jit:COMM]". Offsets of a code object count from a hash of its name, size and, if
 * known, bytes. So samples of one function add up, whatever its address was, over all
 * processes of the command, and a report does not need the process.
 *
 * A sample that no map explains yet waits, because some maps are written late, or at
 * exit. At the next flush it is looked up once more; then it gets its image or none.
 *
 * I1  What a process says about code is used only for its own samples.
 * I2  Bounded: JIT_MAX_PROCESSES, JIT_MAX_BYTES of maps, JIT_MAX_WAITING samples,
 *     JIT_MAX_WANTED look-ups; between two flushes JIT_MAX_OBJECTS, and
 *     JIT_MAX_CODE_BYTES of code; and the bytes that one cycle reads. A sample beyond
 *     these bounds has no image.
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
#define JIT_MAX_OBJECT_SIZE (1u << 20) /* bytes of larger code are not kept */

struct jit;

struct jit *jit_new(struct images *im); /* NULL when out of memory */
void jit_free(struct jit *j);           /* accepts NULL */

/* Whether samples in a mapping of this image may be in code made at run time. */
bool jit_may_hold(const struct known_image *image);

/*
 * Notes that the process has such a mapping. Its identity can be read only while it
 * lives; so call this early, for the sake of short-lived processes. Returns whether
 * this is the first call for the process.
 */
bool jit_note(struct jit *j, const struct process *p);

/*
 * Finds the code object that contained pc in a process at the time of the sample; pc +
 * *bias is the offset in the image. Reads no file. Returns 0; -EEXIST if more than one
 * did; -ENOENT if none is known; -EAGAIN if the answer is known only after
 * jit_read_noted().
 */
int jit_find(struct jit *j, const struct process *p, uint64_t pc, uint64_t from_ns,
	     uint64_t to_ns, struct known_image **image, uint64_t *bias);

/*
 * Reads what earlier look-ups lacked: the identity of their processes, the maps and
 * dumps of these, and the bytes of the code. After it, a look-up has a final answer for
 * now.
 */
void jit_read_noted(struct jit *j);

/* Where a code object is, and where its unwind tables are in the process's dump. */
struct jit_tables {
	uint64_t start, end;
	uint64_t at, size; /* size 0: no tables */
};

/* Whether the dump of p has unwind tables. First reads the dump up to when_ns. */
bool jit_has_tables(struct jit *j, const struct process *p, uint64_t when_ns);

/*
 * Finds the tables of the code that contained pc at that time. Returns the same as
 * jit_find(); reads no file.
 */
int jit_find_tables(struct jit *j, const struct process *p, uint64_t pc,
		    uint64_t when_ns, struct jit_tables *out);

/*
 * Returns a descriptor of a file with the tables (jitimage.h), which the caller closes,
 * or -errno. Uses only tgid and start_ns of p.
 */
int jit_open_tables(struct jit *j, const struct process *p, const struct jit_tables *t);

/* Whether the dump of p contains the bytes of its code. */
bool jit_has_code(struct jit *j, const struct process *p);

/*
 * Copies the code that a process has made at [address, address + size); unknown bytes
 * are 0. Returns the number of bytes up to the last known one. *order is the value of
 * jit_order() at that time. This and the next functions use only tgid and start_ns of
 * p.
 */
size_t jit_copy(struct jit *j, const struct process *p, uint64_t address, void *to,
		size_t size, uint32_t *order);

/*
 * A number that changes whenever the process has described more code, which will be
 * read soon.
 */
uint32_t jit_order(struct jit *j, const struct process *p);

/* Whether a copy of that order has the code that contained pc at that time. */
bool jit_was_copied(struct jit *j, const struct process *p, uint64_t pc,
		    uint64_t when_ns, uint32_t order);

/* Samples of one address, and the batch's interval. */
struct jit_sample {
	struct cpi_entry entry;
	uint64_t from_ns, to_ns;
};

/*
 * Keeps a sample in unknown code for jit_retry_waiting(). Returns whether there was
 * room for it.
 */
bool jit_wait(struct jit *j, const struct process *p, const struct jit_sample *s);
uint64_t jit_nr_waiting(const struct jit *j); /* Σ counts */

/*
 * Reads all maps once more. Calls fn with each sample that waits, and with the result
 * of jit_find() for it now. Of the sample's process only tgid, start_ns, comm, cgroup
 * and label are still known.
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

/* Begins a round: the budget of bytes is new, and ended processes are forgotten. */
void jit_next_round(struct jit *j);

void jit_mark_images(const struct jit *j);

#endif
