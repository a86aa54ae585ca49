/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * feeding.h - what compilers are fed with: the frequencies of one program
 *
 * Explains each procedure of the selected image, as cpi calc does. Builds of it that
 * have the same name are told apart, and added up where that makes sense: by functions
 * and lines, not by addresses.
 */
#ifndef CPI_TOOLS_FEEDING_H
#define CPI_TOOLS_FEEDING_H

#include "analysis/feedback.h"
#include "daemon/elfid.h"
#include "tools/explaining.h"

/* One build of the program. */
struct feeding_build {
	struct query_image image; /* name owned */
	struct feedback *tree;
	struct traffic traffic;
	double samples;   /* of time, in the first stream's; and of these */
	double explained; /* what procedures with code have */
	double deferred;
	int err; /* why others cannot be, one of them */
};

/* How good a procedure's frequencies are expected to be. */
struct feeding_function {
	char *name;
	double samples;
	double work;    /* instructions executed */
	double miss;    /* share of work that is expected elsewhere, by the marks */
	double chance;  /* the same, by the chance of samples alone */
	int nr_classes; /* of blocks, that ran */
};

struct feeding {
	struct explainer *x;
	bool plain;      /* for feedback_new() */
	bool by_address; /* lines do not matter */
	struct feeding_build *build;
	size_t nr_builds, cap_builds;
	struct buf functions;  /* struct feeding_function */
	int nr_retired;        /* from samples of instructions */
	int nr_over, nr_under; /* of their blocks, as freq_nr_biased() has them */
	struct traffic one;    /* of the newest procedure */
	struct feedback *tree; /* of all builds */
	struct feedback_function *const *function; /* the tree's, in order */
	size_t nr_functions;
	double scale;     /* from executions to counts */
	struct image *to; /* of --to; or NULL */
	struct elfid to_id;
	/* For formats of addresses: a build's, once it is chosen. */
	struct image *im; /* the cache's */
	const struct traffic *traffic;
};

/*
 * Gathers all of the selection, whose image must be one, but for builds. f is { 0 } but
 * for plain and by_address, and to be closed in any case. 0, or an error that is logged
 * but for -ENOMEM.
 */
int feeding_gather(struct feeding *f, struct explainer *x);

/* Adds up the builds, and puts functions in order. The same about errors. */
int feeding_finish(struct feeding *f);
void feeding_close(struct feeding *f);

const struct feeding_function *feeding_functions(const struct feeding *f, size_t *nr);

/* Opens what --to names. Errors are logged. */
int feeding_open_to(struct feeding *f);

/* Leaves out of the tree what it has no lines for, and says what that is. */
int feeding_carry(struct feeding *f);

/* Logs that nothing could be matched to a function: -CPI_EEMPTY; else 0. */
int feeding_need_functions(const struct feeding *f);

/* Samples of procedures, and how many more would make chance harmless, or 0. */
struct feeding_need {
	double samples, missing;
};

struct feeding_need feeding_need(const struct feeding *f);

/* Warns of what makes the profile worse than it could be, and how to mend it. */
void feeding_warn(const struct feeding *f);
void feeding_warn_sources(const struct feeding *f);

/* The report of --check, to stdout. 0 or -ENOMEM. */
int feeding_report(const struct feeding *f);

/*
 * Chooses the one build that formats of addresses are of: of several the one that is
 * the file of --to. Errors are logged.
 */
int feeding_choose(struct feeding *f);

/* Writers, to stdout: 0, or an error that is logged but for -ENOMEM. */
int export_llvm_sample(const struct feeding *f);
int export_llvm_binary(const struct feeding *f);
int export_llvm_unsymbolized(const struct feeding *f);
int export_gcov(const struct feeding *f);
int export_bolt(const struct feeding *f);

#endif
