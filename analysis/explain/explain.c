/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One analysis run: calls the passes in their order and hands each the results of
 * earlier ones. Samples of all streams are added in the unit of the first one, so that
 * the passes see one number for each instruction. Landing comes after frequencies,
 * because it divides the samples at a block's head by the frequencies of edges.
 */
#include "config.h"

#include "analysis/explain/explain.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analysis/blame/blame_costs.h"
#include "analysis/cfg/trips.h"
#include "analysis/freq/branchstack.h"
#include "analysis/freq/estimate.h"
#include "analysis/freq/landing.h"
#include "analysis/windows/block_counts.h"
#include "analysis/windows/window_weights.h"
#include "db/profile/records.h"

struct analysis_run {
	const struct explain_input *in;
	struct arena *arena;
	struct cfg *cfg;
	struct count *raw;
	double *samples;
	double *by_stream; /* by stream and instruction: the same, apart */
	double *blamed;
	struct isa_timing *timing;
	float *block_cycles;
	struct freq *freq;
	double *fixed; /* by edge: its probability, if the code fixes it */
	double *tie;   /* by block: deviation of draws of windows; NAN: none passed it;
			  NULL: no windows are used */
	struct mispredicts *mispredicts; /* by instruction; NULL: no windows */
	struct blame_evidence *evidence; /* by event */
	const struct data_insn **data;   /* by instruction; NULL: none */
	struct blame *blame;
};

/* The debug output of a pass, or NULL if it was not asked for. */
static struct buf *debug_of(const struct explain_input *in, const char *pass)
{
	size_t size = strlen(pass);
	const char *at = in->debug_passes;

	if (!at)
		return in->debug;
	for (; at; at = strchr(at, ','), at = at ? at + 1 : NULL)
		if (!strncmp(at, pass, size) && (!at[size] || at[size] == ','))
			return in->debug;
	return NULL;
}

/*
 * Adds a stream's samples at instruction i, with those at its inner bytes: some
 * machines interrupt rep and gather there. Returns them in the first stream's unit.
 */
static double add_counts(struct analysis_run *x, const struct explain_stream *stream,
			 int i)
{
	struct count *sum = &x->raw[i];
	uint64_t n = 0, weight = 0;

	for (int k = 0; k < x->cfg->insn[i].size; k++) {
		struct count c = profile_at(stream->profile, sum->offset + k);

		n += c.n;
		sum->taken += c.taken;
		sum->not_taken += c.not_taken;
		if (stream->unit > 0)
			weight += profile_weight_at(stream->profile, sum->offset + k);
	}
	sum->n += n;
	return (stream->unit > 0 ? (double)weight / stream->unit : (double)n) *
	       stream->period_cycles / x->in->stream[0].period_cycles;
}

/* Gathers the samples of all streams by instruction. */
static int gather_samples(struct analysis_run *x)
{
	const struct cfg *cfg = x->cfg;
	int nr = x->in->nr_streams;

	x->raw = arena_array(x->arena, cfg->nr_insns, sizeof(*x->raw));
	x->samples = arena_array(x->arena, cfg->nr_insns, sizeof(*x->samples));
	x->by_stream = arena_array(x->arena, (size_t)nr * cfg->nr_insns,
				   sizeof(*x->by_stream));
	if (!x->raw || !x->samples || !x->by_stream)
		return -ENOMEM;
	for (int i = 0; i < cfg->nr_insns; i++) {
		x->raw[i].offset = cfg->insn[i].address - cfg->bias;
		for (int s = 0; s < nr; s++) {
			double n = add_counts(x, &x->in->stream[s], i);

			x->by_stream[(size_t)s * cfg->nr_insns + i] = n;
			x->samples[i] += n;
		}
	}
	return 0;
}

static bool is_sampled(const struct analysis_run *x, const struct cfg_block *block)
{
	for (int i = 0; i < block->nr_insns; i++) {
		if (x->samples[block->first_insn + i] > 0)
			return true;
	}
	return false;
}

