/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * freq_dump [-im] [-w DB [-c COMM] [-ap]] FILE - frequencies of FILE's procedures from
 *                                               samples on stdin, and windows in DB
 *
 * -c: of one command's windows and samples; -a: each procedure alone, not by the call
 * graph; -p: with pairs of samples; -m: from samples where the landing model moves
 * them. These are steps of t/accuracy/run's ladder: the product always has the call
 * graph and pairs, and never moves.
 *
 * A line "OFFSET SAMPLES TAKEN NOT_TAKEN" each, the offset in hexadecimal. Each
 * procedure that a line falls into, be it with 0 samples, is written as
 *
 *	procedure NAME
 *	block START END SAMPLES FREQUENCY SD SHAPE
 *	edge FROM JUMP TARGET KIND FREQUENCY SD SHAPE
 *	insn ADDRESS SAMPLES BLAMED (with -i)
 *
 * where addresses are those of a disassembly; FROM is the block's start, JUMP its
 * last instruction, TARGET where it goes, 0 when that is outside and not known.
 * KIND is as in analysis/cfg/cfg.h.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/explain/callgraph.h"
#include "analysis/explain/explain.h"
#include "analysis/freq/pace.h"
#include "analysis/image/image.h"
#include "analysis/isa/isa.h"
#include "base/err.h"
#include "db/profile/profile.h"
#include "report/explain/selected_windows.h"

struct dump {
	const char *path; /* of the image */
	struct image *im;
	struct isa *isa;
	struct profile *profile, *moved; /* moved: until it is the profile */
	bool debug, insns, move, alone, pairs;
	const char *windows; /* database, or NULL */
	const char *comm;    /* of the windows; NULL: all */
	struct selected_windows *selected;
	const struct explain_windows *at;
	struct callgraph *calls;
	struct edges *pace, *starts; /* pairs of the image, or NULL */
	double sample_ns, clock_hz;
};

/* Any stream that measures time, alike. */
static double amount(void *ctx, int64_t stream, uint64_t n)
{
	return (double)n;
}

struct search {
	const char *path;
	int64_t image;
};

static int find_image(void *ctx, const struct query_profile *row)
{
	struct search *s = ctx;

	if (!strcmp(row->image.desc.name, s->path))
		s->image = row->image.id;
	return 0;
}

/* As explainer_take_pace() of report/explain/explainer_pace.c. */
static int take_pairs(void *ctx, const struct query_edges *q)
{
	struct dump *d = ctx;
	const bool leaves = q->image.id != q->target.id;
	struct edges *to = q->kind == EDGES_PACE ? d->pace : d->starts;
	const struct edge *e;
	int err = 0;
	size_t nr;

	if ((q->kind != EDGES_PACE && q->kind != EDGES_PACE_START) ||
	    strcmp(q->image.desc.name, d->path) || (leaves && q->kind == EDGES_PACE))
		return 0;
	e = edges_sorted(q->edges, &nr);
	for (size_t i = 0; i < nr && !err; i++) {
		struct edge start = e[i];

		start.to = leaves ? UINT64_MAX : start.to;
		err = edges_add(to, &start);
	}
	return err;
}

/* The worth of a sample: the mean over all that were taken. */
static int find_period(struct dump *d, struct db *db, const struct query_epochs *epochs)
{
	struct query_streams streams = { 0 };
	double ns = 0, n = 0;
	int err = query_streams(db, epochs, NULL, &streams);

	for (size_t i = 0; !err && i < streams.nr; i++) {
		const struct query_stream *s = &streams.stream[i];

		ns += (double)s->stored * (double)s->desc.mean_period;
		n += (double)s->stored;
	}
	query_streams_fini(&streams);
	d->sample_ns = n > 0 ? ns / n : 0;
	d->clock_hz = epochs->nr ? (double)epochs->epoch[0].clock_hz : 0;
	return err || (d->sample_ns > 0 && d->clock_hz > 0) ? err : -CPI_EFORMAT;
}

static int load_pairs(struct dump *d, struct db *db, const struct query_epochs *epochs,
		      const struct query_selection *sel)
{
	int err = find_period(d, db, epochs);

	d->pace = edges_new();
	d->starts = edges_new();
	if (!err && (!d->pace || !d->starts))
		err = -ENOMEM;
	return err ? err : query_edges(db, sel, 0, take_pairs, d);
}

