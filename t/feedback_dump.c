/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * feedback_dump.c - a profile for compilers from made-up counts:
 * feedback_dump FILE SEED FORMAT COUNTS
 *
 * Every procedure of FILE has a count for each of its blocks, many of them 0. What that
 * makes of it is written in the FORMAT to stdout, as cpi export does; and to COUNTS
 * what the numbers were, as link-time addresses in hexadecimal:
 *
 *	scale FACTOR
 *	insn ADDRESS COUNT
 *	test ADDRESS COUNT PROCEDURE LOOP
 *	head ADDRESS COUNT
 *	jump FROM TO COUNT ENTERS
 *
 * (FROM 0 is elsewhere), for t/feedback_oracle.py.
 */
#include "config.h"

#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cfg/cfg.h"
#include "analysis/cfg/loops.h"
#include "base/err.h"
#include "base/hash.h"
#include "tools/export/export.h"

struct dump {
	struct image *im;
	struct isa *isa;
	uint64_t seed;
	FILE *counts;
	struct compiler_profile f;
	struct compiler_profile_build build;
};

static const struct {
	const char *name;
	int (*write)(const struct compiler_profile *f);
	bool plain;
} formats[] = {
	{ "llvm-sample", export_llvm_sample, false },
	{ "llvm-sample-binary", export_llvm_binary, false },
	{ "llvm-unsymbolized", export_llvm_unsymbolized, false },
	{ "gcov", export_gcov, true },
	{ "bolt", export_bolt, false },
};

static void check(int error, const char *what)
{
	if (error)
		errx(EXIT_FAILURE, "%s: %s", what, err_str(error));
}

/* A third of the blocks never ran; the others are of different orders. */
static double make_up(const struct dump *d, uint64_t offset)
{
	const uint64_t r = hash_u64(d->seed ^ hash_u64(offset));

	return r % 3 ? (double)((r >> 8) % (1ULL << (4 + (r >> 4) % 24))) : 0;
}

static void fill(const struct dump *d, const struct cfg *cfg, struct freq *freq)
{
	for (int b = 0; b < cfg->exit; b++) {
		const struct cfg_block *block = &cfg->block[b];

		freq->block[b] = make_up(d, block->start);
		for (int e = 0; e < block->nr_out; e++)
			freq->edge[block->first_out + e] =
				freq->block[b] / block->nr_out;
	}
}

/* Conditional jumps, and the loops that they are in. */
static void dump_tests(struct dump *d, const struct cfg *cfg, const struct freq *freq)
{
	struct arena arena;
	const int *loop;

	arena_init(&arena, 0);
	loop = loops_find(cfg, &arena);
	check(loop ? 0 : -ENOMEM, "loops");
	for (int b = 0; b < cfg->exit; b++) {
		const struct cfg_block *block = &cfg->block[b];
		const struct insn *last =
			&cfg->insn[block->first_insn + block->nr_insns - 1];

		if (last->kind & INSN_COND)
			fprintf(d->counts, "test %" PRIx64 " %.17g %" PRIx64 " %d\n",
				last->address, freq->block[b], cfg->procedure->start,
				loop[b]);
	}
	arena_fini(&arena);
}

static void dump_counts(struct dump *d, const struct cfg *cfg, const struct freq *freq)
{
	for (int b = 0; b < cfg->exit; b++) {
		const struct cfg_block *block = &cfg->block[b];

		for (int i = 0; i < block->nr_insns; i++)
			fprintf(d->counts, "insn %" PRIx64 " %.17g\n",
				cfg->insn[block->first_insn + i].address,
				freq->block[b]);
	}
	fprintf(d->counts, "head %" PRIx64 " %.17g\n", cfg->insn[0].address,
		traffic_entries(cfg, freq));
}

