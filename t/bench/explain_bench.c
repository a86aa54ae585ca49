/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explain_bench FILE [PROCEDURES] - how fast is the analysis of a whole program?
 *
 * Explains FILE's procedures, at most so many, spread over the file, as if each had
 * samples: one for its entry and, of its instructions, for every eighth. Prints bytes
 * of text, CPU time, and megabytes per minute.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "analysis/explain/explain.h"
#include "base/err.h"
#include "base/times.h"

#define PERIOD 1000.0 /* cycles */
#define BYTES  32     /* between samples */

struct bench {
	struct image *im;
	struct isa *isa;
	size_t procedures, failed;
	uint64_t bytes;
};

static double cpu_seconds(void)
{
	return (double)time_clock_ns(CLOCK_PROCESS_CPUTIME_ID) / NSEC_PER_SEC;
}

/* Where instructions begin is not known yet, so some samples fall between them. */
static int make_samples(const struct symbol *s, struct profile *p)
{
	int err = 0;

	for (uint64_t at = s->start; at < s->end && !err; at++) {
		const struct count one = { .offset = at, .n = 1 };

		if ((at - s->start) % BYTES < 4)
			err = profile_add(p, &one);
	}
	return err;
}

static int explain(struct bench *b, const struct symbol *s)
{
	struct profile *p = profile_new();
	const struct explain_stream stream = { .profile = p,
					       .landing = LANDING_AFTER_GROUP,
					       .period_cycles = PERIOD };
	const struct explain_input in = { .image = b->im,
					  .isa = b->isa,
					  .procedure = s,
					  .stream = &stream,
					  .nr_streams = 1 };
	struct explained *x;
	struct arena arena;
	int err = -1;

	arena_init(&arena, 0);
	if (p)
		err = make_samples(s, p);
	if (!err)
		err = explain_procedure(&in, &arena, &x);
	b->failed += err != 0;
	b->bytes += err ? 0 : s->end - s->start;
	b->procedures++;
	arena_fini(&arena);
	profile_free(p);
	return err;
}

static int run(struct bench *b, size_t most)
{
	const struct symbol *const *symbol;
	double start, seconds;
	size_t nr;

	symbol = image_symbols(b->im, &nr);
	if (!nr)
		return -CPI_ENOSYMBOL;
	if (!most || most > nr)
		most = nr;
	start = cpu_seconds();
	for (size_t i = 0; i < most; i++)
		explain(b, symbol[i * nr / most]);
	seconds = cpu_seconds() - start;
	printf("%zu procedures, %zu failed, %" PRIu64 " bytes, %.2f s, %.1f MB/min\n",
	       b->procedures, b->failed, b->bytes, seconds,
	       (double)b->bytes / 1e6 / seconds * 60);
	return 0;
}

int main(int argc, char **argv)
{
	struct image_desc desc = { .kind = IMAGE_FILE,
				   .name = argc > 1 ? argv[1] : "" };
	struct bench b = { 0 };
	int err;

	err = image_open(&desc, NULL, &b.im);
	if (!err)
		err = isa_open(image_machine(b.im), &b.isa);
	if (!err)
		err = run(&b, argc > 2 ? strtoul(argv[2], NULL, 0) : 0);
	if (err)
		fprintf(stderr, "explain_bench: %s: %s\n", desc.name, err_str(err));
	isa_close(b.isa);
	image_close(b.im);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
