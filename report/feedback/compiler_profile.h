/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compiler_profile.h - the frequencies of one program, for compilers
 *
 * Each procedure of the selected image is explained, as in cpi calc. Several builds
 * with the same name are explained separately. Their counts are added by function and
 * line; formats that use addresses need one build.
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
	double samples;   /* samples of time, in samples of the first stream */
	double explained; /* the part of them in procedures with code */
	int err;          /* of a procedure that was not explained; or 0 */
};

/* The expected error of a procedure's frequencies. */
struct compiler_profile_function {
	char *name;
	double samples;
	double work; /* instructions executed, and its 90 % interval */
	struct freq_interval range;
	double miss;    /* expected share of work that is at wrong blocks */
	double chance;  /* the part of miss that is sampling error */
	int nr_classes; /* equivalence classes of blocks that ran */
};

struct compiler_profile {
	struct explainer *x;
	const char *to_path; /* --to: the build that gets the counts; or NULL */
	bool plain;          /* argument of feedback_new() */
	bool by_address;     /* the format uses addresses, not lines */
	struct compiler_profile_build *build;
	size_t nr_builds;
	struct buf functions;  /* struct compiler_profile_function */
	int nr_retired;        /* procedures with samples of retired instructions */
	struct traffic one;    /* of the current procedure */
	struct feedback *tree; /* Σ over all builds */
	struct feedback_function *const *function; /* functions of tree, in order */
	size_t nr_functions;
	double scale;     /* counts per execution */
	struct image *to; /* of to_path; or NULL */
	struct elfid to_id;
	/* For formats that use addresses: of the chosen build. */
	struct image *im; /* belongs to the cache */
	const struct traffic *traffic;
};

/*
 * Gathers the selection, which must have only one program; several builds are allowed.
 * The caller sets to_path, plain and by_address, and zeroes the rest; it closes f also
 * after an error. Returns 0 or an error, which is logged except for -ENOMEM.
 */
int compiler_profile_gather(struct compiler_profile *f, struct explainer *x);

/* Adds the builds, and sorts the functions. Errors as above. */
int compiler_profile_finish(struct compiler_profile *f);
void compiler_profile_close(struct compiler_profile *f);

const struct compiler_profile_function *
compiler_profile_functions(const struct compiler_profile *f, size_t *nr);

/* Opens the file of --to. Errors are logged. */
int compiler_profile_open_to(struct compiler_profile *f);

/* Carries the counts over to the build of --to; logs what is lost because lines are
 * gone. */
int compiler_profile_carry(struct compiler_profile *f);

/* Returns 0; or -CPI_EEMPTY (logged) if no count could be matched to a function. */
int compiler_profile_need_functions(const struct compiler_profile *f);

/* The number of samples, and how many more are needed; 0: there are enough. */
struct compiler_profile_need {
	double samples, missing;
};

struct compiler_profile_need compiler_profile_need(const struct compiler_profile *f);

/* Warns of each problem of the profile, and says how to solve it. */
void compiler_profile_warn(const struct compiler_profile *f);
void compiler_profile_warn_sources(const struct compiler_profile *f);

/* The result of cpi export --check. */
struct compiler_profile_check {
	struct compiler_profile_function
		*fn; /* first those that more samples improve most */
	size_t nr;
	double work;    /* Σ work */
	double miss;    /* the part of work that is expected at wrong blocks */
	double unknown; /* the part in functions whose scale is unknown */
};

/*
 * Whether the scale of a function's executions is known. If not, its counts can only be
 * compared with each other, not with those of other functions.
 */
bool compiler_profile_scale_known(const struct compiler_profile_function *fn);

/* Returns the share of work in functions of unknown scale; 0 without work. */
double compiler_profile_unknown(const struct compiler_profile *f);

int compiler_profile_check(const struct compiler_profile *f,
			   struct compiler_profile_check *out); /* or -ENOMEM */
void compiler_profile_check_fini(
	struct compiler_profile_check *c); /* names belong to f */

/* Returns how many more samples the function needs for the wanted error. */
double compiler_profile_samples_missing(const struct compiler_profile_function *fn);

/* Returns how much work more samples would move to the right blocks. */
double compiler_profile_gain(const struct compiler_profile_function *fn);

/*
 * Chooses the build for formats that use addresses: the only one, or the one that is
 * the file of --to. Errors are logged.
 */
int compiler_profile_choose(struct compiler_profile *f);

#endif
