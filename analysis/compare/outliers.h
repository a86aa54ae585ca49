/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outliers.h - members of a group that differ from their peers by more than chance
 *
 * Each row has a value of each member, such as the logarithm of a procedure's share on
 * each machine, and the variance that sampling alone gives it. Members differ from each
 * other even if nothing is wrong. So a member's peers tell how much: the variance
 * between them is that of a random-effects model (Paule and Mandel, J. Res. NBS
 * 87:377), without the member itself. Its distance from their weighted mean, over the
 * standard error of a further member, follows Student's t with one degree of freedom
 * less than there are peers. False discoveries are bounded over all rows and members
 * (Benjamini and Hochberg).
 *
 * A second outlier among the peers would hide the first one. So the suspects of a row,
 * which are far from its median by the median deviation, are taken away one by one, the
 * farthest first. Each time that one is far from those that are left, as in Rosner's
 * test (Technometrics 25:165) but at Bonferroni's level over all rows and members, it
 * and those before it are no peers of the others. Then all are tested. At most half of
 * a group is taken away.
 */
#ifndef CPI_ANALYSIS_OUTLIERS_H
#define CPI_ANALYSIS_OUTLIERS_H

#include <stdbool.h>
#include <stddef.h>

#define OUTLIERS_MIN_PEERS 4

struct outlier_value {
	double y;        /* NAN: none; then it is no peer, and is not tested */
	double variance; /* of sampling; above 0 */
};

struct outlier_input {
	const struct outlier_value *value; /* by row, then by member */
	size_t nr_rows, nr_members;
	const size_t *group; /* by member; only members of one group are peers */
	double rate;         /* of false discoveries */
};

struct outlier {
	double peers;     /* their weighted mean; NAN: not tested */
	double deviation; /* their standard deviation beyond sampling */
	double p, q;      /* NAN: not tested */
	bool found;
};

/* Tests all. out is by row, then by member. 0 or -ENOMEM. */
int outliers_find(const struct outlier_input *in, struct outlier *out);

#endif
