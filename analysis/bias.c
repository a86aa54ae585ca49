/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table's cycles are typical of today's servers: what a stall takes that nothing
 * hides. Its weights are what a linear support vector regression of log(executions /
 * instructions sampled) on each event's share of the cycles found, the largest one
 * being 1. t/accuracy/events --learn makes them, from programs whose executions are
 * counted and whose events a simulated core tells; one that has the other sign when any
 * of these programs is left out is 0. Data misses are: out of order they overlap, and
 * stand as often behind the interrupt as before it. They still explain time.
 */
#include "config.h"

#include "analysis/bias.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const struct bias_event table[] = {
	{ "branch-misses", 16, 0.55, false },
	{ "L1-dcache-load-misses", 14, 0, false },
	{ "cache-misses", 166, 0, true },
	{ "dTLB-load-misses", 30, 1, false },
	{ "L1-icache-load-misses", 12, 0, false },
	{ "iTLB-load-misses", 30, 0, false },
};

const struct bias_event *bias_event(const char *name)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (!strcmp(table[i].name, name))
			return &table[i];
	}
	return NULL;
}

static void add_insn(const struct freq_input *in, int i, struct bias *s)
{
	const struct freq_events *events = in->events;

	s->insns++;
	s->cycles += in->samples[i] * in->period_cycles;
	s->cycles_var += in->samples[i] * in->period_cycles * in->period_cycles;
	s->retired += events->retired[i];
	s->retired_var += events->retired[i] * events->period;
	for (int k = 0; k < events->nr_stalls; k++) {
		const struct freq_stall *stall = &events->stall[k];
		const double cycles = stall->events[i] * stall->cycles;
		const double var = cycles * stall->cycles * stall->period;

		s->explains += cycles;
		s->explains_var += var;
		s->draws += cycles * stall->weight;
		s->draws_var += var * stall->weight * stall->weight;
	}
}

static bool is_certain(double difference, double variance)
{
	return difference > 0 &&
	       difference * difference > BIAS_DEVIATIONS * BIAS_DEVIATIONS * variance;
}

static bool counts_memory(const struct freq_events *events)
{
	for (int k = 0; k < events->nr_stalls; k++) {
		if (events->stall[k].memory)
			return true;
	}
	return false;
}

static enum freq_bias classify(const struct bias *s, bool explained)
{
	const double shadow = s->cycles - s->retired;

	if (!(s->cycles > 0))
		return FREQ_AS_SAMPLED;
	if (explained &&
	    is_certain(shadow - s->explains - 2 * s->retired,
		       s->cycles_var + 9 * s->retired_var + s->explains_var))
		return FREQ_UNDER_SAMPLED;
	if (is_certain(s->draws - shadow,
		       s->draws_var + s->cycles_var + s->retired_var) &&
	    is_certain(s->draws - BIAS_SHARE * s->cycles,
		       s->draws_var + BIAS_SHARE * BIAS_SHARE * s->cycles_var))
		return FREQ_OVER_SAMPLED;
	return FREQ_AS_SAMPLED;
}

int bias_find(const struct freq_input *in, const struct equiv *eq, struct arena *arena,
	      struct bias **out)
{
	struct bias *bias = arena_array(arena, eq->nr, sizeof(*bias));
	const bool explained = counts_memory(in->events);

	if (!bias)
		return -ENOMEM;
	for (int b = 0; b < in->cfg->exit; b++) {
		const struct cfg_block *block = &in->cfg->block[b];

		for (int i = 0; i < block->nr_insns; i++)
			add_insn(in, block->first_insn + i, &bias[eq->block[b]]);
	}
	for (int c = 0; c < eq->nr; c++)
		bias[c].kind = classify(&bias[c], explained);
	*out = bias;
	return 0;
}

void bias_dump(const struct bias *bias, int nr, struct buf *out)
{
	for (int c = 0; c < nr; c++)
		buf_printf(out,
			   "bias: class %d cycles %.6g instructions %.6g draws %.6g "
			   "explains %.6g %s\n",
			   c, bias[c].cycles, bias[c].retired, bias[c].draws,
			   bias[c].explains, freq_bias_str(bias[c].kind));
}
