/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attribute.h - from (tgid, pc, when) to (image, offset), or a named reason
 *
 * SOSP'97 section 4.3.1, with the rule for what changed meanwhile: a sample of
 * a batch is an image's if exactly one image held its address, in its process,
 * at any time in the batch's interval.
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
#include "daemon/stacks/stacktally.h"

struct attribution {
	struct images *images;
	struct procmap *procmap;
	struct kernel *kernel;
	struct codecache *codecache;
	struct jit *jit; /* NULL: nobody can be asked any more */
	/* Of another machine, in place of kernel: its images, by address. */
	const struct rangemap *recorded;
	struct tally *tally;
	/* What is put off until attribute_resolve(); NULL: nothing is. */
	struct later *later;
	bool lacking;    /* a look-up noted what attribute_resolve() is to read */
	unsigned int by; /* 1 << each kind of contexts that is kept */
	const char *by_process;    /* the commands whose processes are; NULL: all */
	struct stacktally *stacks; /* NULL: not sampled */
	/* Told of what samples are of, but for the kernel's; NULL: nobody wants to
	 * know. */
	void (*sampled)(void *ctx, const struct known_image *image, uint64_t offset);
	void *sampled_ctx;
};

/*
 * collector_owner's functions; ctx is a struct attribution. All of them look up and
 * nothing more: no file is opened or read, and nobody is asked. attribute_prepare()
 * notes the code that attribute_classify() needs. An entry or a record of which
 * something is not known is put off by itself, a branch stack or a call chain as a
 * whole.
 */
void attribute_batch(void *ctx, const struct batch *batch);
void attribute_prepare(void *ctx, const struct raw_sample *sample);
void attribute_classify(void *ctx, const struct raw_sample *sample,
			unsigned int *generation, enum cpi_outcome *outcome);

/*
 * A step of its own: opens, reads and asks what look-ups noted (images, code, kallsyms,
 * and files in which processes name their code), then attributes what was put off.
 * What is still not known after that gets its named reason.
 */
void attribute_resolve(struct attribution *a);

/*
 * I1  What is put off is attributed by the next attribute_resolve(), which the owner
 *     calls before it forgets processes, and before a flush.
 */
struct later *later_new(void);    /* NULL when out of memory */
void later_free(struct later *l); /* accepts NULL */

/*
 * Adds all branches of a sample, and the runs between each and the next, to the tally
 * of a. Branches from or to unknown places are from or to image NULL, offset 0. Returns
 * 0, or -ENOMEM, -EOVERFLOW or -CPI_ELIMIT when some are left out.
 */
int attribute_branches(struct attribution *a, const struct branch_stack *s);

/* The image and offset of an address at a moment; NULL when that is not known. */
struct known_image *attribute_address(struct attribution *a, uint32_t tgid, uint64_t pc,
				      uint64_t when_ns, uint64_t *offset);

struct chain_sample;

/* stacksampler_config's; ctx is a struct attribution that has stacks. */
void attribute_chain(void *ctx, const struct chain_sample *sample);

/* The mark of a stack whose chain ended in this way. */
enum stack_mark attribute_end_mark(enum cpi_unwind_end end);

/*
 * Attributes the samples that wait for a name of their code (jit.h), or counts them as
 * lost. Called before the tally is flushed.
 */
void attribute_finish_waiting(struct attribution *a);

#endif
