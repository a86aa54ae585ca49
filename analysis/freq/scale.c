/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Likelihoods on a grid of log factors, joined by a tree of three levels: each
 * outermost loop (and the code outside of loops) has a factor, which deviates from the
 * procedure's by a normal deviate, and so does each measured class of blocks from its
 * loop's, by the error of the shape. That is exact up to the grid, so no method that
 * might fail to converge is needed.
 *
 * I1  The sampled time of a loop is at least that of its executions in the best case,
 *     and at most that in the worst case. Factors that would make the loop faster than
 *     its best case are ruled out. If executions were measured, only the issue slots
 *     count as the best case.
 * I2  A density that nothing changed is 0 everywhere.
 */
#include "config.h"

#include "analysis/freq/scale.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/param.h>

#include "analysis/cfg/loops.h"

#define TAIL    3e-4  /* likelihood far away from what a piece of evidence says */
#define NARROW  1.645 /* deviations from the middle of a 90 % interval to its end */
#define EDGE    0.06  /* deviation of the end of a range that is known exactly */
#define FASTER  0.13  /* deviation of real cores from the schedule, to either side */
#define SLOWER  0.2
#define PEAK    1.5 /* weight of the schedule's cycles, compared with all larger ones */
#define ALONE   3   /* a unit of more blocks may take less time than their sum */
#define LUCKIER 0.3 /* density of fewer cycles than the schedule's */
#define NEARER  0.1 /* slope of the log density where cycles exceed the schedule's */
#define LOW     0.05
#define HIGH    0.95
#define OPEN    1.0 /* a quantile so near to the grid's end is no bound */
#define WIDEST  4.0 /* deviation of a tie that ties nothing */
#define LOOSE   1.0 /* of cycles for an instruction, between units or programs */
#define WRONG   0.2 /* density of what the schedule rules out, if measured */
#define MOST    0.5 /* share of a block's executions that come or go by one edge */
#define NOTHING 1e-12
#define LANES   8 /* sums that are computed at a time: none waits for another */

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

/* Blocks that share a factor. */
struct scale_unit {
	double *density; /* of its factor, from its own evidence */
	double *message; /* of the procedure's factor, from that */
	double time;     /* cycles */
	double samples;
	double slots; /* cycles at least, all chains hidden */
	double chain; /* the longest one */
	int blocks;   /* executed ones */
	double usual; /* cycles with nothing to wait for */
	double worst;
	double most; /* executions of the most frequent block that has a block_tie */
	double tie;  /* that block's block_tie; NAN: no block has one */
	bool evident;
	bool measured; /* by more than static costs */
};

/* Blocks and edges whose executions have fixed ratios. */
struct scale_class {
	int same;        /* the class that this one is a part of, or itself */
	double *density; /* of their factor, from that alone; NULL: not measured */
	double *message; /* of the unit's factor, from that */
	int block;       /* one of them */
	struct freq_interval factor;
};

struct scale_run {
	const struct scale_input *in;
	struct arena *arena;
	struct loop_nest nest;
	int *unit_of; /* by block */
	struct scale_unit *unit;
	int nr_units;
	struct scale_class *class;
	int nr_classes;
	struct scale *out;
};

static double log_of(int point)
{
	return SCALE_FROM + SCALE_STEP * point;
}

struct freq_interval freq_interval_cycles(const struct freq_interval *executions,
					  double samples, double period)
{
	const double likely = samples * period / executions->likely;
	const double sampled = NARROW / sqrt(samples + 1);
	struct freq_interval r = { NAN, NAN, NAN };

	if (!(executions->likely > 0) || !isfinite(executions->likely))
		return r;
	r = (struct freq_interval){ 0, likely, INFINITY };
	if (isfinite(executions->high))
		r.low = likely * exp(-hypot(log(executions->high / executions->likely),
					    sampled));
	if (executions->low > 0)
		r.high = likely *
			 exp(hypot(log(executions->likely / executions->low), sampled));
	return r;
}

static double normal_below(double x)
{
	return 0.5 * erfc(-x * M_SQRT1_2);
}

/*
 * Adds the likelihood of a value between two ends, which are known up to a
 * deviation.
 */
static void add_range(double *density, double low, double high, double sd)
{
	for (int i = 0; i < SCALE_POINTS; i++) {
		const double above = normal_below((log_of(i) - low) / sd);
		const double below = normal_below((high - log_of(i)) / sd);

		density[i] += log(fmax(above * below, NOTHING));
	}
}

