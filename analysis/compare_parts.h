/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare_parts.h - what sums tell of the parts that a run was added up from
 *
 * Of a part are known T, all its time; of a row, over all parts, Σx, Σx² and ΣxT alone.
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

/* A part; one without time is none. */
void compare_parts_add(struct compare_parts *p, double time);

/* Of a run, as compare.h wants them; 1 where it has no parts. */
double compare_parts_squares(const struct compare_parts *p);
double compare_parts_cubes(const struct compare_parts *p);

/* Σ ((x - pT) / Σx)², p = Σx/ΣT; NAN where the sums cannot be those of any row. */
double compare_parts_within(const struct compare_parts *p,
			    const struct compare_sums *s);

#endif
