/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table_sim - which table should the interrupt handler have?
 *
 * SOSP'97 section 5.4: "we constructed a trace-driven simulator that models the
 * driver's hash table structures". This one does not model the table: it runs
 * kmod/table.h on a trace from `cpi record --raw`. t/bench/README.md tells how
 * to read what it prints.
 */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/times.h"
#include "t/bench/sim.h"

#define MIN_SIZE   1024u
#define MAX_SIZE   65536u
#define NR_SIZES   7
#define MAX_REPEAT 99
#define MAX_WORK   1000000000

static const unsigned int sweeps_s[] = { 1, 10, 60 };
#define NR_SWEEPS     (sizeof(sweeps_s) / sizeof(sweeps_s[0]))
#define DEFAULT_SWEEP 1 /* index of cpid's default */

struct options {
	const char *trace;
	uint32_t size;        /* 0: all */
	unsigned long repeat; /* measurements of each table's time; 0: none */
	unsigned long work;   /* at least so many samples per measurement */
	bool csv;
};

struct row {
	struct sim_config cfg;
	uint32_t size; /* entries, were it 4-way */
	struct sim_counts counts[NR_SWEEPS];
	double ns[MAX_REPEAT]; /* per sample, sorted in the end */
};

static const char usage[] =
	"usage: table_sim [options] TRACE\n"
	"\n"
	"Runs a trace from `cpi record --raw` through tables of 1 to 8 ways.\n"
	"\n"
	"  --size=N         only tables of N entries (1K to 64K, a power of two)\n"
	"  --repeat=N       measure each table's time N times, 0 for never (default: "
	"5)\n"
	"  --work=N         samples in each measurement, at least (default: 2000000)\n"
	"  --format=FORMAT  text (default) or csv\n"
	"  --help           print this\n";

static int parse_number(const char *text, unsigned long max, unsigned long *out)
{
	char *end;
	unsigned long v;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	v = strtoul(text, &end, 10);
	if (*end == 'K' && v <= max) {
		v *= 1024;
		end++;
	}
	if (errno || *end || v > max)
		return -EINVAL;
	*out = v;
	return 0;
}

static int set_option(int letter, const char *text, struct options *o)
{
	unsigned long size;

	switch (letter) {
	case 's':
		if (parse_number(text, MAX_SIZE, &size) || size < MIN_SIZE ||
		    (size & (size - 1)))
			return -EINVAL;
		o->size = size;
		return 0;
	case 'r':
		return parse_number(text, MAX_REPEAT, &o->repeat);
	case 'w':
		return parse_number(text, MAX_WORK, &o->work);
	case 'f':
		o->csv = !strcmp(text, "csv");
		return o->csv || !strcmp(text, "text") ? 0 : -EINVAL;
	}
	return -EINVAL;
}

/* Exits for --help and what it cannot take. */
static void parse_options(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "size", required_argument, NULL, 's' },
		{ "repeat", required_argument, NULL, 'r' },
		{ "work", required_argument, NULL, 'w' },
		{ "format", required_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int letter;

	*o = (struct options){ .repeat = 5, .work = 2000000 };
	while ((letter = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (letter == 'h') {
			fputs(usage, stdout);
			exit(EXIT_SUCCESS);
		}
		if (letter == '?')
			exit(2);
		if (set_option(letter, optarg, o)) {
			fprintf(stderr, "table_sim: \"%s\" will not do\n%s", optarg,
				usage);
			exit(2);
		}
	}
	if (argc - optind != 1) {
		fputs(usage, stderr);
		exit(2);
	}
	o->trace = argv[optind];
}

/*
 * A table's number of buckets is a power of two, so that 6 ways have more
 * entries than 4, as in section 5.4: "increase the total number of entries".
 */
static uint32_t nr_buckets(uint32_t size, unsigned int ways)
{
	return size / (ways & (ways - 1) ? 4 : ways);
}

static size_t make_rows(const struct options *o, struct row *rows)
{
	size_t nr = 0;

	for (uint32_t size = MIN_SIZE; size <= MAX_SIZE; size *= 2) {
		if (o->size && o->size != size)
			continue;
		for (size_t v = 0; v < sim_nr_variants; v++) {
			struct row *r = &rows[nr++];

			r->size = size;
			r->cfg.variant = sim_variants[v];
			r->cfg.nr_buckets = nr_buckets(size, sim_variants[v]->ways);
		}
	}
	return nr;
}

static int count_all(const struct trace *t, struct row *rows, size_t nr)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		for (size_t s = 0; s < NR_SWEEPS && !err; s++) {
			rows[i].cfg.sweep_ns = sweeps_s[s] * NSEC_PER_SEC;
			err = sim_run(&rows[i].cfg, t, &rows[i].counts[s]);
		}
		rows[i].cfg.sweep_ns = sweeps_s[DEFAULT_SWEEP] * NSEC_PER_SEC;
	}
	return err;
}

