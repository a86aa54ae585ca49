/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * did_you_mean.h - finds the known word that a mistyped word probably means
 */
#ifndef CPI_DID_YOU_MEAN_H
#define CPI_DID_YOU_MEAN_H

struct did_you_mean {
	const char *word;
	const char *best; /* NULL while nothing is near enough */
	unsigned int distance;
};

struct did_you_mean did_you_mean_init(const char *word);
void did_you_mean_try(struct did_you_mean *n, const char *candidate);

#endif
