/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procmap.h - what was mapped where, in which process, and when
 *
 * SOSP'97 section 4.3.2, for systems where processes live for milliseconds. A
 * sample is attributed some time after it was taken, so every process keeps its
 * mappings with their times. One struct process is one incarnation of a tgid: from fork
 * or exec to the next exec or the reuse of the number.
 *
 * I1  An incarnation spans [start_ns, start of the tgid's next one): samples
 *     that come after its exit record are still its own.
 * I2  Live mappings do not overlap; what a newer one replaced is retired with
 *     the time until which it held, and forgotten by procmap_forget().
 * I3  Incarnations of one tgid that could meet in one batch have different
 *     generations, up to 1023 of them.
 * I4  An exec id that is marked as known is the incarnation's, whatever its
 *     samples say that come later. Each is known from one that was asked of the
 *     kernel, at a moment, and the forks and execs since; where those may have
 *     been missed, none is.
 */
#ifndef CPI_DAEMON_PROCMAP_H
#define CPI_DAEMON_PROCMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/entry.h"
#include "base/hmap.h"
#include "base/rangemap.h"
#include "daemon/images.h"
#include "daemon/names.h"

#define PROCMAP_COMM_SIZE 16
#define PROCMAP_ALWAYS    0 /* a time before all samples */

/*
 * Memory's bounds, of all together; and of one process, for each mapping costs in
 * proportion to those that are there. Where one is reached, look-ups are gaps.
 */
#define PROCMAP_MAX_RANGES    (1u << 20)
#define PROCMAP_MAX_OWN       8192 /* live ones, that may be executed */
#define PROCMAP_MAX_PROCESSES (1u << 18)

struct process {
	struct hnode node;    /* by tgid */
	struct process *next; /* in the list of all, newest first */
	uint32_t tgid;
	uint16_t generation; /* 1 .. CPI_MAX_GENERATION */
	bool exited;
	bool superseded;   /* a newer incarnation of the tgid exists */
	bool incomplete;   /* a mapping could not be taken in: all look-ups are gaps */
	uint64_t start_ns; /* monotonic, as all times here */
	uint64_t end_ns;   /* meaningful when exited or superseded */
	uint64_t verified_ns; /* a rescan found its mappings unchanged then */
	bool exec_id_known;
	uint32_t exec_id;       /* how often it, and its ancestors, called exec */
	uint64_t exec_id_as_of; /* what came before is in it already */
	char comm[PROCMAP_COMM_SIZE];
	struct name *cgroup, *label; /* NULL: not known; none */
	uint64_t cgroup_id;          /* in v2; 0: not known */
	uint32_t nr_changes;         /* of what is mapped; wraps */
	struct maps *maps; /* may be shared with the parent until either changes */
};

struct procmap;

struct procmap *procmap_new(void);     /* NULL when out of memory */
void procmap_free(struct procmap *pm); /* accepts NULL */

/*
 * Events, in the order of their times; but what procmap_verify() took in may be ahead
 * of them. A failure to find memory is remembered: procmap_nr_failed() counts events
 * that could not be taken in.
 */
void procmap_fork(struct procmap *pm, uint32_t tgid, uint32_t parent, uint64_t when);
void procmap_exec(struct procmap *pm, uint32_t tgid, const char *comm, uint64_t when);
void procmap_comm(struct procmap *pm, uint32_t tgid, const char *comm);
void procmap_exit(struct procmap *pm, uint32_t tgid, uint64_t when);

/* address + bias is the image's offset; r->since is when, r->value the known_image. */
void procmap_map(struct procmap *pm, uint32_t tgid, const struct range *r);

/* What is mapped at address as far as is known, or NULL. Valid until the next event. */
const struct range *procmap_live(struct procmap *pm, uint32_t tgid, uint64_t address);

/*
 * Which cgroup and which label a process has from now on: its children have them, too,
 * and what it executes. NULL: not known; none. Nothing happens where it is not known.
 */
void procmap_set_cgroup(struct procmap *pm, uint32_t tgid, const char *path,
			uint64_t id);
void procmap_set_label(struct procmap *pm, uint32_t tgid, const char *label);

/* What was mapped in [start, end) is so no longer. */
void procmap_unmap(struct procmap *pm, uint32_t tgid, uint64_t start, uint64_t end,
		   uint64_t when);

/* The kernel's word for the exec id of tgid at a moment: nothing older changes it. */
void procmap_set_exec_id(struct procmap *pm, uint32_t tgid, uint32_t id, uint64_t when);

/* Calls fn with the tgid of each process that lives, as far as is known. */
void procmap_for_each(struct procmap *pm, void (*fn)(void *ctx, uint32_t tgid),
		      void *ctx);

/*
 * A generation that is the low bits of an exec id: it selects every incarnation
 * but those that are known to have another one.
 */
#define PROCMAP_BY_EXEC_ID (1u << CPI_GENERATION_BITS)

/*
 * The incarnation of tgid at a moment, or NULL. With generation 0 any; else only
 * one that has it.
 */
struct process *procmap_find(struct procmap *pm, uint32_t tgid, unsigned int generation,
			     uint64_t when);

/* Calls fn with each mapping that p has, in the order of their addresses. */
void procmap_for_each_range(const struct process *p,
			    void (*fn)(void *ctx, const struct range *r), void *ctx);

/* An image that p has mapped, and whose name is wanted; NULL: there is none. */
const struct known_image *procmap_find_image(const struct process *p,
					     bool (*is_wanted)(const char *name));

/* What p has mapped that may be executed, ascending; valid until the next event. */
const struct range *procmap_ranges(const struct process *p, size_t *nr);

enum procmap_result {
	PROCMAP_FOUND,
	PROCMAP_NO_PROCESS,
	PROCMAP_NO_MAPPING,
	PROCMAP_AMBIGUOUS, /* more than one image, or offset, held the address */
	PROCMAP_GAP,       /* mapping events were lost around then */
};

struct procmap_hit {
	struct known_image *image;
	uint64_t bias;     /* address + bias is the image's offset */
	uint64_t since_ns; /* when it was mapped */
	/* Set whatever the result: */
	struct process *process; /* NULL when none is known */
	uint64_t end;            /* the answer is the same from pc up to here */
};

/*
 * Who held (tgid, pc) in [t0, t1]? With generation 0 every incarnation that
 * touches the interval counts. The answer holds until the process map changes.
 */
enum procmap_result procmap_lookup(struct procmap *pm, uint32_t tgid,
				   unsigned int generation, uint64_t pc, uint64_t t0,
				   uint64_t t1, struct procmap_hit *out);

/* The same for one incarnation and one moment; process is procmap_find()'s. */
enum procmap_result procmap_lookup_in(struct procmap *pm, struct process *process,
				      uint64_t pc, uint64_t when,
				      struct procmap_hit *out);

/*
 * Mapping events were lost somewhere in [from, to]: processes that are not
 * verified later than that, or did not begin after it, have a gap there.
 */
void procmap_add_gap(struct procmap *pm, uint64_t from, uint64_t to);

/*
 * Compares a process's live mappings with what a scan found: if they have all of
 * it (by place and name: scan and kernel know files by different numbers) they are
 * verified, else replaced by a new incarnation.
 */
void procmap_verify(struct procmap *pm, uint32_t tgid, const char *comm,
		    const struct rangemap *found, uint64_t when);

/* After a scan of all processes at when: those that it did not find are gone. */
void procmap_settle(struct procmap *pm, uint64_t when);

/*
 * Forgets exited and superseded processes and retired mappings that ended
 * before horizon, and gaps likewise. is_alive tells whether an exited tgid
 * still has threads.
 */
void procmap_forget(struct procmap *pm, uint64_t horizon,
		    bool (*is_alive)(uint32_t tgid));

/* Marks the images of all mappings for images_sweep(). */
void procmap_mark_images(struct procmap *pm);

size_t procmap_nr_processes(const struct procmap *pm);
size_t procmap_nr_ranges(const struct procmap *pm);
uint64_t procmap_nr_failed(const struct procmap *pm);

#endif
