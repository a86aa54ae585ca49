/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mispredicted jumps. After one, nothing retires until the right path has been fetched.
 * Samples of this time land on the first instructions of the right path. The landing
 * model (landing.h) may move them to the jump, which retired last.
 *
 * Windows say how often a jump is mispredicted (mispredicts.h). Without them, there is
 * an upper bound: if a conditional jump is taken with probability p, a predictor that
 * guesses at random with probability p mispredicts a share of 2 p (1 - p). This is at
 * most 2 min(p, 1 - p), which is used as the largest share. Jumps and calls through a
 * register may go anywhere. Returns are predicted by a stack that is seldom wrong.
 */
#include "config.h"

#include "analysis/blame/blame_case.h"

#define REFILL_CYCLES 40.0 /* of the deepest pipelines, with a wait for operands */
#define SURE          0.02 /* with a smaller share of misses a jump is acquitted */
#define OFTEN         0.2  /* with this share of misses a jump costs time */
#define FEW           10   /* fewer outcomes say nothing */
#define BEHIND        6    /* instructions of the right path that may show the loss */
#define RETURNS       0.1  /* share of returns that are mispredicted, at worst */
#define FARTHER       0.96 /* factor of the likelihood per instruction back to the jump */
#define MAX_BEFORE    4

#define CERTAIN 0.95 /* likelihood of a jump that always misses */
#define HALFWAY 0.03 /* share of misses with half that likelihood */

struct misses {
	double share;      /* of executions, at worst */
	double likelihood; /* that a jump with such a share is what a stall waits for */
};

static bool ask_windows(const struct blame_scene *scene, int jump, struct misses *m)
{
	const struct mispredicts *of = scene->in->mispredicts;

	if (!of || !of[jump].executions)
		return false;
	m->share = of[jump].high;
	m->likelihood = CERTAIN * of[jump].likely / (of[jump].likely + HALFWAY);
	return true;
}

/*
 * Uses the sampled outcomes of the jump. Those at the instruction before it count, too:
 * it may be a compare that is fused with the jump, and has its samples.
 */
static bool ask_outcomes(const struct blame_scene *scene, int jump, struct misses *m)
{
	const struct count *seen = scene->in->outcomes;
	double taken = 0, not_taken = 0;

	for (int i = jump; seen && i >= 0 && i > jump - 2; i--) {
		taken += (double)seen[i].taken;
		not_taken += (double)seen[i].not_taken;
	}
	if (taken + not_taken < FEW)
		return false;
	m->share = 2 * fmin(taken, not_taken) / (taken + not_taken);
	m->likelihood = 0.3 + 0.6 * m->share;
	return true;
}

/*
 * For a conditional jump. If neither windows nor outcomes tell, the frequencies of its
 * targets give a bound: the jump cannot have gone to a target more often than the
 * target ran. The frequencies of its own edges are not used: without outcomes they were
 * not measured.
 */
static struct misses find_misses(const struct blame_scene *scene, int jump)
{
	const int b = scene->paths.block_of[jump];
	const struct cfg_block *block = &scene->in->cfg->block[b];
	const double runs = scene->in->freq->block[b];
	struct misses m = { 1, 0.5 };

	if (ask_windows(scene, jump, &m) || ask_outcomes(scene, jump, &m) ||
	    block->nr_out < 2)
		return m;
	for (int i = 0; i < block->nr_out; i++) {
		const int to = scene->in->cfg->edge[block->first_out + i].to;

		m.share = fmin(m.share, 2 * scene->in->freq->block[to] / runs);
	}
	m.likelihood = 0.5 * m.share;
	return m;
}

/* How often the jump does not go to its most frequent target. */
static double spread_of_targets(const struct blame_scene *scene, int jump)
{
	const int b = scene->paths.block_of[jump];
	const struct cfg_block *block = &scene->in->cfg->block[b];
	double most = 0;

	for (int i = 0; i < block->nr_out; i++)
		most = fmax(most, scene->in->freq->edge[block->first_out + i]);
	return block->missing_out ? 0.5 : 1 - fmin(most / scene->in->freq->block[b], 1);
}

/* Of a jump or call through a register or memory. */
static struct misses find_indirect_misses(const struct blame_scene *scene, int jump)
{
	struct misses m = { 1, 0.5 };

	if (!ask_windows(scene, jump, &m) &&
	    scene->in->cfg->insn[jump].kind & INSN_JUMP)
		m.likelihood = 0.3 + 0.6 * spread_of_targets(scene, jump);
	return m;
}

static void accuse(struct blame_case *c, int jump, double weight, struct misses m)
{
	if (m.share < SURE)
		blame_acquit(c, BLAME_MISPREDICT,
			     "the jump is nearly always predicted");
	else
		blame_accuse(c, BLAME_MISPREDICT, jump, weight * m.likelihood,
			     m.share * REFILL_CYCLES);
}

static void accuse_jump(struct blame_case *c, int jump, double weight)
{
	const uint32_t kind = blame_case_insn(c, jump)->kind;

	if (kind & INSN_COND)
		accuse(c, jump, weight, find_misses(c->scene, jump));
	else if (kind & INSN_INDIRECT)
		accuse(c, jump, weight, find_indirect_misses(c->scene, jump));
	else if (kind & INSN_RETURN)
		blame_accuse(c, BLAME_MISPREDICT, jump, weight * 0.3, REFILL_CYCLES);
}

/* Accuses jumps on the paths to the stalled instruction, up to BEHIND instructions. */
static void accuse_behind(struct blame_case *c, int insn, int behind)
{
	int before[MAX_BEFORE];
	bool outside;
	int nr;

	if (behind > BEHIND)
		return;
	nr = blame_before(c->paths, insn, before, MAX_BEFORE, &outside);
	for (int i = 0; i < nr; i++) {
		accuse_jump(c, before[i], pow(FARTHER, behind));
		accuse_behind(c, before[i], behind + 1);
	}
	if (outside)
		blame_accuse(c, BLAME_MISPREDICT, -1, 0.2, REFILL_CYCLES);
}

void blame_branches(struct blame_case *c)
{
	for (int i = 0; i < c->nr_group; i++)
		accuse_jump(c, c->group[i].insn, c->group[i].weight);
	accuse_behind(c, c->insn, 1);
}

double blame_miss_share(const struct blame_scene *scene, int insn)
{
	const uint32_t kind = scene->in->cfg->insn[insn].kind;
	struct misses m;

	if (kind & INSN_COND)
		return find_misses(scene, insn).share;
	if (kind & INSN_INDIRECT && ask_windows(scene, insn, &m))
		return m.share;
	if (kind & INSN_INDIRECT && kind & INSN_JUMP)
		return spread_of_targets(scene, insn);
	return kind & INSN_INDIRECT ? 1 : kind & INSN_RETURN ? RETURNS : 0;
}

bool blame_may_mispredict(const struct blame_scene *scene, int insn)
{
	const uint32_t kind = scene->in->cfg->insn[insn].kind;

	if (kind & INSN_COND)
		return find_misses(scene, insn).share >= OFTEN;
	return kind & INSN_INDIRECT && kind & INSN_JUMP &&
	       blame_miss_share(scene, insn) >= OFTEN;
}
