/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_trace.c - any trace is read or refused; what is read adds up
 *
 * The first byte is the sampling interval.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/trace/trace.h"
#include "t/fuzz/fuzz.h"

#define PIECE 61

static void check_sums(const struct tip_result *r)
{
	double states = 0, oracle = 0, tip = 0;

	for (int i = 0; i < TIP_NR_STATES; i++)
		states += r->state[i];
	for (size_t i = 0; i < r->nr_rows; i++) {
		oracle += r->row[i].weight[TIP_BY_ORACLE];
		tip += r->row[i].weight[TIP_BY_TIP];
	}
	fuzz_check(fabs(states - r->cycles) <= 1e-6 * r->cycles);
	fuzz_check(fabs(oracle - r->cycles) <= 1e-6 * r->cycles);
	fuzz_check(fabs(tip - r->samples) <= 1e-6 * r->cycles);
}

static int feed(struct trace *tr, const uint8_t *data, size_t size)
{
	char piece[PIECE];
	int err = 0;

	for (size_t at = 0; at < size && !err; at += PIECE) {
		const size_t n = size - at < PIECE ? size - at : PIECE;

		memcpy(piece, data + at, n);
		err = trace_feed(tr, piece, n);
	}
	return err ? err : trace_end(tr);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tip_sampling sampling = { .interval = size ? 1 + data[0] : 1 };
	struct tip *t = tip_new(&sampling);
	struct trace *tr = NULL;
	struct tip_result r;

	if (!t)
		abort();
	if (size && !trace_new((const char *)data + 1, size - 1, t, &tr) &&
	    !feed(tr, data + 1, size - 1) && !tip_end(t, &r))
		check_sums(&r);
	trace_free(tr);
	tip_free(t);
	return 0;
}
