/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explain.h - analyses one procedure, from its bytes and samples to its culprits
 *
 * Runs the passes in this order: cfg, schedule, freq, scale, landing, blame. Every
 * command that shows more than samples starts here.
 */
#ifndef CPI_ANALYSIS_EXPLAIN_H
#define CPI_ANALYSIS_EXPLAIN_H

#include "analysis/blame/blame.h"
#include "analysis/cfg/cfg.h"
#include "analysis/freq/freq.h"
#include "analysis/image/image.h"
#include "analysis/isa/isa.h"
#include "analysis/predict/branch_history.h"
#include "analysis/windows/window_weights.h"
#include "base/arena.h"
#include "base/buf.h"
#include "db/profile/edges.h"
#include "db/profile/model.h"
#include "db/profile/profile.h"

/* The samples of one stream that measures time. */
struct explain_stream {
	const struct profile *profile;
	enum landing landing;
	double period_cycles; /* what a sample stands for */
	double unit;          /* weights that make one sample; 0: counts are used */
};

/* The samples of one stream that counts events which may stall. */
struct explain_event {
	const struct profile *profile;
	enum blame_reason reason;
	double period; /* events that a sample stands for */
	double cycles; /* that one event costs at most */
};

/* The windows of the selection, and what they passed in the image. */
struct explain_windows {
	const struct window_weights *weights;
	uint32_t image;                       /* its number there */
	struct edges *runs, *branches;        /* of window_weights_edges() */
	const struct branch_history *history; /* of the same windows; or NULL */
};

struct explain_input {
	struct image *image;
	struct isa *isa; /* of the image's machine, its CPU chosen */
	const struct symbol *procedure;
	const struct explain_stream *stream; /* the first one's samples are the unit */
	int nr_streams;                      /* at least 1 */
	const struct explain_event *event;
	int nr_events;
	/* Samples of retired instructions: only profile and period matter. */
	const struct explain_event *retired;
	int nr_retired;                        /* 0: none */
	struct edges *branches, *runs;         /* of the image to itself; NULL: none */
	const struct explain_windows *windows; /* NULL: none */
	const struct data_model *data; /* of the selection's windows; NULL: none */
	uint32_t data_image;           /* the image's number there */
	double scale; /* factor for frequencies from windows (callgraph.h); 0: none */
	const struct scale_evidence *evidence; /* of the image's blocks (scale.h) */
	int nr_evidence;
	bool shape_only; /* for the call graph: no factor, intervals and culprits */
	const struct profile *const *records; /* profiles with records, of any event */
	int nr_records;
	bool deferred;            /* kernel code: interrupts may be masked */
	struct buf *debug;        /* or NULL */
	const char *debug_passes; /* "cfg,freq,blame"; NULL: all */
};

struct explained {
	const struct cfg *cfg;
	const struct count *raw; /* by instruction, all streams, as sampled */
	const double *samples;   /* by instruction, in the first stream's unit */
	const double *blamed;    /* after the landing model; the sum is the same */
	/* By instruction; a culprit counts from the block's first instruction. */
	const struct isa_timing *timing;
	const float *block_cycles; /* by block: one execution at best */
	double period_cycles;      /* a sample's worth */
	const struct freq *freq;
	const struct mispredicts *mispredicts; /* by instruction; NULL: no windows */
	const struct blame *blame;             /* NULL with shape_only */
	const struct data_insn *const *data;   /* as in struct blame_input */
};

/*
 * Everything lives in the arena; the image must stay open. Returns 0 or an error of a
 * pass: -CPI_ENOCODE, -CPI_EFORMAT, -CPI_ELIMIT, -EINVAL or -ENOMEM.
 */
int explain_procedure(const struct explain_input *in, struct arena *arena,
		      struct explained **out);

#endif
