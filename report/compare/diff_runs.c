/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_runs.c - makes one run of all epochs of a machine
 */
#include "config.h"

#include "report/compare/diff_runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare_names(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

int diff_runs_init(struct diff_runs *r, const struct query_epochs *epochs)
{
	r->host = calloc(epochs->nr + 1, sizeof(*r->host));
	if (!r->host)
		return -ENOMEM;
	for (size_t i = 0; i < epochs->nr; i++)
		r->host[i] = epochs->epoch[i].host;
	qsort(r->host, epochs->nr, sizeof(*r->host), compare_names);
	for (size_t i = 0; i < epochs->nr; i++) {
		if (!i || strcmp(r->host[i], r->host[r->nr_hosts - 1]) != 0)
			r->host[r->nr_hosts++] = r->host[i];
	}
	r->samples = calloc(r->nr_hosts + 1, sizeof(*r->samples));
	return r->samples ? 0 : -ENOMEM;
}

void diff_runs_fini(struct diff_runs *r)
{
	free(r->host);
	free(r->samples);
	memset(r, 0, sizeof(*r));
}

size_t diff_runs_add(struct diff_runs *r, const struct matrix_column *c,
		     struct compare_run *run)
{
	const char *const *found = bsearch(&c->epoch->host, r->host, r->nr_hosts,
					   sizeof(*r->host), compare_names);
	const size_t at = found ? (size_t)(found - r->host) : 0;
	const double added = c->total / c->sample, before = r->samples[at];

	run += at;
	run->side = c->side;
	run->squares = run->cubes = 1;
	run->seconds += c->seconds;
	/* The mean time of a sample, of all its samples. */
	if (before + added > 0)
		run->sample = (run->sample * before + c->total) / (before + added);
	else
		run->sample = c->sample;
	r->samples[at] = before + added;
	return at;
}
