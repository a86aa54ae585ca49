/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare_parts.h - the scatter of a row among the parts of a run, from sums
 *
 * T, the whole time, is known for each part. Of a row only the sums Σx, Σx² and ΣxT
 * over all parts are known.
 */
#ifndef CPI_ANALYSIS_COMPARE_PARTS_H
#define CPI_ANALYSIS_COMPARE_PARTS_H

/* Starts as { 0 }. */
struct compare_parts {
	double time, squares, cubes; /* ΣT, ΣT², ΣT³ */
};

struct compare_sums {
	double time, squares, cross; /* Σx, Σx², ΣxT */
};

/* Adds a part; a part without time is ignored. */
void compare_parts_add(struct compare_parts *p, double time);

/* The values of squares and cubes in struct compare_run; 1 without parts. */
double compare_parts_squares(const struct compare_parts *p);
double compare_parts_cubes(const struct compare_parts *p);

/* Σ ((x - pT) / Σx)², p = Σx/ΣT; NAN if the sums are impossible. */
double compare_parts_within(const struct compare_parts *p,
			    const struct compare_sums *s);

#endif