static void add_value(double *density, double low, double likely, double high,
		      double sd)
{
	const double below = hypot((likely - low) / NARROW, sd);
	const double above = hypot((high - likely) / NARROW, sd);

	for (int i = 0; i < SCALE_POINTS; i++) {
		const double x = log_of(i) - likely;
		const double z = x / (x < 0 ? below : above);

		density[i] += log(exp(-z * z / 2) + TAIL);
	}
}

static double largest(const double *density)
{
	double most = density[0];

	for (int i = 1; i < SCALE_POINTS; i++)
		most = fmax(most, density[i]);
	return most;
}

/* Σ weight[k] * p[j + k] for each lane j; p has LANES more than there are weights. */
static void convolve(const double *p, const double *weight, int nr, lanes *out)
{
	lanes sum = { 0 }, part;

	for (int k = 0; k < nr; k++) {
		memcpy(&part, &p[k], sizeof(part));
		sum += weight[k] * part;
	}
	*out = sum;
}

/*
 * Convolves a log density with a normal distribution of this deviation: makes it that
 * of a second factor whose logarithm differs from the first by this deviation.
 */
static int widen_density(double *density, double sd, struct arena *arena)
{
	const int reach = (int)ceil(3.5 * fmin(sd, WIDEST) / SCALE_STEP);
	double *p, *weight, most, all = 0;

	if (sd >= WIDEST)
		memset(density, 0, SCALE_POINTS * sizeof(*density));
	if (sd >= WIDEST || !(sd > 0))
		return 0;
	p = arena_array(arena, SCALE_POINTS + 2 * (size_t)reach + LANES, sizeof(*p));
	weight = arena_array(arena, 2 * (size_t)reach + 1, sizeof(*weight));
	if (!p || !weight)
		return -ENOMEM;
	most = largest(density);
	for (int i = 0; i < SCALE_POINTS + 2 * reach; i++) /* it goes on as it ends */
		p[i] = exp(density[MAX(0, MIN(i - reach, SCALE_POINTS - 1))] - most);
	for (int k = 0; k <= 2 * reach; k++) {
		const double z = (k - reach) * SCALE_STEP / sd;

		weight[k] = exp(-z * z / 2);
		all += weight[k];
	}
	for (int i = 0; i < SCALE_POINTS; i += LANES) {
		lanes sum;

		convolve(&p[i], weight, 2 * reach + 1, &sum);

		for (int j = 0; j < LANES && i + j < SCALE_POINTS; j++)
			density[i + j] = log(fmax(sum[j] / all, NOTHING));
	}
	return 0;
}

/* The outermost loop around a block, or LOOPS_NONE. */
static int outermost(const struct scale_run *s, int b)
{
	int head = s->nest.inner[b];

	while (head != LOOPS_NONE && s->nest.around[head] != LOOPS_NONE)
		head = s->nest.around[head];
	return head;
}

static bool is_inside(const struct scale_run *s, int b, int loop)
{
	int head = s->nest.inner[b];

	while (head != LOOPS_NONE && head != loop)
		head = s->nest.around[head];
	return head == loop;
}

static double samples_of(const struct scale_run *s, int b)
{
	const struct cfg_block *block = &s->in->cfg->block[b];
	double sum = 0;

	for (int i = 0; i < block->nr_insns; i++)
		sum += s->in->samples[block->first_insn + i];
	return sum;
}

/* Unit 0 is the code outside of loops. */
static int number_units(struct scale_run *s)
{
	const int nr = s->in->cfg->nr_blocks;
	int *of_head = arena_array(s->arena, nr, sizeof(*of_head));

	s->unit_of = arena_array(s->arena, nr, sizeof(*s->unit_of));
	if (!of_head || !s->unit_of)
		return -ENOMEM;
	s->nr_units = 1;
	for (int b = 0; b < nr; b++) {
		const int head = outermost(s, b);

		if (head != LOOPS_NONE && !of_head[head])
			of_head[head] = s->nr_units++;
		s->unit_of[b] = head == LOOPS_NONE ? 0 : of_head[head];
	}
	s->unit = arena_array(s->arena, s->nr_units, sizeof(*s->unit));
	for (int u = 0; s->unit && u < s->nr_units; u++)
		s->unit[u].tie = NAN;
	return s->unit ? 0 : -ENOMEM;
}