static int load_windows(struct dump *d)
{
	struct query_epochs epochs = { 0 };
	struct query_selection sel = { .epochs = &epochs,
				       .context[CONTEXT_COMM] = d->comm };
	struct search search = { d->path, 0 };
	struct db *db;
	int err = db_open(d->windows, DB_READ, &db);

	if (err)
		return err;
	err = query_epochs(db, "all", &epochs);
	if (!err)
		err = query_profiles(db, &sel, find_image, &search, NULL);
	if (!err)
		err = selected_windows_load(db, &sel, amount, NULL, &d->selected);
	if (!err && search.image)
		err = selected_windows_image(d->selected, search.image, &d->at);
	if (!err && d->pairs)
		err = load_pairs(d, db, &epochs, &sel);
	query_epochs_fini(&epochs);
	db_close(db);
	return err;
}

static int read_counts(struct profile *p)
{
	struct count c;
	int err = 0;

	while (!err && scanf("%" SCNx64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &c.offset,
			     &c.n, &c.taken, &c.not_taken) == 4)
		err = profile_add(p, &c);
	return err;
}

static void write_result(const struct explained *x)
{
	const struct cfg *cfg = x->cfg;
	const struct freq *f = x->freq;

	printf("procedure %s\n", cfg->procedure->raw);
	for (int b = 0; b < cfg->exit; b++) {
		const struct cfg_block *block = &cfg->block[b];
		double sum = 0;

		for (int i = 0; i < block->nr_insns; i++)
			sum += x->samples[block->first_insn + i];
		printf("block %" PRIx64 " %" PRIx64 " %g %.9g %.4g %d\n",
		       block->start + cfg->bias, block->end + cfg->bias, sum,
		       f->block[b], f->block_sd[b], f->shape[b]);
	}
	for (int e = 0; e < cfg->nr_edges; e++) {
		const struct cfg_block *from = &cfg->block[cfg->edge[e].from];
		const struct insn *last =
			&cfg->insn[from->first_insn + from->nr_insns - 1];
		uint64_t to = cfg->block[cfg->edge[e].to].start + cfg->bias;

		if (cfg->edge[e].to == cfg->exit)
			to = last->target;
		printf("edge %" PRIx64 " %" PRIx64 " %" PRIx64 " %d %.9g %.4g %d\n",
		       from->start + cfg->bias, last->address, to, cfg->edge[e].kind,
		       f->edge[e], f->edge_sd[e], f->edge_shape[e]);
	}
}

static void write_insns(const struct explained *x)
{
	for (int i = 0; i < x->cfg->nr_insns; i++)
		printf("insn %" PRIx64 " %g %g\n", x->cfg->insn[i].address,
		       x->samples[i], x->blamed[i]);
}

static int write_explained(const struct dump *d, const struct explained *x)
{
	write_result(x);
	if (d->insns)
		write_insns(x);
	return 0;
}

static int add_calls(const struct dump *d, const struct explained *x)
{
	return callgraph_add(d->calls, x, d->at);
}

/* As weights, which need not be whole samples. */
static int move_samples(const struct dump *d, const struct explained *x)
{
	int err = 0;

	for (int i = 0; !err && i < x->cfg->nr_insns; i++) {
		const double units = round(x->blamed[i] * WEIGHT_UNIT);

		if (units > 0)
			err = profile_add_weight(d->moved, WEIGHT_EXECUTION,
						 x->raw[i].offset, (uint64_t)units);
	}
	return err;
}

static double samples_at(void *ctx, uint64_t offset)
{
	const struct dump *d = ctx;

	return (double)profile_at(d->profile, offset).n;
}

/* What pairs say of a procedure, in cycles or executions. */
static int add_evidence(const struct dump *d, const struct symbol *s,
			struct arena *arena, struct explain_input *in)
{
	const struct pace_input pace = { d->pace,   d->starts, samples_at, d->sample_ns,
					 (void *)d, s->start,  s->end };
	struct scale_evidence *evidence;
	struct pace *found;
	size_t nr;
	int err = pace_find(&pace, arena, &found, &nr);

	if (err)
		return err;
	evidence = arena_array(arena, 2 * nr + 1, sizeof(*evidence));
	if (!evidence)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		in->nr_evidence += pace_evidence(&found[i], d->clock_hz / 1e9,
						 &evidence[in->nr_evidence]);
	in->evidence = evidence;
	return 0;
}