static void add(struct dump *d, const struct symbol *symbol)
{
	struct compiler_profile_build *b = &d->build;
	struct arena arena;
	struct freq freq = { .block = NULL };
	struct cfg *cfg;

	arena_init(&arena, 0);
	if (cfg_build(d->im, d->isa, symbol, &arena, &cfg) == 0 && cfg->nr_insns) {
		freq.block = arena_array(&arena, cfg->nr_blocks, sizeof(double));
		freq.edge = arena_array(&arena, cfg->nr_edges + 1, sizeof(double));
		check(freq.block && freq.edge ? 0 : -ENOMEM, symbol->name);
		fill(d, cfg, &freq);
		dump_counts(d, cfg, &freq);
		dump_tests(d, cfg, &freq);
		traffic_reset(&d->f.one);
		check(traffic_add(&d->f.one, d->im, cfg, &freq, NULL), symbol->name);
		check(feedback_add(b->tree, d->im, cfg, &freq, &d->f.one),
		      symbol->name);
		check(traffic_append(&b->traffic, &d->f.one), symbol->name);
	}
	arena_fini(&arena);
}

static void dump_jumps(struct dump *d)
{
	size_t nr;
	const struct traffic_jump *jump = traffic_jumps(&d->build.traffic, &nr);

	for (size_t i = 0; i < nr; i++)
		fprintf(d->counts, "jump %" PRIx64 " %" PRIx64 " %.17g %d\n",
			jump[i].from == TRAFFIC_ELSEWHERE
				? 0
				: image_address(d->im, jump[i].from),
			image_address(d->im, jump[i].to), jump[i].n, jump[i].enters);
}

static void gather(struct dump *d, bool plain)
{
	const struct symbol *const *symbol;
	size_t nr;

	d->f.plain = plain;
	d->build.tree = feedback_new(plain);
	check(d->build.tree ? 0 : -ENOMEM, "feedback");
	symbol = image_symbols(d->im, &nr);
	for (size_t i = 0; i < nr; i++) {
		if (*symbol[i]->raw != '[' && !strchr(symbol[i]->raw, '@') &&
		    !strstr(symbol[i]->raw, ".cold"))
			add(d, symbol[i]);
	}
	check(traffic_finish(&d->build.traffic), "traffic");
	feedback_drop_namesakes(d->build.tree, NULL, NULL);
	d->f.scale = feedback_scale(feedback_max(d->build.tree));
	check(feedback_finish(d->build.tree, d->f.scale, &d->f.function,
			      &d->f.nr_functions),
	      "feedback");
	fprintf(d->counts, "scale %.17g\n", d->f.scale);
	dump_jumps(d);
}

int main(int argc, char **argv)
{
	struct image_desc desc = { .kind = IMAGE_FILE };
	struct dump d = { .im = NULL };
	size_t format = 0;

	if (argc != 5)
		errx(EXIT_FAILURE, "usage: feedback_dump FILE SEED FORMAT COUNTS");
	while (format < sizeof(formats) / sizeof(formats[0]) &&
	       strcmp(formats[format].name, argv[3]))
		format++;
	if (format == sizeof(formats) / sizeof(formats[0]))
		errx(EXIT_FAILURE, "%s: no such format", argv[3]);
	desc.name = argv[1];
	check(image_open(&desc, NULL, &d.im), argv[1]);
	check(isa_open(image_machine(d.im), &d.isa), argv[1]);
	d.seed = strtoull(argv[2], NULL, 0);
	d.counts = fopen(argv[4], "we");
	if (!d.counts)
		err(EXIT_FAILURE, "%s", argv[4]);
	gather(&d, formats[format].plain);
	d.f.im = d.im;
	d.f.traffic = &d.build.traffic;
	check(formats[format].write(&d.f), argv[3]);
	if (fclose(d.counts))
		err(EXIT_FAILURE, "%s", argv[4]);
	traffic_fini(&d.f.one);
	traffic_fini(&d.build.traffic);
	feedback_free(d.build.tree);
	isa_close(d.isa);
	image_close(d.im);
	return EXIT_SUCCESS;
}
