/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * freq_dump FILE - frequencies of FILE's procedures from the samples on stdin
 *
 * A line "OFFSET SAMPLES TAKEN NOT_TAKEN" each, the offset in hexadecimal. Each
 * procedure that a line falls into, be it with 0 samples, is written as
 *
 *	procedure NAME
 *	block START END SAMPLES FREQUENCY SD SHAPE
 *	edge FROM JUMP TARGET KIND FREQUENCY SD SHAPE
 *
 * where addresses are those of a disassembly; FROM is the block's start, JUMP its
 * last instruction, TARGET where it goes, 0 when that is outside and not known.
 * KIND is as in analysis/cfg.h.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cfg.h"
#include "analysis/freq.h"
#include "analysis/image.h"
#include "analysis/isa.h"
#include "base/err.h"
#include "db/profile.h"

struct dump {
	struct image *im;
	struct isa *isa;
	struct profile *profile;
	bool debug;
};

static int read_counts(struct profile *p)
{
	struct count c;
	int err = 0;

	while (!err && scanf("%" SCNx64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &c.offset,
			     &c.n, &c.taken, &c.not_taken) == 4)
		err = profile_add(p, &c);
	return err;
}

/* M of each instruction: cycles at the head of the reorder buffer, and before it. */
static int time_blocks(struct isa *isa, const struct cfg *cfg, struct arena *arena,
		       double *min_cycles)
{
	struct isa_schedule schedule;
	int err = 0;

	for (int b = 0; !err && b < cfg->exit; b++) {
		const struct cfg_block *block = &cfg->block[b];
		struct isa_run run = { .insn = &cfg->insn[block->first_insn],
				       .nr = block->nr_insns,
				       .loops = true };

		err = isa_schedule(isa, &run, arena, &schedule);
		for (int i = 0; !err && i < run.nr; i++)
			min_cycles[block->first_insn + i] =
				schedule.insn[i].head + schedule.insn[i].front_end;
	}
	return err;
}

static void write_result(const struct cfg *cfg, const struct freq *f,
			 const double *samples)
{
	printf("procedure %s\n", cfg->procedure->raw);
	for (int b = 0; b < cfg->exit; b++) {
		const struct cfg_block *block = &cfg->block[b];
		double sum = 0;

		for (int i = 0; i < block->nr_insns; i++)
			sum += samples[block->first_insn + i];
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

static int dump_procedure(const struct dump *d, const struct symbol *s)
{
	struct freq_input in = { .period_cycles = 1 };
	double *samples, *min_cycles;
	struct count *outcomes;
	struct buf debug = { 0 };
	struct arena arena;
	struct cfg *cfg;
	struct freq *f;
	int err;

	arena_init(&arena, 0);
	err = cfg_build(d->im, d->isa, s, &arena, &cfg);
	if (err)
		goto out;
	samples = arena_array(&arena, cfg->nr_insns, sizeof(*samples));
	min_cycles = arena_array(&arena, cfg->nr_insns, sizeof(*min_cycles));
	outcomes = arena_array(&arena, cfg->nr_insns, sizeof(*outcomes));
	err = -ENOMEM;
	if (!samples || !min_cycles || !outcomes)
		goto out;
	for (int i = 0; i < cfg->nr_insns; i++) {
		outcomes[i] = profile_at(d->profile, cfg->insn[i].address - cfg->bias);
		samples[i] = (double)outcomes[i].n;
	}
	err = time_blocks(d->isa, cfg, &arena, min_cycles);
	if (err)
		goto out;
	in.cfg = cfg;
	in.samples = samples;
	in.min_cycles = min_cycles;
	in.outcomes = outcomes;
	err = freq_estimate(&in, &arena, d->debug ? &debug : NULL, &f);
	if (!err)
		write_result(cfg, f, samples);
	fputs(buf_str(&debug), stderr);
out:
	buf_fini(&debug);
	arena_fini(&arena);
	return err;
}

/* Each procedure that a count is in, once. */
static int dump_image(const struct dump *d)
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
		err = dump_procedure(d, s);
		if (err == -CPI_ENOCODE || err == -CPI_ELIMIT) {
			fprintf(stderr, "%s: %s\n", s->name, err_str(err));
			err = 0;
		}
	}
	return err;
}

int main(int argc, char **argv)
{
	struct image_desc desc = { .kind = IMAGE_FILE,
				   .name = argc > 1 ? argv[1] : "" };
	struct dump d = { .debug = getenv("DEBUG") != NULL };
	int err = -ENOMEM;

	d.profile = profile_new();
	if (!d.profile)
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
	isa_close(d.isa);
	image_close(d.im);
	profile_free(d.profile);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
