/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procmap.h - the mappings of all processes over time
 *
 * SOSP'97 section 4.3.2 describes how samples are attributed to images. This file does
 * the same on systems where processes live for milliseconds. A sample is attributed
 * some time after it was taken, so each process keeps its mappings with their times. A
 * struct process is one incarnation of a tgid: it begins with a fork or exec, and ends
 * with the next exec or the reuse of the tgid.
 *
 * I1  An incarnation spans [start_ns, start of the tgid's next one): samples after its
 *     exit record still belong to it.
 * I2  Live mappings do not overlap. A mapping that was replaced or unmapped is retired
 *     with its end time, and dropped by procmap_forget(). Live and retired mappings
 * count against the process's limit and its user's account. I3  Each incarnation has a
 * generation, a number that samples carry (abi/entry.h). If at most 1023 incarnations
 * of one tgid may have samples in one batch, their generations differ. I4  An exec id
 * is the number of execs of a process and its ancestors. If exec_id_known is set,
 * exec_id is that of this incarnation, and stays the same for as long as it is known.
 * It is computed from an id that the kernel reported at some time, and from the forks
 * and execs since. If records of forks or execs may have been lost, the exec ids of all
 * processes become unknown.
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
 * Limits of memory and time. For one process: PROCMAP_MAX_OWN mappings (live and
 * retired), because the cost of a change grows with their number; and
 * PROCMAP_MAX_RECORDS mapping records between two calls of procmap_forget(). A process
 * that reaches one of these becomes incomplete: look-ups in it return PROCMAP_GAP.
 * Other processes are not affected. For all processes together: PROCMAP_MAX_RANGES
 * mappings and PROCMAP_MAX_PROCESSES processes. If there is no room for a mapping, the
 * mappings of the largest processes of the user with the most mappings are dropped
 * until an eighth of the room is free. For the limit of a user's processes see
 * accounts.h.
 */
#define PROCMAP_MAX_RANGES    (1u << 20)
#define PROCMAP_MAX_OWN       8192 /* executable mappings of one process */
#define PROCMAP_MAX_PROCESSES (1u << 18)
#define PROCMAP_MAX_RECORDS   (1u << 17)

/*
 * When an incomplete process is read again from /proc: PROCMAP_MEND_NS after it became
 * incomplete, and twice as long after each attempt that did not help (at most
 * 2^PROCMAP_MEND_DOUBLINGS times as long). It is read only if at most
 * PROCMAP_MEND_BELOW of its mapping records were skipped since the last
 * procmap_forget().
 */
#define PROCMAP_MEND_NS        1000000000ULL
#define PROCMAP_MEND_DOUBLINGS 8
#define PROCMAP_MEND_BELOW     4096

struct process {
	struct hnode node;    /* in procmap.by_tgid */
	struct process *next; /* the list of all processes, newest first */
	uint32_t tgid;
	uint32_t parent;     /* tgid of the parent; 0: not known */
	uint16_t generation; /* 1 .. CPI_MAX_GENERATION */
	bool exited;
	bool first_exited; /* its first thread has, in a recording */
	bool superseded;   /* a newer incarnation of the tgid exists */
	bool incomplete;   /* mappings are missing since incomplete_ns */
	bool by_exec;      /* an exec began it, so it has no memory of its parent's */
	bool unasked;      /* it is root's, unless procmap_ask_owners() finds another */
	/* how often it was read again and soon became incomplete again */
	uint8_t nr_mended;
	uint64_t start_ns;    /* monotonic, as all times here */
	uint64_t end_ns;      /* valid if exited or superseded */
	uint64_t verified_ns; /* when a scan last found its mappings unchanged */
	uint64_t incomplete_ns, mended_ns, mend_ns; /* mend_ns: when to read it again */
	uint32_t nr_threads;             /* besides the first one, in a recording */
	uint32_t nr_records, nr_skipped; /* mapping records since procmap_forget() */
	bool exec_id_known;
	uint32_t exec_id;       /* number of execs of the process and its ancestors */
	uint64_t exec_id_as_of; /* exec_id includes all earlier execs */
	char comm[PROCMAP_COMM_SIZE];
	struct name *cgroup, *label; /* NULL: not known, or none */
	uint64_t cgroup_id;          /* in v2; 0: not known */
	uint32_t nr_changes;     /* number of changes of the mappings, modulo 2^32 */
	struct account *account; /* pays for the process (accounts.h); NULL: none */
	struct maps *maps; /* may be shared with the parent until either changes */
};

struct procmap;

struct procmap *procmap_new(void);     /* NULL when out of memory */
void procmap_free(struct procmap *pm); /* accepts NULL */

/*
 * Sets the function that finds the user id of a tgid; it returns 0 or -errno. It is
 * called for processes that were not forked by a known process, and for root's
 * processes after an exec and when they have many mappings. Without it, processes have
 * no account.
 */
void procmap_set_owner(struct procmap *pm, int (*owner)(uint32_t tgid, uint32_t *uid));

/*
 * Finds the users of root's processes that have executed a program, and of the
 * processes that they forked since. Call it after a reading of events, at most once a
 * second: most processes of a build have ended by then, and need no look.
 */
void procmap_ask_owners(struct procmap *pm);

/*
 * Apply events, in the order of their times. A scan of /proc (procmap_verify()) may
 * have seen the result of an exec that is applied only later; procmap_exec() allows for
 * this. procmap_nr_failed() counts events that could not be applied, for example for
 * lack of memory.
 */
void procmap_fork(struct procmap *pm, uint32_t tgid, uint32_t parent, uint64_t when);
void procmap_exec(struct procmap *pm, uint32_t tgid, const char *comm, uint64_t when);
void procmap_comm(struct procmap *pm, uint32_t tgid, const char *comm);
void procmap_exit(struct procmap *pm, uint32_t tgid, uint64_t when);

/*
 * For recordings, where procmap_forget() can ask nobody: the process has another
 * thread; one of its threads exits, is_first: the one that began it. With the last of
 * them the process exits.
 */
void procmap_add_thread(struct procmap *pm, uint32_t tgid);
void procmap_exit_thread(struct procmap *pm, uint32_t tgid, bool is_first,
			 uint64_t when);

/*
 * Returns whether to skip a mapping record of tgid, because the process is incomplete,
 * or becomes incomplete with this record (PROCMAP_MAX_RECORDS). Call it once for each
 * record, before procmap_map().
 */
bool procmap_skip_map(struct procmap *pm, uint32_t tgid, uint64_t when);

/*
 * Adds a mapping. r->since is its time, r->value its struct known_image, and address +
 * r->bias the offset in the image.
 */
void procmap_map(struct procmap *pm, uint32_t tgid, const struct range *r);

/*
 * Returns the live mapping at address, or NULL if none is known. It is valid until the
 * next event.
 */
const struct range *procmap_live(struct procmap *pm, uint32_t tgid, uint64_t address);

/*
 * Set the cgroup and the label of a process. Its children inherit them, and an exec
 * keeps them. NULL: not known, or none. They do nothing if the process is not known.
 */
void procmap_set_cgroup(struct procmap *pm, uint32_t tgid, const char *path,
			uint64_t id);
void procmap_set_label(struct procmap *pm, uint32_t tgid, const char *label);

/* Removes the mappings in [start, end). */
void procmap_unmap(struct procmap *pm, uint32_t tgid, uint64_t start, uint64_t end,
		   uint64_t when);

/*
 * Sets the exec id that the kernel reported for tgid at `when`. An exec before `when`
 * that is applied later is not counted again.
 */
void procmap_set_exec_id(struct procmap *pm, uint32_t tgid, uint32_t id, uint64_t when);

/* Calls fn with the tgid of each process that is not known to have exited. */
void procmap_for_each(struct procmap *pm, void (*fn)(void *ctx, uint32_t tgid),
		      void *ctx);

/*
 * A flag in the argument generation. With it, the other bits are the low bits of an
 * exec id. They select the incarnations whose exec id has these bits, and those whose
 * exec id is not known.
 */
#define PROCMAP_BY_EXEC_ID (1u << CPI_GENERATION_BITS)

/*
 * Returns the incarnation of tgid at a time, or NULL. Generation 0 selects any
 * incarnation; other values only those with this generation.
 */
struct process *procmap_find(struct procmap *pm, uint32_t tgid, unsigned int generation,
			     uint64_t when);

/* Calls fn with each live mapping of p, in the order of addresses. */
void procmap_for_each_range(const struct process *p,
			    void (*fn)(void *ctx, const struct range *r), void *ctx);

/*
 * Returns the first image that p has mapped for whose name is_wanted() is true, or
 * NULL.
 */
const struct known_image *procmap_find_image(const struct process *p,
					     bool (*is_wanted)(const char *name));

/*
 * Returns p's live executable mappings, sorted by address. They are valid until the
 * next event.
 */
const struct range *procmap_ranges(const struct process *p, size_t *nr);

enum procmap_result {
	PROCMAP_FOUND,
	PROCMAP_NO_PROCESS,
	PROCMAP_NO_MAPPING,
	/* several images, or several offsets of one, were mapped there */
	PROCMAP_AMBIGUOUS,
	PROCMAP_GAP, /* mapping events were lost at that time */
};

/* Monotonic clock; both ends are included. */
struct time_span {
	uint64_t t0, t1;
};

struct procmap_hit {
	struct known_image *image;
	uint64_t bias;     /* address + bias is the image's offset */
	uint64_t since_ns; /* time of the mapping */
	/* These are always set: */
	struct process *process; /* NULL: none is known */
	uint64_t end; /* the result holds for all addresses from pc to here */
};

/*
 * Finds the mapping that a process had at pc in an interval. With generation 0 it looks
 * in all incarnations that overlap the interval. The result is valid until the process
 * map changes.
 */
enum procmap_result procmap_lookup(struct procmap *pm, uint32_t tgid,
				   unsigned int generation, uint64_t pc,
				   struct time_span when, struct procmap_hit *out);

/* The same for one incarnation, as procmap_find() returned it, and one moment. */
enum procmap_result procmap_lookup_in(struct procmap *pm, struct process *process,
				      uint64_t pc, uint64_t when,
				      struct procmap_hit *out);

/*
 * Notes that mapping events were lost in [from, to]. Look-ups in this interval return
 * PROCMAP_GAP, except in processes that began, or were verified, after the interval.
 */
void procmap_add_gap(struct procmap *pm, uint64_t from, uint64_t to);

/*
 * Compares a process's live mappings with those that a scan of /proc found. If the
 * process has all of them, it is verified. Otherwise, or if it was incomplete, a new
 * incarnation with the found mappings begins. Mappings are compared by address and file
 * name, because /proc and the kernel's records may show different device numbers for a
 * file.
 */
void procmap_verify(struct procmap *pm, uint32_t tgid, const char *comm,
		    const struct rangemap *found, uint64_t when);

/*
 * Makes a process incomplete, because its mappings cannot be read or are too many:
 * look-ups from `when` on return PROCMAP_GAP until procmap_verify(). A process that is
 * not known is added.
 */
void procmap_give_up(struct procmap *pm, uint32_t tgid, uint64_t when);

/*
 * Calls fn with the tgid of each living incomplete process that is due at `now` to be
 * read again with procmap_verify(). Stops and returns false when fn returns false; else
 * returns true.
 */
bool procmap_for_each_incomplete(struct procmap *pm, uint64_t now,
				 bool (*fn)(void *ctx, uint32_t tgid), void *ctx);

/*
 * Ends a scan of /proc that began at `when`. Processes that began earlier and were not
 * verified since then are marked as exited.
 */
void procmap_end_unseen(struct procmap *pm, uint64_t when);

/*
 * Drops exited and superseded processes, retired mappings, and gaps that ended before
 * horizon. is_alive returns whether a tgid that is marked as exited still has threads;
 * if so, the process is kept.
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

/*
 * See accounts_take_excess(). ns is the time that was spent on applying events since
 * the last call.
 */
uint64_t procmap_take_excess(struct procmap *pm, uint64_t ns, uint64_t share_ns);

#endif
