/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attribute.h - finds the image and offset of each sample, or a named reason why not
 *
 * SOSP'97 section 4.3.1, with a rule for mappings that change. A sample of a batch
 * belongs to an image if exactly one image held its address, in its process, at any
 * time in the batch's interval.
 */
#ifndef CPI_DAEMON_ATTRIBUTE_H
#define CPI_DAEMON_ATTRIBUTE_H

#include "abi/unwind.h"
#include "base/rangemap.h"
#include "daemon/attribute/tally.h"
#include "daemon/collect/collector.h"
#include "daemon/jit/jit.h"
#include "daemon/procmap/codecache.h"
#include "daemon/procmap/kernel.h"
#include "daemon/procmap/procmap.h"
#include "daemon/procmap/threadmap.h"
#include "daemon/stacks/stacktally.h"

struct attribution {
	struct images *images;
	struct procmap *procmap;
	struct kernel *kernel;
	struct codecache *codecache;
	/*
	 * If set, entries contain thread ids, which are looked up here; NULL: they
	 * contain process ids.
	 */
	const struct threadmap *threads;
	struct jit *jit; /* NULL: code made at run time is not looked up */
	/* Kernel images of another machine, by address; used instead of kernel. */
	const struct rangemap *recorded;
	struct tally *tally;
	/*
	 * Samples that are deferred until attribute_resolve(); NULL: samples are never
	 * deferred.
	 */
	struct later *later;
	bool lacking;    /* a look-up noted something for attribute_resolve() to read */
	unsigned int by; /* 1 << kind, for each kind of context to count by */
	const char *by_process; /* pattern of commands to count by process; NULL: all */
	struct stacktally *stacks; /* NULL: call stacks are not sampled */
	/* Called for each attributed sample in user mode; may be NULL. */
	void (*sampled)(void *ctx, const struct known_image *image, uint64_t offset);
	void *sampled_ctx;
};

/*
 * Callbacks for struct collector_owner; ctx is a struct attribution. They only look up:
 * they read no file and send no request. attribute_prepare() notes the code that
 * attribute_classify() needs. Entries and records with missing information are deferred
 * one by one, branch stacks and call chains as a whole.
 */
void attribute_batch(void *ctx, const struct batch *batch);
void attribute_prepare(void *ctx, const struct raw_sample *sample);
void attribute_classify(void *ctx, const struct raw_sample *sample,
			unsigned int *generation, enum cpi_outcome *outcome);

/*
 * Reads the files that look-ups noted (images, code, kallsyms, and files in which
 * processes name their code), and then attributes the deferred samples. It is a
 * separate step of the session's cycle. A sample that is still unknown is counted under
 * its reason.
 */
void attribute_resolve(struct attribution *a);

/*
 * I1  Deferred samples are attributed by the next attribute_resolve(), which the owner
 *     calls before it forgets processes, and before a flush.
 */
struct later *later_new(void);    /* NULL when out of memory */
void later_free(struct later *l); /* accepts NULL */

/*
 * Adds all branches of a sample, and the runs between successive branches, to the tally
 * of a. An unknown source or target is image NULL, offset 0. Returns 0, or -ENOMEM,
 * -EOVERFLOW or -CPI_ELIMIT if some were left out.
 */
int attribute_branches(struct attribution *a, const struct branch_stack *s);

/*
 * Returns the image of an address at a time, and sets *offset; NULL if it is not known.
 */
struct known_image *attribute_address(struct attribution *a, uint32_t tgid, uint64_t pc,
				      uint64_t when_ns, uint64_t *offset);

struct chain_sample;

/* A callback for stacksampler_config; ctx is a struct attribution with stacks. */
void attribute_chain(void *ctx, const struct chain_sample *sample);

/* Returns the mark of a stack whose chain ended for this reason. */
enum stack_mark attribute_end_mark(enum cpi_unwind_end end);

/*
 * Attributes the samples that wait until their process names its code (jit.h), or
 * counts them as unknown. Call it before the tally is flushed.
 */
void attribute_finish_waiting(struct attribution *a);

#endif
