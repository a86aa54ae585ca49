/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The summary (SOSP'97 Figure 4). For each stall and reason it has a range. Upper end:
 * the cycles that the culprits with this reason can cost together, at most the whole
 * stall. Lower end: the cycles that remain of the stall if every other reason costs its
 * most. If the code ran more rarely than estimated, there were further dynamic stalls;
 * if it ran more often, static stalls took more time. Both raise only the upper ends.
 */
#include "config.h"

#include "analysis/blame/blame_case.h"

/* The most cycles of a stall that each reason can explain. */
static double weigh(const struct stall *s, double most[BLAME_NR_REASONS])
{
	double all = 0;

	for (int r = 0; r < BLAME_NR_REASONS; r++)
		most[r] = 0;
	for (int i = 0; i < s->nr; i++)
		most[s->culprit[i].reason] += s->culprit[i].most;
	for (int r = 0; r < BLAME_NR_REASONS; r++) {
		most[r] = fmin(most[r], s->cycles);
		all += most[r];
	}
	return all;
}

/*
 * The factor by which an instruction's static stalls grow at the high end of its
 * executions. It is limited: they and the execution take at most the whole time.
 */
static double growth_of(const struct blame_insn *insn)
{
	double known = insn->execute;

	for (int i = 0; i < insn->nr_stalls; i++)
		known += insn->stall[i].dynamic ? 0 : insn->stall[i].cycles;
	return known > 0 ? fmax(fmin(insn->more, insn->cycles / known), 1) : 1;
}

/*
 * The schedule gives the length of a static stall per execution. So the ends of its
 * range come from the executions that are certain and from those that are possible.
 */
static void count_stall(struct blame_summary *sum, const struct blame_insn *insn,
			const struct stall *s, double samples_per_cycle)
{
	double most[BLAME_NR_REASONS];
	const double all = weigh(s, most);
	const double sure = s->dynamic ? 1 : insn->sure;
	const double growth = s->dynamic ? 1 : growth_of(insn);

	for (int r = 0; r < BLAME_NR_REASONS; r++) {
		const double others = all - most[r];

		if (!(most[r] > 0))
			continue;
		sum->reason[r].most += most[r] * growth * samples_per_cycle;
		sum->reason[r].least +=
			fmax(s->cycles - others, 0) * sure * samples_per_cycle;
	}
	sum->by_first[s->culprit[0].reason] += s->cycles * samples_per_cycle;
}

static void count_possible(struct blame_summary *sum, const struct stall *s,
			   double samples_per_cycle)
{
	double most[BLAME_NR_REASONS];

	weigh(s, most);
	for (int r = 0; r < BLAME_NR_REASONS; r++)
		sum->reason[r].most += most[r] * samples_per_cycle;
}

void blame_summary_count(struct blame_summary *sum, const struct blame_insn *insn,
			 double samples_per_cycle)
{
	for (int i = 0; i < insn->nr_stalls; i++)
		count_stall(sum, insn, &insn->stall[i], samples_per_cycle);
	count_possible(sum, &insn->possible, samples_per_cycle);
	sum->execution += insn->execute * samples_per_cycle;
	sum->gain += insn->gain * samples_per_cycle;
	sum->error += insn->error * samples_per_cycle;
}

void blame_summary_add(struct blame_summary *sum, const struct blame_summary *from)
{
	sum->samples += from->samples;
	sum->tallied += from->tallied;
	sum->outside += from->outside;
	sum->execution += from->execution;
	sum->gain += from->gain;
	sum->error += from->error;
	for (int r = 0; r < BLAME_NR_REASONS; r++) {
		sum->reason[r].least += from->reason[r].least;
		sum->reason[r].most += from->reason[r].most;
		sum->by_first[r] += from->by_first[r];
	}
}
