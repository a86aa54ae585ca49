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
 *     the time until which it held, and forgotten by procmap_forget(). Both are charged
 *     to the process, and to its user's account.
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
#include "daemon/os/names.h"
#include "daemon/procmap/accounts.h"
#include "daemon/procmap/images.h"

#define PROCMAP_COMM_SIZE 16
#define PROCMAP_ALWAYS    0 /* a time before all samples */

/*
 * Memory's bounds. Of one process: its mappings, live and retired, for each costs in
 * proportion to those that are there, and its mapping records between two calls of
 * procmap_forget(). A process that reaches one is incomplete, and look-ups of it are
 * gaps; no other process is. Of all together: mappings, and processes. Where there is
 * no room for a mapping, the largest processes of the user who has most are given up
 * until an eighth of it is free; a user's processes are no more than leave some to
 * others (accounts.h).
 */
#define PROCMAP_MAX_RANGES    (1u << 20)
#define PROCMAP_MAX_OWN       8192 /* that may be executed */
#define PROCMAP_MAX_PROCESSES (1u << 18)
#define PROCMAP_MAX_RECORDS   (1u << 17)

/*
 * When an incomplete process is due to be read anew: so long after it became that,
 * twice as long after each time that did not help, up to 256 times; and when no more
 * of its mapping records were skipped since the last procmap_forget().
 */
#define PROCMAP_MEND_NS        1000000000ULL
#define PROCMAP_MEND_DOUBLINGS 8
#define PROCMAP_MEND_BELOW     4096

struct process {
	struct hnode node;    /* by tgid */
	struct process *next; /* in the list of all, newest first */
	uint32_t tgid;
	uint32_t parent;     /* who forked it; 0: not known */
	uint16_t generation; /* 1 .. CPI_MAX_GENERATION */
	bool exited;
	bool superseded; /* a newer incarnation of the tgid exists */
	bool incomplete; /* since incomplete_ns it lacks mappings: look-ups are gaps */
	uint8_t nr_mended; /* how often it was read anew, and soon incomplete again */
	uint64_t start_ns; /* monotonic, as all times here */
	uint64_t end_ns;   /* meaningful when exited or superseded */
	uint64_t verified_ns; /* a rescan found its mappings unchanged then */
	uint64_t incomplete_ns, mended_ns, mend_ns; /* mend_ns: when it is due */
	uint32_t nr_records, nr_skipped; /* of mappings, since procmap_forget() */
	bool exec_id_known;
	uint32_t exec_id;       /* how often it, and its ancestors, called exec */
	uint64_t exec_id_as_of; /* what came before is in it already */
	char comm[PROCMAP_COMM_SIZE];
	struct name *cgroup, *label; /* NULL: not known; none */
	uint64_t cgroup_id;          /* in v2; 0: not known */
	uint32_t nr_changes;         /* of what is mapped; wraps */
	struct account *account;     /* who pays for it; NULL: nobody */
	struct maps *maps; /* may be shared with the parent until either changes */
};

struct procmap;

struct procmap *procmap_new(void);     /* NULL when out of memory */
void procmap_free(struct procmap *pm); /* accepts NULL */

/*
 * Who pays for processes: owner gives the user id of tgid, and returns 0 or -errno. It
 * is asked of what was not forked by a known process, and of root's processes at exec,
 * and where they have very many mappings. Without it nobody pays.
 */
void procmap_set_owner(struct procmap *pm, int (*owner)(uint32_t tgid, uint32_t *uid));

/*
 * Events, in the order of their times; but what procmap_verify() took in may be ahead
 * of them. A failure to find memory is remembered: procmap_nr_failed() counts events
 * that could not be taken in.
 */
void procmap_fork(struct procmap *pm, uint32_t tgid, uint32_t parent, uint64_t when);
void procmap_exec(struct procmap *pm, uint32_t tgid, const char *comm, uint64_t when);
void procmap_comm(struct procmap *pm, uint32_t tgid, const char *comm);
void procmap_exit(struct procmap *pm, uint32_t tgid, uint64_t when);

/*
 * Whether a mapping record of tgid is not worth being looked at, because the process is
 * incomplete, or is so from now on: it had more than PROCMAP_MAX_RECORDS. To be asked
 * once of each record, before procmap_map().
 */
bool procmap_skip_map(struct procmap *pm, uint32_t tgid, uint64_t when);

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

/* Monotonic; both ends belong to it. */
struct time_span {
	uint64_t t0, t1;
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
 * Who held (tgid, pc) at any time in an interval? With generation 0 every incarnation
 * that touches the interval counts. The answer holds until the process map changes.
 */
enum procmap_result procmap_lookup(struct procmap *pm, uint32_t tgid,
				   unsigned int generation, uint64_t pc,
				   struct time_span when, struct procmap_hit *out);

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
 * verified, else replaced by a new incarnation. So is one that was incomplete.
 */
void procmap_verify(struct procmap *pm, uint32_t tgid, const char *comm,
		    const struct rangemap *found, uint64_t when);

/*
 * What a process has mapped cannot be read, or is too much: as of when all look-ups are
 * gaps, until procmap_verify(). A process that is not known is entered.
 */
void procmap_give_up(struct procmap *pm, uint32_t tgid, uint64_t when);

/*
 * Calls fn with the tgid of each living process that is incomplete, and due at now to
 * be read anew with procmap_verify(), until fn returns false. Whether it never did.
 */
bool procmap_for_each_incomplete(struct procmap *pm, uint64_t now,
				 bool (*fn)(void *ctx, uint32_t tgid), void *ctx);

/* After a scan of all processes at when: those that it did not find are gone. */
void procmap_end_unseen(struct procmap *pm, uint64_t when);

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
uint64_t procmap_nr_skipped(const struct procmap *pm);  /* mapping records */
size_t procmap_nr_incomplete(const struct procmap *pm); /* living processes */

/* As accounts_take_excess(), of the time that events took since the last call. */
uint64_t procmap_take_excess(struct procmap *pm, uint64_t ns, uint64_t share_ns);

#endif