/* Makes it, unless it is there. */
static int make_density(struct scale_run *s, double **density)
{
	if (!*density)
		*density = arena_array(s->arena, SCALE_POINTS, sizeof(double));
	return *density ? 0 : -ENOMEM;
}

static void add_density(double *to, const double *from, double sign)
{
	for (int i = 0; i < SCALE_POINTS; i++)
		to[i] += sign * from[i];
}

static bool is_amount(double x)
{
	return x > 0 && isfinite(x);
}

static void add_costs(struct scale_run *s, int b)
{
	const struct scale_costs *costs = s->in->costs;
	struct scale_unit *u = &s->unit[s->unit_of[b]];
	const double n = s->in->block[b];

	if (s->in->block_tie && n > u->most && !isnan(s->in->block_tie[b])) {
		u->most = n;
		u->tie = s->in->block_tie[b];
	}
	u->samples += samples_of(s, b);
	u->time = u->samples * s->in->period_cycles;
	if (!costs || !is_amount(n))
		return;
	u->slots += n * costs->issue[b];
	if (!costs->calls[b] && s->unit_of[b])
		u->chain = fmax(u->chain, n * costs->best[b]);
	u->blocks++;
	u->usual += n * costs->usual[b];
	u->worst += n * costs->worst[b];
}

/*
 * The density of a log factor between two ends: most of it is where the schedule says,
 * the rest anywhere below that, down to what takes longest.
 */
static void add_costs_density(double *density, double low, double usual, double high,
			      double sd)
{
	const double peak = PEAK / (hypot(SLOWER, sd) * sqrt(2 * M_PI));

	add_range(density, low, high, sd);
	for (int i = 0; i < SCALE_POINTS; i++) {
		const double x = log_of(i) - usual;
		const double z = x / hypot(x < 0 ? SLOWER : FASTER, sd);
		const double any = x < 0 ? exp(NEARER * x) : LUCKIER;

		density[i] += log(fmax(peak * exp(-z * z / 2) + any, NOTHING));
	}
}

/*
 * Lets a schedule be wrong: executions may be more, up to another end, or fewer, since
 * a core may share its front end with another thread.
 */
static void doubt(double *density, double high, double sd)
{
	const double most = largest(density);

	for (int i = 0; i < SCALE_POINTS; i++) {
		const double any = WRONG * normal_below((high - log_of(i)) / sd);

		density[i] = log(fmax(exp(density[i] - most) + any, NOTHING));
	}
}

/* I1: the time of a unit bounds its executions from both sides. */
static int bound_unit(struct scale_run *s, struct scale_unit *u)
{
	const double best = fmax(u->slots, u->chain);
	const double sd = sqrt(EDGE * EDGE + 1 / (u->samples + 1));
	double usual, low = SCALE_FROM - OPEN, *costs = NULL;

	if (!is_amount(u->time) || !is_amount(best))
		return 0;
	if (make_density(s, &costs) || make_density(s, &u->density))
		return -ENOMEM;
	usual = fmax(u->usual, best);
	if (u->blocks > ALONE)
		usual = sqrt(usual * best);
	if (isfinite(u->worst))
		low = log(u->time / fmax(u->worst, usual));
	add_costs_density(costs, low, log(u->time / usual), log(u->time / best), sd);
	if (u->measured)
		doubt(costs, log(u->time / u->slots), sd);
	add_density(u->density, costs, 1);
	u->evident = true;
	return 0;
}

static bool is_possible(const struct scale_evidence *e)
{
	if (!(e->low >= 0) || !(e->high > 0) || !(e->low <= e->high))
		return false;
	if (e->likely)
		return is_amount(e->low) && is_amount(e->high) && e->low <= e->likely &&
		       e->likely <= e->high;
	return e->low > 0 || isfinite(e->high);
}

static bool has_offset(const struct scale_run *s, int loop, uint64_t offset)
{
	const int b = offset ? cfg_block_at(s->in->cfg, offset) : -1;

	return b < 0 || is_inside(s, b, loop);
}

/* The loop to which evidence about block b refers, or LOOPS_NONE. */
static int loop_of(const struct scale_run *s, const struct scale_evidence *e, int b)
{
	int loop = s->nest.inner[b];

	while (loop != LOOPS_NONE && s->nest.around[loop] != LOOPS_NONE &&
	       (!has_offset(s, loop, e->first) || !has_offset(s, loop, e->last)))
		loop = s->nest.around[loop];
	return loop;
}

