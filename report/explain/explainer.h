/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explainer.h - an analysis run: explains the procedures of a selection
 *
 * Chooses the input for analysis/explain/explain.h: the streams of the event that
 * measures time, the events that are evidence for a reason, and the CPU. All procedures
 * have the same unit: samples of the first of those streams.
 *
 * I1  Every sample of a selected image is in exactly one explanation:
 *     Σ explanations' samples = the stored time without idle.
 */
#ifndef CPI_REPORT_EXPLAINER_H
#define CPI_REPORT_EXPLAINER_H

#include "analysis/explain/explain.h"
#include "report/explain/place.h"
#include "report/explain/scope.h"

/* How the samples were explained, or why not. */
enum explain_state {
	EXPLAIN_DONE,
	EXPLAIN_DEFERRED,     /* the kernel, where interrupts may be masked */
	EXPLAIN_NO_CODE,      /* err says why */
	EXPLAIN_NO_PROCEDURE, /* no symbol covers the samples */
	EXPLAIN_NO_IMAGE,     /* err says why it cannot be opened */
	EXPLAIN_FEW_SAMPLES,  /* explainer_leave_out() */
	EXPLAIN_NR_STATES
};

struct explanation {
	const struct query_image *image;
	struct image *im;            /* NULL if it cannot be opened */
	const struct symbol *symbol; /* NULL without procedure or image */
	enum explain_state state;
	int err;
	const struct explained *e; /* NULL unless done, or deferred but analysed */
	double samples;            /* of time */
	double stray; /* those of them at no instruction of the procedure */
};

/* An analysis run over a scope. */
struct explainer;

/*
 * Opens the request's selection; req must outlive the run. 0, or an error, which is
 * logged unless it is -ENOMEM. Without an event that measures time all frequencies are
 * 0.
 */
int explainer_open(const struct explain_request *req, struct explainer **out);
void explainer_close(struct explainer *x); /* accepts NULL */

/* State that the analysis runs of several epochs share. Starts as { 0 }. */
struct explainer_kept {
	struct image_cache *images;
	struct isa *isa; /* of machine */
	enum machine machine;
	struct callsfile *calls_file; /* NULL: not open yet */
};

/*
 * Opens *out for a selection, which must outlive it. 0, -ENODATA (logged) or -ENOMEM.
 */
int explainer_keep(const struct select_request *req, const struct selection *sel,
		   struct explainer_kept *out);
void explainer_drop(struct explainer_kept *kept);

/*
 * An explainer of one of the selection's epochs; *out is NULL if the epoch has no
 * samples. All arguments must outlive it. Errors as in explainer_open().
 */
int explainer_open_epoch(const struct explain_request *req, const struct selection *sel,
			 const struct query_epoch *epoch, struct explainer_kept *kept,
			 struct explainer **out);

struct scope *explainer_scope(const struct explainer *x); /* the explainer's */

/*
 * Whether pairs of samples are left out as evidence of speed, because contexts are
 * selected: pairs are kept only for all contexts together.
 */
bool explainer_lacks_pairs(const struct explainer *x);

/* Whether a procedure has enough samples; samples is their number, of time. */
typedef bool (*explain_enough_fn)(void *ctx, const struct query_image *image,
				  const struct symbol *symbol, double samples);

/*
 * Makes explainer_each() leave out procedures for which enough() is false and, if
 * deferred is set, deferred samples of the kernel.
 */
void explainer_leave_out(struct explainer *x, explain_enough_fn enough, void *ctx,
			 bool deferred);

/*
 * Explains a place that place_find() found. *out belongs to x and is valid until the
 * next call. If there is no explanation (e is NULL), state and err say why. Errors are
 * logged, except -ENOMEM.
 */
int explainer_place(struct explainer *x, const struct found_place *place,
		    const struct explanation **out);

/* The same, but a missing explanation is an error, which is logged. */
int explainer_require(struct explainer *x, const struct found_place *place,
		      const struct explanation **out);

/* The same; a selection without windows is an error, too: -CPI_EEMPTY. */
int explainer_require_windows(struct explainer *x, const struct found_place *place,
			      const struct explanation **out);

/*
 * Explains each procedure of the selection that has samples of time, and calls fn for
 * it. Also calls fn once for each image that has samples outside procedures. If fn
 * returns non-zero, that ends the walk and is returned; other errors are logged.
 */
typedef int (*explain_fn)(void *ctx, const struct explanation *ex);
int explainer_each(struct explainer *x, explain_fn fn, void *ctx);

/*
 * The same in parallel processes (report/workers/workers.h), one or more images in
 * each. fn() runs there, and gathers in ctx. put() appends what was gathered of an
 * image to out, and forgets it; take() adds that to the whole, in this process, always
 * in the same order. If fn() prints, the result is what it prints, put() only flushes
 * it, and take() prints it; a positive number from these two ends the walk and is
 * returned. Where a process dies or cannot return its results, that is logged, and its
 * images are explained once more; an image whose analysis dies again has explanations
 * with -EOWNERDEAD.
 */
struct explain_parts {
	explain_fn fn;
	int (*put)(void *ctx, struct buf *out);
	int (*take)(void *ctx, const uint8_t *data, size_t size);
	bool prints;
};

int explainer_each_part(struct explainer *x, const struct explain_parts *how,
			void *ctx);

/*
 * Loads one image's samples, to explain several of its procedures from the same
 * samples. *out is NULL if the image has no samples, is deferred, or cannot be opened.
 * 0, or an error, which is logged unless it is -ENOMEM.
 */
int explainer_load_image(struct explainer *x, int64_t image, struct image **out);
int explainer_explain(struct explainer *x, struct image *im,
		      const struct symbol *procedure, struct explained **out);

/* A stream's samples of the loaded image; or NULL. */
struct profile *explainer_profile(const struct explainer *x, size_t stream);

/* The decoder of the image that was explained last; or NULL. */
struct isa *explainer_isa(const struct explainer *x);

/*
 * Observed jumps within the newest explanation's image: from branch stacks, or else
 * from windows; *out is NULL if there are neither. *out belongs to x and is valid until
 * the next image. 0 or -ENOMEM.
 */
int explainer_branches(struct explainer *x, struct edges **out);

/* Calls fn for each sampled offset of the newest explanation that is at no instruction.
 */
typedef int (*explain_stray_fn)(void *ctx, uint64_t offset, double samples);
int explainer_each_stray(const struct explainer *x, explain_stray_fn fn, void *ctx);

/* Samples of each event at an image offset of the newest explanation's image. */
void explainer_tally(const struct explainer *x, uint64_t offset,
		     struct event_sum *tally);

/*
 * Returns the name of the attribution that was requested; for auto, of the one that was
 * used for the newest image: "tip", …
 */
const char *explainer_attribution(const struct explainer *x);

/* The index of the instruction that begins at an image offset; -1: there is none. */
int explained_insn_at(const struct explained *e, uint64_t offset);

/* The text of the i-th instruction, with the name of a jump's target; kept in out. */
const char *explainer_text(const struct explainer *x, const struct explanation *ex,
			   int i, struct buf *out);

/* A text that says why there is no explanation. */
const char *explanation_why_not(const struct explanation *ex);

#endif