/* Times each block by itself in its steady state, as if it ran again and again. */
static int time_blocks(struct analysis_run *x)
{
	const struct cfg *cfg = x->cfg;
	struct isa_schedule schedule;
	int err = 0;

	x->timing = arena_array(x->arena, cfg->nr_insns, sizeof(*x->timing));
	x->block_cycles = arena_array(x->arena, cfg->nr_blocks, sizeof(float));
	if (!x->timing || !x->block_cycles)
		return -ENOMEM;
	for (int b = 0; !err && b < cfg->exit; b++) {
		const struct cfg_block *block = &cfg->block[b];
		struct isa_run run = { .insn = &cfg->insn[block->first_insn],
				       .nr = block->nr_insns,
				       .loops = true,
				       .rough = !is_sampled(x, block) };

		err = isa_schedule(x->in->isa, &run, x->arena, &schedule);
		if (err)
			break;
		memcpy(&x->timing[block->first_insn], schedule.insn,
		       block->nr_insns * sizeof(*x->timing));
		x->block_cycles[b] = schedule.cycles;
	}
	return err;
}

#define FASTEST 0.25 /* cycles for an instruction, on the fastest paths of programs */

/* One pass of a window, in executions per sample's worth of cycles. */
static double one_of(const struct explain_windows *w)
{
	return window_weights_time_per_insn(w->weights) / ESTIMATE_ISSUE;
}

/*
 * one_of() assumes that the mean instruction does not wait. If it waits, the
 * program's fastest code would seem faster than code can be; this factor corrects
 * that.
 */
static double pace_factor(const struct explain_windows *w)
{
	const double fast = ESTIMATE_ISSUE * window_weights_fast(w->weights);

	return fmin(fast / FASTEST, 1);
}

/* Of draws of an error; NULL: NAN. */
static double deviation(const double *draw)
{
	double sum = 0;

	for (int i = 0; draw && i < WINDOW_WEIGHTS_DRAWS; i++)
		sum += draw[i] * draw[i];
	return draw ? sqrt(sum / WINDOW_WEIGHTS_DRAWS) : NAN;
}

static int find_windows(struct analysis_run *x, struct freq_windows *out, bool *found)
{
	const struct explain_windows *w = x->in->windows;
	const struct cfg *cfg = x->cfg;
	const double one = one_of(w);
	double *worth = arena_array(x->arena, cfg->nr_blocks, sizeof(*worth));
	const double **error = arena_array(x->arena, cfg->nr_blocks, sizeof(*error));
	struct block_counts p;
	int err;

	x->tie = arena_array(x->arena, cfg->nr_blocks, sizeof(*x->tie));
	err = worth && error && x->tie
		      ? block_counts_build(cfg, w->branches, w->runs, x->arena, &p)
		      : -ENOMEM;

	if (err)
		return err;
	for (int b = 0; b < cfg->exit; b++) {
		worth[b] = p.block[b] > 0 ? window_weights_worth(w->weights, w->image,
								 cfg->block[b].start)
					  : 0;
		error[b] = window_weights_errors(w->weights, w->image,
						 cfg->block[b].start);
		x->tie[b] = deviation(error[b]);
		p.block[b] *= one / WINDOW_WEIGHTS_UNIT;
	}
	for (int e = 0; e < cfg->nr_edges; e++) {
		if (cfg->edge[e].kind == EDGE_FALL)
			p.edge[e] = p.through[cfg->edge[e].from];
		p.edge[e] *= one / WINDOW_WEIGHTS_UNIT;
	}
	*out = (struct freq_windows){ p.block, p.edge, worth, error, one };
	*found = p.sum > 0 && one > 0 &&
		 window_weights_nr(w->weights) >= WINDOW_WEIGHTS_LEAST;
	return 0;
}