/* Cycles in a loop around a block. */
static double time_around(const struct scale_run *s, const struct scale_evidence *e,
			  int b)
{
	const int loop = loop_of(s, e, b);
	double samples = 0;

	for (int i = 0; i < s->in->cfg->exit; i++) {
		if (loop == LOOPS_NONE ? i == b : is_inside(s, i, loop))
			samples += samples_of(s, i);
	}
	return samples * s->in->period_cycles;
}

/* Evidence of executions, as the logarithm of what the factor must be. */
static bool as_factor(const struct scale_run *s, const struct scale_evidence *e, int b,
		      double out[3], double *sd)
{
	const double time = time_around(s, e, b), n = s->in->block[b];
	const bool cycles = e->kind == SCALE_CYCLES;
	const double above = SCALE_FROM + SCALE_STEP * SCALE_POINTS + OPEN;

	if (!is_amount(n) || (cycles && !is_amount(time)))
		return false;
	*sd = cycles ? sqrt(s->in->period_cycles / time) : 0;
	out[0] = cycles ? log(time / e->high / n) : log(e->low / n);
	out[1] = e->likely ? log(cycles ? time / e->likely / n : e->likely / n) : 0;
	out[2] = cycles ? log(time / e->low / n) : log(e->high / n);
	out[0] = fmax(out[0], SCALE_FROM - OPEN);
	out[2] = fmin(out[2], above);
	return true;
}

/* How far a block's factor may be from its unit's. */
static double shape_error(const struct scale_run *s, int b)
{
	return hypot(EDGE, s->in->block_sd ? s->in->block_sd[b] : 0);
}

static struct scale_class *class_at(const struct scale_run *s, int c)
{
	while (s->class[c].same != c)
		c = s->class[c].same = s->class[s->class[c].same].same;
	return &s->class[c];
}

static struct scale_class *class_of(const struct scale_run *s, int b)
{
	return class_at(s, s->in->class ? s->in->class[b] : b);
}

/* Joins the classes whose ratios the code fixes. */
static void join_classes(struct scale_run *s)
{
	for (int c = 0; c < s->nr_classes; c++)
		s->class[c].same = c;
	if (!s->in->fixed || !s->in->class || !s->in->edge_class)
		return;
	for (int e = 0; e < s->in->cfg->nr_edges; e++) {
		if (!isnan(s->in->fixed[e]))
			class_at(s, s->in->edge_class[e])->same =
				class_of(s, s->in->cfg->edge[e].from)->same;
	}
}

static int add_evidence(struct scale_run *s, const struct scale_evidence *e)
{
	const int b = is_possible(e) ? cfg_block_at(s->in->cfg, e->offset) : -1;
	struct scale_class *c;
	double factor[3], sd;

	if (b < 0 || b == s->in->cfg->exit || !as_factor(s, e, b, factor, &sd))
		return 0;
	c = class_of(s, b);
	if (make_density(s, &c->density))
		return -ENOMEM;
	if (e->likely)
		add_value(c->density, factor[0], factor[1], factor[2], sd);
	else
		add_range(c->density, factor[0], factor[2], fmax(sd, EDGE));
	c->block = b;
	s->unit[s->unit_of[b]].measured = true;
	return 0;
}

/* I1 of a measured block alone: its slots are at most all of the unit's time. */
static void bound_class(const struct scale_run *s, const struct scale_unit *u,
			struct scale_class *c)
{
	const double slots =
		s->in->costs ? s->in->block[c->block] * s->in->costs->issue[c->block]
			     : 0;

	if (is_amount(slots) && is_amount(u->time))
		add_range(c->density, SCALE_FROM - OPEN, log(u->time / slots),
			  sqrt(EDGE * EDGE + 1 / (u->samples + 1)));
}

/* What a class says of its unit's factor. */
static int tell_unit(struct scale_run *s, struct scale_class *c)
{
	struct scale_unit *u = &s->unit[s->unit_of[c->block]];
	int err;

	if (!c->density)
		return 0;
	if (make_density(s, &u->density) || make_density(s, &c->message))
		return -ENOMEM;
	bound_class(s, u, c);
	memcpy(c->message, c->density, SCALE_POINTS * sizeof(double));
	err = widen_density(c->message, shape_error(s, c->block), s->arena);
	add_density(u->density, c->message, 1);
	u->evident = true;
	return err;
}

