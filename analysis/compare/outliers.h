/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outliers.h - members of a group that differ from their peers by more than chance
 *
 * Each row has a value for each member, such as the logarithm of a procedure's share on
 * each machine, and the variance that sampling alone gives it. Members also differ
 * without sampling error, and the peers of a member show by how much: the variance
 * between them comes from a random-effects model (Paule and Mandel, J. Res. NBS
 * 87:377), without the member itself. The distance of the member from the weighted mean
 * of its peers, over the standard error of one more member, follows Student's t; its
 * degrees of freedom are the number of peers minus one. The false discovery rate is
 * bounded over all rows and members (Benjamini and Hochberg).
 *
 * A second outlier among the peers would hide the first one. So the suspects of a row
 * (far from its median, measured by the median deviation) are removed one by one, the
 * farthest first. If a removed one is far from the members that are left, as in
 * Rosner's test (Technometrics 25:165) but at Bonferroni's level over all rows and
 * members, then it and all that were removed before it do not count as peers of others.
 * Then all members are tested. At most half of a group is removed.
 */
#ifndef CPI_ANALYSIS_OUTLIERS_H
#define CPI_ANALYSIS_OUTLIERS_H

#include <stdbool.h>
#include <stddef.h>

#define OUTLIERS_MIN_PEERS 4

struct outlier_value {
	double y;        /* NAN: no value; it is not tested, and not a peer of others */
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
