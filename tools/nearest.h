/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nearest.h - which known word did a mistyped one mean?
 */
#ifndef CPI_TOOLS_NEAREST_H
#define CPI_TOOLS_NEAREST_H

struct nearest {
	const char *word;
	const char *best; /* NULL while nothing is near enough */
	unsigned int distance;
};

struct nearest nearest_init(const char *word);
void nearest_try(struct nearest *n, const char *candidate);

#endif
