/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blame_dump [-d] FILE - what FILE's procedures waited for, from samples on stdin
 *
 * A line "OFFSET SAMPLES TAKEN NOT_TAKEN" each, the offset in hexadecimal. Of each
 * procedure that a line falls into, the stalls are written, the longest in all first:
 *
 *	procedure NAME SAMPLES
 *	stall OFFSET SAMPLES CYCLES KIND INSTRUCTION
 *	culprit REASON OFFSET INSTRUCTION
 *
 * SAMPLES are those that the stall stands for, CYCLES those of one execution. A stall
 * is followed by its culprits, the likeliest first. -d: with the passes' notes, on
 * stderr.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/explain.h"
#include "base/err.h"

#define PERIOD 1000.0 /* cycles, of a sample: any will do, for no scale is known */

struct dump {
	struct image *im;
	struct isa *isa;
	struct profile *profile;
	bool debug;
};

struct found {
	const struct stall *stall;
	int insn;
	double samples;
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

static int by_samples(const void *a, const void *b)
{
	const struct found *x = a, *y = b;

	return x->samples < y->samples ? 1 : x->samples > y->samples ? -1 : 0;
}

static const char *text_of(const struct dump *d, const struct explained *x, int insn,
			   char out[ISA_TEXT_SIZE])
{
	return insn < 0 ? "-" : isa_text(d->isa, &x->cfg->insn[insn], out);
}

static uint64_t offset_of(const struct explained *x, int insn)
{
	return insn < 0 ? 0 : x->cfg->insn[insn].address - x->cfg->bias;
}

static void write_stall(const struct dump *d, const struct explained *x,
			const struct found *found)
{
	char text[ISA_TEXT_SIZE];

	printf("stall %" PRIx64 " %.1f %.3g %s %s\n", offset_of(x, found->insn),
	       found->samples, found->stall->cycles,
	       found->stall->dynamic ? "dynamic" : "static",
	       text_of(d, x, found->insn, text));
	for (int i = 0; i < found->stall->nr; i++) {
		const struct culprit *c = &found->stall->culprit[i];

		printf("culprit %s %" PRIx64 " %s\n", blame_name(c->reason),
		       offset_of(x, c->insn), text_of(d, x, c->insn, text));
	}
}

static int write_stalls(const struct dump *d, const struct explained *x,
			struct arena *arena)
{
	struct found *found;
	int nr = 0;

	for (int i = 0; i < x->cfg->nr_insns; i++)
		nr += x->blame->insn[i].nr_stalls;
	found = arena_array(arena, nr, sizeof(*found));
	if (!found)
		return -ENOMEM;
	nr = 0;
	for (int i = 0; i < x->cfg->nr_insns; i++) {
		const struct blame_insn *at = &x->blame->insn[i];

		for (int k = 0; k < at->nr_stalls; k++)
			found[nr++] =
				(struct found){ &at->stall[k], i,
						x->blamed[i] * at->stall[k].cycles /
							at->cycles };
	}
	qsort(found, nr, sizeof(*found), by_samples);
	printf("procedure %s %g\n", x->cfg->procedure->raw, x->blame->summary.samples);
	for (int i = 0; i < nr && found[i].samples > 0; i++)
		write_stall(d, x, &found[i]);
	return 0;
}

static int dump_procedure(const struct dump *d, const struct symbol *s)
{
	const struct explain_stream stream = { .profile = d->profile,
					       .landing = LANDING_AFTER_GROUP,
					       .period_cycles = PERIOD };
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
		err = write_stalls(d, x, &arena);
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
	struct image_desc desc = { .kind = IMAGE_FILE,
				   .name = argc > 1 ? argv[argc - 1] : "" };
	struct dump d = { .debug = argc > 1 && !strcmp(argv[1], "-d") };
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
		fprintf(stderr, "blame_dump: %s: %s\n", desc.name, err_str(err));
	isa_close(d.isa);
	image_close(d.im);
	profile_free(d.profile);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