/* How often windows expect each branch to be mispredicted. */
static int find_mispredicts(struct analysis_run *x)
{
	const struct explain_windows *w = x->in->windows;
	const struct cfg *cfg = x->cfg;
	struct branch_event *event;
	struct arena work;
	size_t nr;
	int err = 0;

	if (!w || !w->history)
		return 0;
	x->mispredicts = arena_array(x->arena, cfg->nr_insns, sizeof(*x->mispredicts));
	if (!x->mispredicts)
		return -ENOMEM;
	arena_init(&work, 0);
	for (int i = 0; i < cfg->nr_insns && !err; i++) {
		const struct branch_place at = {
			.image = w->image,
			.offset = cfg->insn[i].address - cfg->bias,
			.indirect = cfg->insn[i].kind & INSN_INDIRECT,
		};

		if (!(cfg->insn[i].kind & (INSN_COND | INSN_INDIRECT)))
			continue;
		err = branch_history_find(w->history, &at, &work, &event, &nr);
		if (!err)
			err = mispredicts_estimate(event, nr, &work,
						   &x->mispredicts[i]);
		arena_fini(&work);
	}
	return err;
}

/* Adds samples × period of an event to amount, by instruction. Returns Σ samples. */
static uint64_t add_amounts(const struct analysis_run *x,
			    const struct explain_event *event, double *amount)
{
	uint64_t sum = 0;

	for (int i = 0; i < x->cfg->nr_insns; i++) {
		const uint64_t n = profile_at(event->profile, x->raw[i].offset).n;

		amount[i] += (double)n * event->period;
		sum += n;
	}
	return sum;
}

static int gather_events(struct analysis_run *x)
{
	const int nr = x->in->nr_events;

	x->evidence = arena_array(x->arena, nr, sizeof(*x->evidence));
	if (!x->evidence)
		return -ENOMEM;
	for (int k = 0; k < nr; k++) {
		const struct explain_event *event = &x->in->event[k];
		double *events =
			arena_array(x->arena, x->cfg->nr_insns, sizeof(*events));

		if (!events)
			return -ENOMEM;
		add_amounts(x, event, events);
		x->evidence[k] =
			(struct blame_evidence){ event->reason, events, event->cycles };
	}
	return 0;
}

/* Gathers the samples of retired instructions. */
static int find_retired(const struct analysis_run *x, struct freq_retired *out)
{
	double *retired = arena_array(x->arena, x->cfg->nr_insns, sizeof(*retired));
	double period = 0;
	uint64_t sum = 0;

	if (!retired)
		return -ENOMEM;
	for (int k = 0; k < x->in->nr_retired; k++) {
		const uint64_t n = add_amounts(x, &x->in->retired[k], retired);

		period += (double)n * x->in->retired[k].period;
		sum += n;
	}
	*out = (struct freq_retired){ retired, sum ? period / (double)sum : 0 };
	return 0;
}

static void scale_freq(struct analysis_run *x, double by)
{
	for (int b = 0; b < x->cfg->nr_blocks; b++)
		x->freq->block[b] *= by;
	for (int e = 0; e < x->cfg->nr_edges; e++)
		x->freq->edge[e] *= by;
}

static int estimate_freq(struct analysis_run *x)
{
	struct freq_windows windows;
	struct freq_retired retired;
	bool found = false;
	int err = trips_find(x->in->isa, x->cfg, x->arena, &x->fixed);
	struct freq_input in = {
		.cfg = x->cfg,
		.samples = x->samples,
		.outcomes = x->raw,
		.period_cycles = x->in->stream[0].period_cycles,
	};

	if (err)
		return err;
	in.fixed = x->fixed;
	if (x->in->windows)
		err = find_windows(x, &windows, &found);
	if (found)
		in.windows = &windows;
	else
		x->tie = NULL;
	if (!err && x->in->nr_retired)
		err = find_retired(x, &retired);
	if (x->in->nr_retired)
		in.retired = &retired;
	if (err)
		return err;
	err = freq_estimate(&in, x->arena, debug_of(x->in, "freq"), &x->freq);
	if (err)
		return err;
	if (found)
		scale_freq(x, pace_factor(x->in->windows) *
				      (x->in->scale > 0 ? x->in->scale : 1));
	return 0;
}