static int gather(struct scale_run *s)
{
	int err = 0;

	for (int b = 0; b < s->in->cfg->exit; b++)
		add_costs(s, b);
	for (int i = 0; i < s->in->nr_evidence && !err; i++)
		err = add_evidence(s, &s->in->evidence[i]);
	for (int u = 0; u < s->nr_units && !err; u++)
		err = bound_unit(s, &s->unit[u]);
	for (int c = 0; c < s->nr_classes && !err; c++)
		err = tell_unit(s, &s->class[c]);
	return err;
}

/* How far a unit's factor may be from the procedure's. */
static double tie_of(const struct scale_run *s)
{
	return s->nr_units == 1 ? 0 : LOOSE;
}

/* What each unit says of the procedure's factor, and all of them together. */
static int send_up(struct scale_run *s)
{
	double *sum = s->out->density;
	int err = 0;

	for (int u = 0; u < s->nr_units && !err; u++) {
		struct scale_unit *unit = &s->unit[u];

		if (!unit->evident)
			continue;
		s->out->evident = true;
		unit->message = arena_array(s->arena, SCALE_POINTS, sizeof(double));
		if (!unit->message)
			return -ENOMEM;
		memcpy(unit->message, unit->density, SCALE_POINTS * sizeof(double));
		err = widen_density(unit->message, tie_of(s), s->arena);
		add_density(sum, unit->message, 1);
	}
	return err;
}

static double quantile(const double *p, double sum, double share)
{
	double below = 0;

	for (int i = 0; i < SCALE_POINTS; i++) {
		if (below + p[i] >= share * sum)
			return log_of(i) +
			       SCALE_STEP * ((share * sum - below) / p[i] - 0.5);
		below += p[i];
	}
	return log_of(SCALE_POINTS - 1);
}

static struct freq_interval interval_of(double *density)
{
	const double most = largest(density);
	const double end = log_of(SCALE_POINTS - 1);
	double sum = 0, low, likely, high;

	for (int i = 0; i < SCALE_POINTS; i++) {
		density[i] = exp(density[i] - most);
		sum += density[i];
	}
	low = quantile(density, sum, LOW);
	likely = quantile(density, sum, 0.5);
	high = quantile(density, sum, HIGH);
	return (struct freq_interval){ low < SCALE_FROM + OPEN ? 0 : exp(low),
				       exp(likely),
				       high > end - OPEN ? INFINITY : exp(high) };
}

/*
 * Whether windows compare the unit with the rest of the program. If a window leads from
 * the unit to other code, that says more about its executions than static costs do.
 */
static bool is_tied(const struct scale_run *s, const struct scale_unit *u)
{
	return !u->measured && s->in->block_tie && isfinite(u->tie);
}

/*
 * If the factor is not known, the median of its interval says less than the estimate,
 * which compares procedures with each other. So the factor stays as near to 1 as the
 * interval allows. With windows this holds unless the unit was measured.
 */
static struct freq_interval keep_likely(const struct scale_run *s,
					const struct scale_unit *u,
					struct freq_interval f)
{
	if (!freq_interval_known(&f) || (s->in->block_tie && !u->measured))
		f.likely = fmin(fmax(1, f.low), f.high);
	return f;
}

/* The factor of a measured class, by its unit's. */
static int find_class(struct scale_run *s, struct scale_class *c, const double *unit)
{
	double *density = NULL;
	int err;

	if (make_density(s, &density))
		return -ENOMEM;
	memcpy(density, unit, SCALE_POINTS * sizeof(double));
	add_density(density, c->message, -1);
	err = widen_density(density, shape_error(s, c->block), s->arena);
	add_density(density, c->density, 1);
	if (!err)
		c->factor = keep_likely(s, &s->unit[s->unit_of[c->block]],
					interval_of(density));
	return err;
}

/*
 * The unit's executions in comparison with other code are as exact as windows are.
 * Their number also has the error of the factor that all code of the program shares.
 */
static int find_tied(struct scale_run *s, const struct scale_unit *u, double *density,
		     struct freq_interval *out)
{
	double *near = NULL;

	if (make_density(s, &near))
		return -ENOMEM;
	add_density(near, density, 1);
	add_value(near, 0, 0, 0, hypot(u->tie, EDGE));
	add_value(density, 0, 0, 0, hypot(u->tie, LOOSE));
	*out = interval_of(density);
	out->likely = interval_of(near).likely;
	out->low = fmin(out->low, out->likely);
	out->high = fmax(out->high, out->likely);
	return 0;
}

