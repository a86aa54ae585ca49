/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * operand_values.c - values of operands, and what a test for the most frequent one
 * saves
 */
#include "config.h"

#include "analysis/values/operand_values.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"

#define Z_90      1.645
#define WORTHY    0.5  /* suggest a value if its share is at least this (low end) */
#define SAME      0.98 /* ... a test for repeated values of a load */
#define WIDE      3    /* log2 of the bytes of a wide division */
#define MANY_BITS 31   /* of a dividend for a narrower division, signed or not */

/*
 * Windows count 0 to 4 times (daemon/windows/startweights.h). In simulations, n of them
 * said as much as at least 0.77 n windows that count once.
 */
#define EQUAL 0.7

static struct interval share_of(const struct operands_site *s, uint64_t k)
{
	const double windows = EQUAL * (double)s->windows, n = (double)s->known;

	return interval_share_at(n > 0 ? (double)k / n * windows : 0, windows, Z_90);
}

static int by_frequency(const void *a, const void *b)
{
	const struct operand_value *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return (x->value > y->value) - (x->value < y->value);
}

/* Executions with a value of this class that is not in the list. */
static uint64_t unlisted_of(const struct operands_site *s, enum operand_class class)
{
	uint64_t n = s->class[class];

	for (uint32_t i = 0; i < s->nr; i++) {
		if (operands_class(s->value[i].value) == class)
			n -= s->value[i].n < n ? s->value[i].n : n;
	}
	return n;
}

/* At least n executions, and rest more at most. */
static struct interval share_between(const struct operands_site *s, uint64_t n,
				     uint64_t rest)
{
	struct interval share = share_of(s, n);

	share.high = share_of(s, n + rest).high;
	return share;
}

/*
 * Each flush leaves out the values that it has in too few windows, but counts their
 * classes. So executions of a class that are in no list may have any value of it, but
 * of each value only so many as the flushes say (I6 of operands.h).
 */
static struct operand_value estimate(const struct operands_site *from,
				     const struct operands_value *v)
{
	const uint64_t unlisted = unlisted_of(from, operands_class(v->value));
	const uint64_t rest =
		v->value && from->missed < unlisted ? from->missed : unlisted;
	const uint64_t n = v->value ? v->n : v->n + rest; /* a class of its own */

	return (struct operand_value){ .value = v->value,
				       .n = v->n,
				       .windows = v->windows,
				       .share = share_between(from, n, v->n + rest - n),
				       .most = share_of(from, v->n + rest).value };
}

static int set_values(struct operand_site *s, struct arena *arena)
{
	const struct operands_site *from = s->from;

	s->value = arena_alloc(arena, (from->nr + 1) * sizeof(*s->value));
	if (!s->value)
		return -ENOMEM;
	s->nr = from->nr;
	for (uint32_t i = 0; i < from->nr; i++)
		s->value[i] = estimate(from, &from->value[i]);
	qsort(s->value, s->nr, sizeof(*s->value), by_frequency);
	for (int i = 0; i < OPERAND_NR_CLASSES; i++)
		s->class[i] = share_of(from, from->class[i]);
	for (int i = 0; i < OPERAND_NR_CLASSES; i++)
		s->unlisted += unlisted_of(from, (enum operand_class)i);
	s->same = share_of(from, from->same);
	return 0;
}

/* The share of the dividends that a narrower division can take. */
static struct interval narrow_share(const struct operands_site *s)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->nr; i++) {
		if (s->value[i].value <= MANY_BITS)
			n += s->value[i].n;
	}
	return share_between(
		s, n, unlisted_of(s, OPERAND_ZERO) + unlisted_of(s, OPERAND_SMALL));
}

/* The share of the executions that a test would be for; 0: no test is suggested. */
static struct interval tested_share(const struct operand_site *s)
{
	const struct interval none = { 0 };

	switch ((enum operand_kind)s->from->kind) {
	case OPERAND_DIVISOR:
	case OPERAND_MULTIPLIER:
	case OPERAND_MULTIPLICAND:
	case OPERAND_SHIFT:
	case OPERAND_SIZE:
		return s->nr ? s->value[0].share : none;
	case OPERAND_DIVIDEND:
		return s->from->size < WIDE ? none : narrow_share(s->from);
	case OPERAND_LOADED:
		return s->same.low >= SAME ? s->same : none;
	default: /* compares are predicted */
		return none;
	}
}

/* The instruction at an image offset, or -1. */
static int insn_at(const struct cfg *cfg, uint64_t offset)
{
	const size_t nr = (size_t)cfg->nr_insns;
	const size_t i = SEARCH(k, nr, cfg->insn[k].address - cfg->bias >= offset);

	return i < nr && cfg->insn[i].address - cfg->bias == offset ? (int)i : -1;
}

int operand_values_find(const struct cfg *cfg, const struct operands *set,
			uint32_t image, const double *stalls, struct arena *arena,
			struct operand_sites *out)
{
	size_t nr;
	const struct operands_site *const *from = operands_sites(set, &nr);
	int err = 0;

	*out = (struct operand_sites){ 0 };
	out->site = arena_alloc(arena, (nr + 1) * sizeof(*out->site));
	if (!out->site)
		return -ENOMEM;
	for (size_t i = 0; i < nr && !err; i++) {
		struct operand_site s = { .from = from[i] };
		struct interval tested = { 0 };

		if (from[i]->image != image)
			continue;
		s.insn = insn_at(cfg, from[i]->offset);
		if (s.insn < 0)
			continue;
		err = set_values(&s, arena);
		s.stalls = stalls ? stalls[s.insn] : NAN;
		if (!err)
			tested = tested_share(&s);
		if (tested.low >= WORTHY && s.stalls > 0)
			s.saves = tested.high * s.stalls;
		out->site[out->nr++] = s;
	}
	return err;
}
