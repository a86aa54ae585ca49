/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explaining.h - from a selection to explained procedures
 *
 * Chooses what analysis/explain.h takes: the streams of the event that measures
 * time, the events that tell a reason, the CPU. One unit for all procedures: samples
 * of the first of those streams.
 *
 * I1  Every sample of a selected image is in one explanation, and in one only:
 *     Σ explanations' samples = the time that is stored, but for idle.
 */
#ifndef CPI_TOOLS_EXPLAINING_H
#define CPI_TOOLS_EXPLAINING_H

#include "analysis/callgraph.h"
#include "analysis/explain.h"
#include "tools/attribution.h"
#include "tools/following.h"
#include "tools/json.h"
#include "tools/list.h"

/* What could be done with the samples. */
enum explain_state {
	EXPLAIN_DONE,
	EXPLAIN_DEFERRED,     /* the kernel, where interrupts may be masked */
	EXPLAIN_NO_CODE,      /* err says why */
	EXPLAIN_NO_PROCEDURE, /* no symbol is there */
	EXPLAIN_NO_IMAGE,     /* err says why it cannot be opened */
	EXPLAIN_FEW_SAMPLES,  /* explainer.enough was not */
	EXPLAIN_NR_STATES
};

/* Samples of one stream at one offset. */
struct explain_sample {
	struct count count;
	size_t stream; /* in the selection's */
	int weight;    /* enum weight that count has; -1: samples */
	double amount; /* of time, in the first stream's samples */
	const struct symbol *owner;
	size_t turn; /* of the explanation that has it; 0: none yet */
	bool stray;
};

struct explanation {
	const struct query_image *image;
	struct image *im;            /* NULL when it cannot be opened */
	const struct symbol *symbol; /* NULL without procedure or image */
	enum explain_state state;
	int err;
	const struct explained *e; /* NULL unless done, or deferred with its code */
	double samples;            /* of time, and how many of them are … */
	double stray;              /* … at no instruction of the procedure */
};

/* Whether a procedure has samples enough. */
typedef bool (*explain_enough_fn)(void *ctx, const struct query_image *image,
				  const struct symbol *symbol);

struct explainer {
	struct listing *l;
	explain_enough_fn enough; /* explainer_each() leaves out others, and what is
				     deferred; NULL: nothing */
	void *enough_ctx;
	size_t event;    /* that measures time; l->ev.nr without one */
	size_t first;    /* stream of it, whose samples are the unit */
	double clock_hz; /* 1e9 when the epoch's is not known */
	struct isa *isa; /* once an image was explained; of machine */
	enum machine machine;
	struct arena arena; /* the explanation's */
	struct explain_stream *streams;
	struct explain_event *events, *retired;
	const struct profile **records; /* those of profile that have any */
	struct profile **profile;       /* by stream of the selection: of the image */
	struct profile *none;           /* where nothing measures time */
	/* By kind, where control went in image edges_of, and stayed; or NULL. */
	struct edges *edges[EDGES_NR_KINDS];
	int64_t edges_of;
	struct query_streams window_streams;
	struct following *following; /* NULL: no windows, or not looked for yet */
	bool looked_for_windows;
	struct callgraph *calls;  /* of the image, when windows are in it; or NULL */
	struct query_image image; /* whose they are; name is owned */
	struct buf samples;       /* struct explain_sample, ascending; of the image */
	size_t turn;              /* of the newest explanation */
	struct explanation found;
};

/* Options that every explaining command has. */
#define OPT_CPU                                                             \
	OPT("cpu", 0, "NAME", "time instructions as on this CPU, znver4 …", \
	    OPT_STRING, cpu)
#define OPT_DEBUG                                                                  \
	OPT("debug", 0, "PASSES", "what cfg,freq,blame do with it goes to stderr", \
	    OPT_STRING, debug)
#define OPTS_EXPLAIN OPT_CPU, OPT_DEBUG

/*
 * A whole command: selection, listing and explainer for fn, which returns 0 or a
 * negative error that is logged but for -ENOMEM. The exit status. Without an event that
 * measures time all frequencies are 0.
 */
int explainer_run(const struct cmd_context *ctx, int (*fn)(struct explainer *x));

