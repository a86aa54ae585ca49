/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * freq_dump [-i] FILE - frequencies of FILE's procedures from the samples on stdin
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
 * KIND is as in analysis/cfg.h.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/explain.h"
#include "analysis/image.h"
#include "analysis/isa.h"
#include "base/err.h"
#include "db/profile.h"

struct dump {
	struct image *im;
	struct isa *isa;
	struct profile *profile;
	bool debug, insns;
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

static int dump_procedure(const struct dump *d, const struct symbol *s)
{
	struct explain_stream stream = { .profile = d->profile,
					 .landing = LANDING_AFTER_GROUP,
					 .period_cycles = 1 };
	struct buf debug = { 0 };
	struct explain_input in = { .image = d->im,
				    .isa = d->isa,
				    .procedure = s,
				    .stream = &stream,
				    .nr_streams = 1,
				    .debug = d->debug ? &debug : NULL };
	struct explained *x;
	struct arena arena;
	int err;

	arena_init(&arena, 0);
	err = explain_procedure(&in, &arena, &x);
	if (!err)
		write_result(x);
	if (!err && d->insns)
		write_insns(x);
	fputs(buf_str(&debug), stderr);
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
	struct dump d = { .debug = getenv("DEBUG") != NULL,
			  .insns = argc > 2 && !strcmp(argv[1], "-i") };
	struct image_desc desc = { .kind = IMAGE_FILE,
				   .name = argc > 1 ? argv[argc - 1] : "" };
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