/* Counts of branch stacks, if there are enough, replace estimates. */
static int take_branch_stacks(struct analysis_run *x)
{
	struct branchstack_input in = { .cfg = x->cfg,
					.branches = x->in->branches,
					.runs = x->in->runs };

	for (int i = 0; i < x->cfg->nr_insns; i++)
		in.time_cycles += x->samples[i] * x->in->stream[0].period_cycles;
	return branchstack_apply(&in, x->arena, x->freq);
}

#define COUNTED  0.05 /* deviation of the scale where branch stacks counted */
#define ANCHORED 0.1  /* ... where enough instructions were sampled as they retired */

/*
 * Finds the scale from all evidence, unless branch stacks or samples of retired
 * instructions fixed it already.
 */
static int find_scale(struct analysis_run *x)
{
	const struct blame_input code = { .cfg = x->cfg,
					  .isa = x->in->isa,
					  .timing = x->timing,
					  .outcomes = x->raw,
					  .freq = x->freq,
					  .mispredicts = x->mispredicts };
	struct scale_costs costs;
	struct scale_input in = { .cfg = x->cfg,
				  .block = x->freq->block,
				  .edge = x->freq->edge,
				  .block_sd = x->freq->block_sd,
				  .class = x->freq->class,
				  .edge_class = x->freq->edge_class,
				  .fixed = x->fixed,
				  .samples = x->samples,
				  .period_cycles = x->in->stream[0].period_cycles,
				  .costs = &costs,
				  .evidence = x->in->evidence,
				  .nr_evidence = x->in->nr_evidence,
				  .block_tie = x->tie };
	struct scale *scale;
	int err;

	if (x->freq->scale > CONFIDENCE_LOW)
		return freq_keep_scale(x->freq, x->cfg,
				       x->freq->counted ? COUNTED : ANCHORED, x->arena);
	if (x->in->deferred)
		in.costs = NULL;
	err = blame_costs_find(&code, x->arena, &costs);
	if (!err)
		err = scale_find(&in, x->arena, &scale);
	if (err)
		return err;
	return freq_take_scale(x->freq, x->cfg, scale, x->arena);
}

/* Each stream moves by its own landing model, with the common frequencies. */
static int find_blamed(struct analysis_run *x)
{
	const struct cfg *cfg = x->cfg;
	double *blamed = arena_array(x->arena, cfg->nr_insns, sizeof(*blamed));
	int err = 0;

	x->blamed = arena_array(x->arena, cfg->nr_insns, sizeof(*x->blamed));
	if (!x->blamed || !blamed)
		return -ENOMEM;
	for (int s = 0; !err && s < x->in->nr_streams; s++) {
		struct landing_input in = {
			.cfg = cfg,
			.timing = x->timing,
			.samples = &x->by_stream[(size_t)s * cfg->nr_insns],
			.edge = x->freq->edge,
			.landing = x->in->stream[s].landing,
		};

		err = landing_blame(&in, x->arena, blamed);
		for (int i = 0; !err && i < cfg->nr_insns; i++)
			x->blamed[i] += blamed[i];
	}
	return err;
}

/* The recorded event that proves each reason. */
static const struct {
	enum blame_reason reason;
	enum record_event event;
} measured[] = {
	{ BLAME_ICACHE, RECORD_L1I_MISS },         { BLAME_ITLB, RECORD_ITLB_MISS },
	{ BLAME_DCACHE, RECORD_L1D_MISS },         { BLAME_DTLB, RECORD_DTLB_MISS },
	{ BLAME_MISPREDICT, RECORD_MISPREDICTED },
};

#define NR_MEASURED (sizeof(measured) / sizeof(measured[0]))