/* The trace is run again and again until there is enough to be measured. */
static int measure(const struct options *o, const struct trace *t,
		   const struct sim_config *cfg, double *ns)
{
	uint64_t samples = 0, total = 0;
	struct sim_counts c;
	int err;

	do {
		err = sim_run(cfg, t, &c);
		if (err)
			return err;
		samples += c.samples;
		total += c.cpu_ns;
	} while (samples < o->work);
	*ns = (double)total / samples;
	return 0;
}

static void shuffle(size_t *order, size_t nr, uint64_t *state)
{
	for (size_t i = nr; i > 1; i--) {
		size_t j, held = order[i - 1];

		*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
		j = (*state >> 33) % i;
		order[i - 1] = order[j];
		order[j] = held;
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Each repetition measures all tables, in another order: drifts hit all alike. */
static int measure_all(const struct options *o, const struct trace *t, struct row *rows,
		       size_t nr)
{
	size_t *order = calloc(nr, sizeof(*order));
	uint64_t state = 1;
	int err = order ? 0 : -ENOMEM;

	for (size_t i = 0; i < nr && !err; i++)
		order[i] = i;
	for (unsigned long rep = 0; rep < o->repeat && !err; rep++) {
		shuffle(order, nr, &state);
		for (size_t i = 0; i < nr && !err; i++) {
			struct row *r = &rows[order[i]];

			err = measure(o, t, &r->cfg, &r->ns[rep]);
		}
	}
	for (size_t i = 0; i < nr && !err; i++)
		qsort(rows[i].ns, o->repeat, sizeof(double), by_value);
	free(order);
	return err;
}

static double aggregation(const struct sim_counts *c)
{
	return (double)c->samples / c->handed_out;
}

static double miss_rate(const struct sim_counts *c)
{
	return 1 - (double)c->hits / c->samples;
}

static const char *policy(const struct sim_variant *v)
{
	return v->ways == 1 ? "-" : v->swap_to_front ? "swap-to-front" : "round-robin";
}

static size_t lines(const struct sim_variant *v)
{
	return v->bucket_size / 64;
}

static void print_csv(const struct options *o, const struct row *rows, size_t nr)
{
	printf("size,ways,replacement,buckets,entries,bytes,lines_per_bucket,samples,"
	       "miss_rate,evictions,ns_per_sample");
	for (size_t s = 0; s < NR_SWEEPS; s++)
		printf(",aggregation_%us", sweeps_s[s]);
	putchar('\n');
	for (const struct row *r = rows; r < rows + nr; r++) {
		const struct sim_variant *v = r->cfg.variant;
		const struct sim_counts *c = &r->counts[DEFAULT_SWEEP];

		printf("%u,%u,%s,%u,%u,%zu,%zu,%llu,%.6f,%llu,", r->size, v->ways,
		       policy(v), r->cfg.nr_buckets, r->cfg.nr_buckets * v->ways,
		       r->cfg.nr_buckets * v->bucket_size, lines(v),
		       (unsigned long long)c->samples, miss_rate(c),
		       (unsigned long long)c->evictions);
		if (o->repeat)
			printf("%.3f", r->ns[o->repeat / 2]);
		for (size_t s = 0; s < NR_SWEEPS; s++)
			printf(",%.4f", aggregation(&r->counts[s]));
		putchar('\n');
	}
}

static void print_text(const struct options *o, const struct trace *t,
		       const struct row *rows, size_t nr)
{
	printf("%zu samples in %.1f s on %u CPUs; each has a table, swept every %u "
	       "s\n\n",
	       t->nr, (t->end_ns - t->begin_ns) / (double)NSEC_PER_SEC, t->nr_cpus,
	       sweeps_s[DEFAULT_SWEEP]);
	printf("%6s %4s %-13s %7s %5s %5s %7s %9s %13s", "size", "ways", "replacement",
	       "entries", "KiB", "lines", "miss %", "evictions", "samples/entry");
	printf(o->repeat ? " %9s\n" : "\n", "ns/sample");
	for (const struct row *r = rows; r < rows + nr; r++) {
		const struct sim_variant *v = r->cfg.variant;
		const struct sim_counts *c = &r->counts[DEFAULT_SWEEP];

		printf("%5uK %4u %-13s %7u %5zu %5zu %7.2f %9llu %13.2f",
		       r->size / 1024, v->ways, policy(v), r->cfg.nr_buckets * v->ways,
		       r->cfg.nr_buckets * v->bucket_size / 1024, lines(v),
		       100 * miss_rate(c), (unsigned long long)c->evictions,
		       aggregation(c));
		if (o->repeat)
			printf(" %9.2f", r->ns[o->repeat / 2]);
		putchar('\n');
	}
	printf("\nsamples/entry by the time between sweeps\n\n%6s %4s %-13s", "size",
	       "ways", "replacement");
	for (size_t s = 0; s < NR_SWEEPS; s++)
		printf(" %6u s", sweeps_s[s]);
	putchar('\n');
	for (const struct row *r = rows; r < rows + nr; r++) {
		printf("%5uK %4u %-13s", r->size / 1024, r->cfg.variant->ways,
		       policy(r->cfg.variant));
		for (size_t s = 0; s < NR_SWEEPS; s++)
			printf(" %8.2f", aggregation(&r->counts[s]));
		putchar('\n');
	}
}

static int simulate(const struct options *o, const struct trace *t)
{
	struct row *rows = calloc(NR_SIZES * sim_nr_variants, sizeof(*rows));
	size_t nr;
	int err;

	if (!rows)
		return -ENOMEM;
	nr = make_rows(o, rows);
	err = count_all(t, rows, nr);
	if (!err)
		err = measure_all(o, t, rows, nr);
	if (!err && o->csv)
		print_csv(o, rows, nr);
	else if (!err)
		print_text(o, t, rows, nr);
	free(rows);
	return err;
}

int main(int argc, char **argv)
{
	struct trace t = { 0 };
	struct options o;
	int err;

	parse_options(argc, argv, &o);
	err = trace_load(o.trace, &t);
	if (err) {
		fprintf(stderr,
			"table_sim: %s: %s; it takes traces from cpi record --raw\n",
			o.trace, err_str(err));
		return EXIT_FAILURE;
	}
	err = simulate(&o, &t);
	trace_fini(&t);
	if (err == -CPI_ECORRUPT)
		fprintf(stderr, "table_sim: a table handed out other samples than it "
				"was given: kmod/table.h is broken\n");
	else if (err)
		fprintf(stderr, "table_sim: %s\n", err_str(err));
	if (!err && (fflush(stdout) || ferror(stdout))) {
		fprintf(stderr, "table_sim: the output could not be written\n");
		err = -EIO;
	}
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
