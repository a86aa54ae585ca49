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
#include "daemon/codecache.h"
#include "daemon/collector.h"
#include "daemon/jit.h"
#include "daemon/kernel.h"
#include "daemon/procmap.h"
#include "daemon/stacktally.h"
#include "daemon/tally.h"

struct attribution {
	struct images *images;
	struct procmap *procmap;
	struct kernel *kernel;
	struct codecache *codecache;
	struct jit *jit; /* NULL: nobody can be asked any more */
	/* Of another machine, in place of kernel: its images, by address. */
	const struct rangemap *recorded;
	struct tally *tally;
	unsigned int by;           /* 1 << each kind of contexts that is kept */
	const char *by_process;    /* the commands whose processes are; NULL: all */
	struct stacktally *stacks; /* NULL: not sampled */
	/* Told of what samples are of, but for the kernel's; NULL: nobody wants to
	 * know. */
	void (*sampled)(void *ctx, const struct known_image *image, uint64_t offset);
	void *sampled_ctx;
};

/* collector_owner's functions; ctx is a struct attribution. */
void attribute_batch(void *ctx, const struct batch *batch);
void attribute_classify(void *ctx, const struct raw_sample *sample,
			unsigned int *generation, enum cpi_outcome *outcome);

/* The image and offset of an address at a moment; NULL when that is not known. */
struct known_image *attribute_address(struct attribution *a, uint32_t tgid, uint64_t pc,
				      uint64_t when_ns, uint64_t *offset);

struct chain_sample;

/* stacksampler_config's; ctx is a struct attribution that has stacks. */
void attribute_chain(void *ctx, const struct chain_sample *sample);

/* What a stack is marked with whose chain ended so. */
enum stack_mark attribute_end_mark(enum cpi_unwind_end end);

/* The end of all waiting (jit.h): before the tally is flushed. */
void attribute_settle(struct attribution *a);

#endif
