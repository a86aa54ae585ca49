/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explain.h - one procedure, from its bytes and samples to what it waited for
 *
 * The passes in their order: cfg, schedule, landing, freq, blame. What every command
 * that shows more than samples begins with.
 */
#ifndef CPI_ANALYSIS_EXPLAIN_H
#define CPI_ANALYSIS_EXPLAIN_H

#include "analysis/blame.h"
#include "analysis/cfg.h"
#include "analysis/followed.h"
#include "analysis/freq.h"
#include "analysis/image.h"
#include "analysis/isa.h"
#include "base/arena.h"
#include "base/buf.h"
#include "db/edges.h"
#include "db/model.h"
#include "db/profile.h"

/* Samples of one stream that measures time. */
struct explain_stream {
	const struct profile *profile;
	enum landing landing;
	double period_cycles; /* what a sample stands for */
	double unit;          /* weights tell whose its time is, and so many are a
				 sample; 0: counts do */
};

/* Samples of one that counts what may stall. */
struct explain_event {
	const struct profile *profile;
	const char *name; /* as perf has it, without modifiers */
	enum blame_reason reason;
	double period; /* events that a sample stands for */
	double cycles; /* that one event costs at most */
};

/* What windows passed in the image. */
struct explain_windows {
	const struct followed *followed;
	uint32_t image;                /* its number there */
	struct edges *runs, *branches; /* of followed_edges() */
	/* Of the image, by offset; and what a pass is in executions, 0: not known. */
	const struct anchored *anchored;
	size_t nr_anchored;
	double executions_per_pass;
};

struct explain_input {
	struct image *image;
	struct isa *isa; /* of the image's machine, its CPU chosen */
	const struct symbol *procedure;
	const struct explain_stream *stream; /* the first one's samples are the unit */
	int nr_streams;                      /* at least 1 */
	const struct explain_event *event;
	int nr_events;
	const struct explain_event *retired; /* those that count instructions: */
	int nr_retired; /* of these only profile and period matter; 0: none */
	struct edges *branches, *runs;         /* of the image to itself; NULL: none */
	const struct explain_windows *windows; /* NULL: none */
	double scale;    /* of frequencies that windows are in (callgraph.h); 0: none */
	double scale_sd; /* of its logarithm, where anchors tell; 0: they do not */
	const struct profile *const *records; /* those that have any, of any event */
	int nr_records;
	bool deferred;            /* the kernel, where interrupts can be masked */
	struct buf *debug;        /* or NULL */
	const char *debug_passes; /* "cfg,freq,blame"; NULL: all */
};

struct explained {
	const struct cfg *cfg;
	const struct count *raw; /* by instruction, all streams, as sampled */
	const double *samples;   /* by instruction, in the first stream's */
	const double *blamed;    /* after the landing model; the sum is the same */
	/* By instruction; a culprit counts from the block's first instruction. */
	const struct isa_timing *timing;
	const float *block_cycles; /* by block: one execution at best */
	double period_cycles;      /* a sample's worth */
	const struct freq *freq;
	const struct blame *blame;
};

/*
 * Everything lives in the arena, and in the image's bytes. Returns 0, -CPI_ENOCODE,
 * -CPI_EFORMAT, -CPI_ELIMIT, -EINVAL or -ENOMEM as its passes do.
 */
int explain_procedure(const struct explain_input *in, struct arena *arena,
		      struct explained **out);

#endif
