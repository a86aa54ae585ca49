/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explainer_private.h - an analysis run, for the files of this room
 */
#ifndef CPI_REPORT_EXPLAINER_PRIVATE_H
#define CPI_REPORT_EXPLAINER_PRIVATE_H

#include "analysis/explain/callgraph.h"
#include "report/cache/callsfile.h"
#include "report/explain/explainer.h"
#include "report/explain/selected_accesses.h"
#include "report/explain/selected_windows.h"

/* Samples of one stream at one offset. */
struct explain_sample {
	struct count count;
	size_t stream; /* index in the selection */
	int weight;    /* the enum weight of count; -1: samples */
	double amount; /* of time, in the first stream's samples */
	const struct symbol *owner;
	size_t turn; /* of the explanation that used it; 0: none yet */
	bool stray;
};

struct explainer {
	struct scope *scope;
	struct explainer_kept *kept; /* NULL unless the scope is one epoch of several */
	explain_enough_fn enough;    /* NULL: explain all procedures */
	void *enough_ctx;
	bool leaves_out_deferred;
	struct isa *isa; /* set when the first image is explained; of machine */
	enum machine machine;
	struct arena arena; /* the explanation's */
	struct explain_stream *streams;
	struct explain_event *events, *retired;
	const struct profile **records; /* those of profile that have any */
	struct profile **profile;       /* by stream of the selection: of the image */
	/*
	 * With ticks: profile, split into procedures whose ticks are biased and others.
	 * Else NULL.
	 */
	struct profile **alone, **agreed;
	bool is_split;
	struct profile *none; /* where nothing measures time */
	/* Branches and straight runs in image edges_of, by kind; NULL without any. */
	struct edges *edges[EDGES_NR_KINDS];
	int64_t edges_of;
	struct query_streams window_streams;
	struct selected_windows *windows; /* NULL: no windows, or not looked for yet */
	struct selected_accesses *accesses; /* likewise */
	bool looked_for_windows;
	struct callgraph *calls;      /* of the image, if it has windows; or NULL */
	struct callsfile *calls_file; /* NULL: not open yet */
	struct query_image image;     /* the loaded image; name is owned */
	struct buf samples; /* struct explain_sample of the image, ascending */
	size_t turn;        /* of the newest explanation */
	struct explanation found;
};

/* An image whose samples are listed, to be explained later or in another process. */
struct explain_loaded {
	struct query_image image; /* name is owned */
	struct image *im;         /* NULL: cannot be opened (why) */
	int why;
	bool wanted;   /* a procedure of it is worth an analysis */
	uint64_t work; /* bytes of code of such procedures */
	struct buf samples, busy;
	struct profile **profile;
	struct edges *edges[EDGES_NR_KINDS];
};

/* Takes an image over, or explains it at once; *l is empty then. 0 or an error. */
typedef int (*explain_loaded_fn)(void *ctx, struct explain_loaded *l);

/*
 * Hands each image of the selection to fn, when it is loaded and nothing of it is left
 * in x. only: the image with this id; 0: all.
 */
int explainer_each_loaded(struct explainer *x, int64_t only, explain_loaded_fn fn,
			  void *ctx);

/*
 * Explains an image, and frees it. With failed, explains nothing: all of its procedures
 * get this error.
 */
int explainer_explain_loaded(struct explainer *x, struct explain_loaded *l, int failed,
			     explain_fn fn, void *ctx);
void explainer_drop_loaded(const struct explainer *x, struct explain_loaded *l);

/* Whether one of an image's profiles, by stream, has weights (cyclestack.h). */
bool explainer_has_weights(const struct explainer *x, struct profile *const *profile);

/* Adds a row's samples to the loaded image; unloads the image. */
int explainer_load(struct explainer *x, const struct query_profile *q);
void explainer_unload(struct explainer *x);

/*
 * Loads the windows of the selection, and the edges of the loaded image, once. If a
 * context is selected, there are no edges: they are not kept by context. 0 or a
 * negative error.
 */
int explainer_load_edges(struct explainer *x);

/* Returns how samples in the loaded image's procedure count; owner may be NULL. */
struct evidence_use explainer_use(const struct explainer *x,
				  const struct symbol *owner);

/* If there are ticks, adds streams of time to in. Returns 0 or -ENOMEM. */
int explainer_add_split(struct explainer *x, struct image *im,
			struct explain_input *in);

/* Discards the split profiles; call it before the image's profiles change. */
void explainer_unsplit(struct explainer *x);

/* Whether the samples of the image are deferred (see explainer.c). */
bool explainer_is_deferred(const struct explainer *x);

/*
 * If there are windows, adds a procedure of the loaded image to x->calls. After
 * callgraph_solve() explanations take their scale from there. 0 or -ENOMEM.
 */
int explainer_add_calls(struct explainer *x, struct image *im,
			const struct symbol *procedure);

/*
 * Makes a key of what the calls of the loaded image are computed from, but for the list
 * of procedures. -ENOENT if something of it has no identity; or another error.
 */
int explainer_calls_key(struct explainer *x, struct image *im, struct calls_key *out);

/* Adds a row of pairs of samples, as query_edges() reads it, to x->edges. 0 or -errno.
 */
int explainer_take_pace(struct explainer *x, const struct query_edges *q);

/*
 * Adds what pairs say of how often the procedure's code ran. in has its streams, and
 * the arena is that of the explanation. 0 or -ENOMEM.
 */
int explainer_add_pace(struct explainer *x, const struct symbol *procedure,
		       struct explain_input *in);

/* The weight of a sample of one stream in the loaded image; 0: it has no weights. */
double explainer_unit(const struct explainer *x, size_t stream);

#endif