typedef int (*explained_fn)(const struct dump *d, const struct explained *x);

static int explain(const struct dump *d, const struct symbol *s, explained_fn fn)
{
	struct explain_stream stream = {
		.profile = d->profile,
		.landing = LANDING_AFTER_GROUP,
		.period_cycles = d->pace ? d->sample_ns * d->clock_hz / 1e9 : 1,
		.unit = profile_is_weighted(d->profile) ? WEIGHT_UNIT : 0
	};
	struct buf debug = { 0 };
	struct explain_input in = { .image = d->im,
				    .isa = d->isa,
				    .procedure = s,
				    .stream = &stream,
				    .nr_streams = 1,
				    .windows = d->at,
				    .scale = callgraph_factor(d->calls, s->start),
				    .shape_only = fn == add_calls,
				    .debug = d->debug ? &debug : NULL };
	struct explained *x;
	struct arena arena;
	int err;

	arena_init(&arena, 0);
	err = d->pace ? add_evidence(d, s, &arena, &in) : 0;
	if (!err)
		err = explain_procedure(&in, &arena, &x);
	if (!err)
		err = fn(d, x);
	fputs(buf_str(&debug), stderr);
	buf_fini(&debug);
	arena_fini(&arena);
	return err;
}

/* Each procedure that a count is in, once. */
static int explain_image(const struct dump *d, explained_fn fn)
{
	const struct count *count;
	uint64_t end = 0;
	int err = 0;
	size_t nr;

	count = profile_sorted(d->profile, &nr);
	for (size_t i = 0; !err && i < nr; i++) {
		const struct symbol *s = image_symbol_at(d->im, count[i].offset);

		if (!s || count[i].offset < end)
			continue;
		end = s->end;
		err = explain(d, s, fn);
		if (err == -CPI_ENOCODE || err == -CPI_ELIMIT) {
			fprintf(stderr, "%s: %s\n", s->name, err_str(err));
			err = 0;
		}
	}
	return err;
}

/* Where they are moved to follows from the frequencies that they have as they landed.
 */
static int move_image(struct dump *d)
{
	int err;

	d->moved = profile_new();
	if (!d->moved)
		return -ENOMEM;
	err = profile_merge(d->moved, d->profile);
	if (!err)
		err = explain_image(d, move_samples);
	if (!err) {
		profile_free(d->profile);
		d->profile = d->moved;
		d->moved = NULL;
	}
	return err;
}

/* Twice: what a procedure's scale is, all together say. */
static int dump_image(struct dump *d)
{
	int err = d->move ? move_image(d) : 0;

	if (!err && d->at && !d->alone) {
		d->calls = callgraph_new();
		err = d->calls ? explain_image(d, add_calls) : -ENOMEM;
		if (!err)
			err = callgraph_solve(d->calls);
	}
	return err ? err : explain_image(d, write_explained);
}

int main(int argc, char **argv)
{
	struct dump d = { .debug = getenv("DEBUG") != NULL };
	struct image_desc desc = { .kind = IMAGE_FILE,
				   .name = argc > 1 ? argv[argc - 1] : "" };
	int err = -ENOMEM, option;

	while ((option = getopt(argc, argv, "ac:impw:")) != -1) {
		if (option == 'i')
			d.insns = true;
		else if (option == 'm')
			d.move = true;
		else if (option == 'a')
			d.alone = true;
		else if (option == 'p')
			d.pairs = true;
		else if (option == 'c')
			d.comm = optarg;
		else if (option == 'w')
			d.windows = optarg;
		else
			return 2;
	}
	d.profile = profile_new();
	if (!d.profile)
		goto out;
	d.path = desc.name;
	err = d.windows ? load_windows(&d) : 0;
	if (err)
		goto out;
	err = image_open(&desc, NULL, &d.im);
	if (err)
		goto out;
	err = isa_open(image_machine(d.im), &d.isa);
	if (!err)
		err = read_counts(d.profile);
	if (!err)
		err = dump_image(&d);
out:
	if (err)
		fprintf(stderr, "freq_dump: %s: %s\n", desc.name, err_str(err));
	callgraph_free(d.calls);
	edges_free(d.pace);
	edges_free(d.starts);
	selected_windows_free(d.selected);
	isa_close(d.isa);
	image_close(d.im);
	profile_free(d.moved);
	profile_free(d.profile);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