static int gather_measure(const struct analysis_run *x, size_t which,
			  struct blame_measure *out)
{
	const enum record_event event = measured[which].event;
	const int nr = x->cfg->nr_insns;
	uint64_t *known = arena_array(x->arena, nr, sizeof(*known));
	uint64_t *seen = arena_array(x->arena, nr, sizeof(*seen));

	if (!known || !seen)
		return -ENOMEM;
	for (int s = 0; s < x->in->nr_records; s++) {
		const struct records *r = profile_records(x->in->records[s]);

		for (int i = 0; i < nr; i++) {
			const struct records_row row = records_at(r, x->raw[i].offset);

			known[i] += records_cell(&row, RECORDS_KNOWN, event);
			seen[i] += records_cell(&row, RECORDS_SEEN, event);
		}
	}
	*out = (struct blame_measure){ measured[which].reason, known, seen };
	return 0;
}

static int gather_measures(const struct analysis_run *x, struct blame_input *in)
{
	struct blame_measure *m = arena_array(x->arena, NR_MEASURED, sizeof(*m));
	int err = m ? 0 : -ENOMEM;

	for (size_t i = 0; i < NR_MEASURED && !err; i++)
		err = gather_measure(x, i, &m[i]);
	in->measure = m;
	in->nr_measures = NR_MEASURED;
	return err;
}

/* What windows saw of each instruction's addresses. */
static int gather_data(struct analysis_run *x)
{
	const struct explain_input *in = x->in;

	if (!in->data)
		return 0;
	x->data = arena_array(x->arena, x->cfg->nr_insns, sizeof(*x->data));
	if (!x->data)
		return -ENOMEM;
	for (int i = 0; i < x->cfg->nr_insns; i++)
		x->data[i] =
			data_model_find(in->data, in->data_image, x->raw[i].offset);
	return 0;
}

static int find_culprits(struct analysis_run *x)
{
	struct blame_input in = {
		.cfg = x->cfg,
		.isa = x->in->isa,
		.timing = x->timing,
		.samples = x->blamed,
		.outcomes = x->raw,
		.freq = x->freq,
		.mispredicts = x->mispredicts,
		.period_cycles = x->in->stream[0].period_cycles,
		.exact = true,
		.deferred = x->in->deferred,
		.evidence = x->evidence,
		.nr_evidence = x->in->nr_events,
	};
	int err = gather_data(x);

	in.data = x->data;
	for (int s = 0; s < x->in->nr_streams; s++)
		in.exact &= x->in->stream[s].landing == LANDING_HEAD;
	if (!err && x->in->nr_records)
		err = gather_measures(x, &in);
	if (err)
		return err;
	return blame_find(&in, x->arena, debug_of(x->in, "blame"), &x->blame);
}

int explain_procedure(const struct explain_input *in, struct arena *arena,
		      struct explained **out)
{
	struct analysis_run x = { .in = in, .arena = arena };
	struct explained *done = arena_alloc(arena, sizeof(*done));
	int err;

	if (!done)
		return -ENOMEM;
	err = cfg_build(in->image, in->isa, in->procedure, arena, &x.cfg);
	if (!err && debug_of(in, "cfg"))
		cfg_dump(x.cfg, in->debug);
	if (!err)
		err = gather_samples(&x);
	if (!err)
		err = gather_events(&x);
	if (!err)
		err = time_blocks(&x);
	if (!err)
		err = estimate_freq(&x);
	if (!err)
		err = take_branch_stacks(&x);
	if (!err && !in->shape_only)
		err = find_mispredicts(&x);
	if (!err && !in->shape_only)
		err = find_scale(&x);
	if (!err && !in->shape_only)
		err = find_blamed(&x);
	if (!err && !in->shape_only)
		err = find_culprits(&x);
	if (err)
		return err;
	*done = (struct explained){ x.cfg,
				    x.raw,
				    x.samples,
				    x.blamed,
				    x.timing,
				    x.block_cycles,
				    in->stream[0].period_cycles,
				    x.freq,
				    x.mispredicts,
				    x.blame,
				    x.data };
	*out = done;
	return 0;
}
