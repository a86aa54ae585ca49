/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compiler_profile.h - the frequencies of one program, as compilers read them
 *
 * Explains each procedure of the selected image, as cpi calc does. Builds of it that
 * have the same name are told apart, and added up where that makes sense: by functions
 * and lines, not by addresses.
 */
#ifndef CPI_REPORT_COMPILER_PROFILE_H
#define CPI_REPORT_COMPILER_PROFILE_H

#include "analysis/feedback/feedback.h"
#include "decode/elfid.h"
#include "report/explain/explainer.h"

/* One build of the program. */
struct compiler_profile_build {
	struct query_image image; /* name owned */
	struct feedback *tree;
	struct traffic traffic;
	double samples;   /* of time, in the first stream's; and of these */
	double explained; /* what procedures with code have */
	int err;          /* why others cannot be, one of them */
};

/* How good a procedure's frequencies are expected to be. */
struct compiler_profile_function {
	char *name;
	double samples;
	double work; /* instructions executed, and its 90 % interval */
	struct freq_interval range;
	double miss;    /* share of work that is expected elsewhere, by the marks */
	double chance;  /* the same, by the chance of samples alone */
	int nr_classes; /* of blocks, that ran */
};

struct compiler_profile {
	struct explainer *x;
	const char *to_path; /* a newer build's file that counts are for; or NULL */
	bool plain;          /* for feedback_new() */
	bool by_address;     /* lines do not matter */
	struct compiler_profile_build *build;
	size_t nr_builds;
	struct buf functions;  /* struct compiler_profile_function */
	int nr_retired;        /* from samples of instructions */
	struct traffic one;    /* of the newest procedure */
	struct feedback *tree; /* of all builds */
	struct feedback_function *const *function; /* the tree's, in order */
	size_t nr_functions;
	double scale;     /* from executions to counts */
	struct image *to; /* of to_path; or NULL */
	struct elfid to_id;
	/* For formats of addresses: a build's, once it is chosen. */
	struct image *im; /* the cache's */
	const struct traffic *traffic;
};

/*
 * Gathers all of the selection, whose image must be one, but for builds. f is { 0 } but
 * for to_path, plain and by_address, and to be closed in any case. 0, or an error that
 * is logged but for -ENOMEM.
 */
int compiler_profile_gather(struct compiler_profile *f, struct explainer *x);

/* Adds up the builds, and puts functions in order. The same about errors. */
int compiler_profile_finish(struct compiler_profile *f);
void compiler_profile_close(struct compiler_profile *f);

const struct compiler_profile_function *
compiler_profile_functions(const struct compiler_profile *f, size_t *nr);

/* Opens what --to names. Errors are logged. */
int compiler_profile_open_to(struct compiler_profile *f);

/* Leaves out of the tree what it has no lines for, and says what that is. */
int compiler_profile_carry(struct compiler_profile *f);

/* Logs that nothing could be matched to a function: -CPI_EEMPTY; else 0. */
int compiler_profile_need_functions(const struct compiler_profile *f);

/* Samples of procedures, and how many more would make chance harmless, or 0. */
struct compiler_profile_need {
	double samples, missing;
};

struct compiler_profile_need compiler_profile_need(const struct compiler_profile *f);

/* Warns of everything that makes the profile worse, and says how to improve it. */
void compiler_profile_warn(const struct compiler_profile *f);
void compiler_profile_warn_sources(const struct compiler_profile *f);

/* How good the profile is: cpi export --check. */
struct compiler_profile_check {
	struct compiler_profile_function
		*fn; /* those that more samples help most first */
	size_t nr;
	double work; /* of all of them, and how much of it is expected elsewhere */
	double miss;
	double unknown; /* of functions whose scale is unknown */
};

/*
 * Whether its executions can be compared with those of other functions: their scale is
 * known. If not, only the counts inside the function can be compared.
 */
bool compiler_profile_scale_known(const struct compiler_profile_function *fn);

/* The share of what ran that is in functions of unknown scale; 0 if nothing ran. */
double compiler_profile_unknown(const struct compiler_profile *f);

int compiler_profile_check(const struct compiler_profile *f,
			   struct compiler_profile_check *out);     /* or -ENOMEM */
void compiler_profile_check_fini(struct compiler_profile_check *c); /* names stay f's */

/* Samples of its own with which chance leaves it as right as wanted. */
double compiler_profile_samples_missing(const struct compiler_profile_function *fn);

/* How much of what ran more samples would mend. */
double compiler_profile_gain(const struct compiler_profile_function *fn);

/*
 * Chooses the one build that formats of addresses are of: of several the one that is
 * the file of --to. Errors are logged.
 */
int compiler_profile_choose(struct compiler_profile *f);

#endif