/*
 * A unit's factor: by its own evidence, and what all others say of the procedure's.
 * Then those of its classes.
 */
static int find_factor(struct scale_run *s, int unit, struct freq_interval *out)
{
	const struct scale_unit *u = &s->unit[unit];
	double *density = NULL;
	int err;

	if (make_density(s, &density))
		return -ENOMEM;
	add_density(density, s->out->density, 1);
	if (u->evident)
		add_density(density, u->message, -1);
	err = widen_density(density, tie_of(s), s->arena);
	if (u->evident)
		add_density(density, u->density, 1);
	for (int c = 0; c < s->nr_classes && !err; c++) {
		if (s->class[c].density && s->unit_of[s->class[c].block] == unit)
			err = find_class(s, &s->class[c], density);
	}
	if (!err && is_tied(s, u))
		return find_tied(s, u, density, out);
	if (!err)
		*out = keep_likely(s, u, interval_of(density));
	return err;
}

static void set_factor(const struct scale_class *c, struct freq_interval *factor,
		       bool *measured)
{
	*measured = c->density != NULL;
	if (*measured)
		*factor = c->factor;
}

/* An edge has the factor of a measured block whose executions are mostly its own. */
static void set_edge(struct scale_run *s, const struct freq_interval *factor, int e)
{
	const struct cfg_edge *edge = &s->in->cfg->edge[e];
	const int from = s->unit_of[edge->from], to = s->unit_of[edge->to];
	const double n = s->in->edge ? s->in->edge[e] : 0;
	struct freq_interval *out = &s->out->edge[e];
	bool *measured = &s->out->edge_measured[e];

	*out = factor[from == to ? from : 0];
	if (s->in->edge_class)
		set_factor(class_at(s, s->in->edge_class[e]), out, measured);
	if (!*measured && n > MOST * s->in->block[edge->from])
		set_factor(class_of(s, edge->from), out, measured);
	if (!*measured && n > MOST * s->in->block[edge->to])
		set_factor(class_of(s, edge->to), out, measured);
}

static int find_factors(struct scale_run *s)
{
	struct freq_interval *factor =
		arena_array(s->arena, s->nr_units, sizeof(*factor));
	int err = factor ? 0 : -ENOMEM;

	for (int u = 0; u < s->nr_units && !err; u++) {
		factor[u] = (struct freq_interval){ 0, 1, INFINITY };
		if (s->out->evident)
			err = find_factor(s, u, &factor[u]);
	}
	for (int b = 0; b < s->in->cfg->nr_blocks && !err; b++) {
		s->out->block[b] = factor[s->unit_of[b]];
		set_factor(class_of(s, b), &s->out->block[b],
			   &s->out->block_measured[b]);
	}
	for (int e = 0; e < s->in->cfg->nr_edges && !err; e++)
		set_edge(s, factor, e);
	return err;
}

/* Room for what is found. */
static int make_out(struct scale_run *s)
{
	const struct cfg *cfg = s->in->cfg;
	struct scale *out = arena_alloc(s->arena, sizeof(*out));

	s->out = out;
	if (!out)
		return -ENOMEM;
	out->block = arena_array(s->arena, cfg->nr_blocks, sizeof(*out->block));
	out->edge = arena_array(s->arena, cfg->nr_edges, sizeof(*out->edge));
	out->block_measured = arena_array(s->arena, cfg->nr_blocks, sizeof(bool));
	out->edge_measured = arena_array(s->arena, cfg->nr_edges, sizeof(bool));
	out->density = arena_array(s->arena, SCALE_POINTS, sizeof(double));
	s->nr_classes = cfg->nr_blocks + cfg->nr_edges;
	s->class = arena_array(s->arena, s->nr_classes, sizeof(*s->class));
	return out->block && out->edge && out->block_measured && out->edge_measured &&
			       out->density && s->class
		       ? 0
		       : -ENOMEM;
}

int scale_find(const struct scale_input *in, struct arena *arena, struct scale **out)
{
	struct scale_run s = { .in = in, .arena = arena };
	int err = loops_nest(in->cfg, arena, &s.nest);

	if (!err)
		err = make_out(&s);
	if (!err)
		err = number_units(&s);
	if (err)
		return err;
	join_classes(&s);
	err = gather(&s);
	if (!err)
		err = send_up(&s);
	if (!err)
		err = find_factors(&s);
	if (!err)
		*out = s.out;
	return err;
}