/* What explanations of one epoch after the other have in common. Starts as { 0 }. */
struct explainer_kept {
	struct image_cache *images;
	struct isa *isa; /* of machine */
	enum machine machine;
};

/* Of a selection, which is to outlive it. 0, -ENODATA (logged) or -ENOMEM. */
int explainer_keep(const struct cmd_context *ctx, const struct selection *sel,
		   struct explainer_kept *out);
void explainer_drop(struct explainer_kept *kept);

/*
 * An explainer for fn, of one of the selection's epochs; fn is not called for one that
 * has no samples. fn's error, or one that is logged but for -ENOMEM.
 */
int explainer_run_epoch(const struct cmd_context *ctx, const struct selection *sel,
			const struct query_epoch *epoch, struct explainer_kept *kept,
			int (*fn)(struct explainer *x));

/* Logs that no event measures time: -CPI_EEMPTY; else 0. */
int explainer_needs_time(const struct explainer *x);

/*
 * Explains l->place, which list_find() found. *out is x's, until the next call. Where
 * there is no explanation (e is NULL), state and err say why. Errors are logged.
 */
int explainer_place(struct explainer *x, const struct explanation **out);

/* The same, but it is an error, and logged, when there is none. */
int explainer_require(struct explainer *x, const struct explanation **out);

/*
 * Explains each procedure of the selection that has samples of time, and calls fn for
 * it, and for all samples elsewhere, by image. fn's non-zero return ends it and is
 * returned; other errors are logged.
 */
typedef int (*explain_fn)(void *ctx, const struct explanation *ex);
int explainer_each(struct explainer *x, explain_fn fn, void *ctx);

/*
 * Where jumps of the newest explanation's image were seen to go inside it: by branch
 * stacks, or else by windows. *out is x's, until the next image; NULL: by neither. 0 or
 * -ENOMEM.
 */
int explainer_branches(struct explainer *x, struct edges **out);

/* Calls fn for each offset of the newest explanation that is at no instruction. */
typedef int (*explain_stray_fn)(void *ctx, uint64_t offset, double samples);
int explainer_each_stray(const struct explainer *x, explain_stray_fn fn, void *ctx);

/* Samples of each event at an image offset of the newest explanation's image. */
void explainer_tally(const struct explainer *x, uint64_t offset, struct tally *tally);

/* Whose the time is, as the option or the newest image's samples say: "tip", … */
const char *explainer_attribution(const struct explainer *x);

/* The weight that a sample of one stream has, in the image that is loaded; 0: none. */
double explainer_unit(const struct explainer *x, size_t stream);

/* Of one stream: what n samples are in the first stream's; 0 when it is no time. */
double explainer_amount(const struct explainer *x, size_t stream, uint64_t n);

/* Samples of the selection that have no image, in the same unit. */
double explainer_unknown(const struct explainer *x);

/* What frequencies are from, other than samples of time: a line, or a JSON member. */
void explained_print_source(const struct explained *e);
void explained_json_source(const struct explained *e, struct json *j);

/* What a sample is worth, on which CPU: lines of text, or members of JSON. */
void explainer_print_unit(const struct explainer *x);
void explainer_json_unit(const struct explainer *x, struct json *j);

/* The instruction that begins at an image offset; -1: none does. */
int explained_insn_at(const struct explained *e, uint64_t offset);

/* The i-th instruction in words; a jump's target has its name. out keeps them. */
const char *explainer_text(const struct explainer *x, const struct explanation *ex,
			   int i, struct buf *out);

/* Why there is no explanation, for people. */
const char *explanation_why_not(const struct explanation *ex);

/*
 * For explaining_each.c: adds a procedure of the image that is loaded to x->calls,
 * where there are windows. Once callgraph_solve() was called, explanations have their
 * scale from there. 0 or -ENOMEM.
 */
int explainer_add_calls(struct explainer *x, struct image *im,
			const struct symbol *procedure);

/*
 * For explaining_each.c: adds a row's samples to its image's, forgets the image, says
 * whether its samples wait for interrupts, and explains one of its procedures.
 */
int explainer_load(struct explainer *x, const struct query_profile *q);
void explainer_unload(struct explainer *x);
bool explainer_is_deferred(const struct explainer *x);
int explainer_explain(struct explainer *x, struct image *im,
		      const struct symbol *procedure, struct explained **out);

#endif
