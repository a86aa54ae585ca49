/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mkyear.c - writes a database as a busy host's months of hours would be
 *
 *	mkyear FILE [EPOCHS [IMAGES [ENTRIES [SEED [SECONDS]]]]]
 *
 * EPOCHS hours (10,000) in runs of a month, with IMAGES images (2,000) and about
 * ENTRIES different offsets in each hour (10,000), all of it the same for the same SEED
 * (1). An epoch lasts SECONDS (3600).
 *
 * An image has a fixed set of offsets, each with a rate of its own. Sizes of images and
 * rates of offsets have heavy tails: the kernel and a few libraries have most samples,
 * and most offsets come once in a while. An hour has the images that run always and
 * some of the others, in turns of days, as programs come and go; its load follows the
 * time of day. Counts are drawn around rate times load.
 */
#include "config.h"

#include <err.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/times.h"
#include "db/core/sql.h"
#include "db/store/store.h"

#define START_NS  1735689600000000000ULL /* 2025-01-01T00:00:00Z */
#define HOUR_NS   (3600 * NSEC_PER_SEC)
#define RUN_HOURS 720
#define NR_ALWAYS 20 /* images in every hour */
#define NR_OFTEN  30 /* others that an hour has */

struct place {
	uint64_t offset;
	float rate; /* samples in an hour of load 1 */
};

struct program {
	struct image_desc desc;
	char name[40];
	struct place *place;
	size_t nr;
};

struct year {
	uint64_t random;
	struct program *program;
	size_t nr_programs, nr_epochs, nr_entries;
	uint64_t epoch_ns;
	uint64_t stored; /* entries */
};

static void check(int error, const char *what)
{
	if (error)
		errx(EXIT_FAILURE, "%s: %s", what, err_str(error));
}

static uint64_t next(struct year *y)
{
	y->random ^= y->random >> 12;
	y->random ^= y->random << 25;
	y->random ^= y->random >> 27;
	return y->random * 0x2545f4914f6cdd1dULL;
}

/* In (0, 1]. */
static double uniform(struct year *y)
{
	return (double)((next(y) >> 11) + 1) / (double)(1ULL << 53);
}

/* What rank takes of the hour's entries: a heavy tail. */
static double share(size_t rank)
{
	return 1 / (double)(rank + 4);
}

/* Instructions stand a few bytes apart, in procedures that have some space between. */
static void make_places(struct year *y, struct program *p, size_t nr)
{
	uint64_t offset = 0x1000;

	p->nr = nr;
	p->place = calloc(nr, sizeof(*p->place));
	if (!p->place)
		err(EXIT_FAILURE, NULL);
	for (size_t i = 0; i < nr; i++) {
		offset += 2 + next(y) % 6;
		if (next(y) % 16 == 0)
			offset += next(y) % 2048;
		p->place[i].offset = offset;
		p->place[i].rate = (float)(0.12 / pow(uniform(y), 0.9));
	}
}

static void make_programs(struct year *y)
{
	double all = 0;

	y->program = calloc(y->nr_programs, sizeof(*y->program));
	if (!y->program)
		err(EXIT_FAILURE, NULL);
	for (size_t i = 0; i < NR_ALWAYS + NR_OFTEN; i++)
		all += share(i);
	for (size_t i = 0; i < y->nr_programs; i++) {
		struct program *p = &y->program[i];
		size_t rank = i < NR_ALWAYS ? i : NR_ALWAYS + i % NR_OFTEN;

		snprintf(p->name, sizeof(p->name),
			 i ? "/srv/release/bin/program-%zu" : "[kernel]", i);
		p->desc = (struct image_desc){ .kind = i ? IMAGE_FILE : IMAGE_KERNEL,
					       .name = p->name,
					       .build_id_size = BUILD_ID_MAX };
		for (size_t k = 0; k < BUILD_ID_MAX; k++)
			p->desc.build_id[k] = (uint8_t)next(y);
		/* About a third of the offsets come in any one hour. */
		make_places(y, p,
			    1 + (size_t)(3 * (double)y->nr_entries * share(rank) /
					 all));
	}
}

/* The i-th image of an hour: some always, the others by turns of a day. */
static struct program *program_of(struct year *y, size_t hour, size_t i)
{
	size_t others = y->nr_programs > NR_ALWAYS ? y->nr_programs - NR_ALWAYS : 0;

	if (i < NR_ALWAYS || !others)
		return &y->program[i % y->nr_programs];
	return &y->program[NR_ALWAYS +
			   (hour / 24 * NR_OFTEN / 2 + i - NR_ALWAYS) % others];
}

static struct profile *draw(struct year *y, const struct program *p, double load)
{
	struct profile *profile = profile_new();

	if (!profile)
		err(EXIT_FAILURE, NULL);
	for (size_t i = 0; i < p->nr; i++) {
		double expected = p->place[i].rate * load;
		uint64_t n = (uint64_t)(expected * (0.7 + 0.6 * uniform(y)));

		if (expected < 2)
			n = uniform(y) < expected ? 1 + (next(y) % 4 == 0) : 0;
		if (n)
			check(profile_add(profile,
					  &(struct count){ .offset = p->place[i].offset,
							   .n = n }),
			      "profile");
	}
	y->stored += profile_nr(profile);
	return profile;
}

/* One flush is the epoch. */
static void store_one(struct year *y, struct store *s, uint64_t seq, uint64_t now)
{
	static const char commands[5][16] = { "swapper", "server", "worker", "nginx",
					      "postgres" };
	const size_t hour = (now - START_NS) / HOUR_NS;
	const double length = (double)y->epoch_ns / (double)HOUR_NS;
	const double load =
		length * (1 + 0.5 * sin((double)hour / 24 * 2 * 3.14159265));
	struct flush_profile profiles[NR_ALWAYS + NR_OFTEN];
	struct flush_comm comms[NR_ALWAYS + NR_OFTEN];
	struct flush_stream stream = {
		.desc = { "cycles", "bpf", "", "cycles", 2500000, LANDING_AFTER_GROUP },
		.enabled_ns = 64 * y->epoch_ns,
		.running_ns = 64 * y->epoch_ns,
	};
	const struct flush_loss loss = { 0, LOSS_UNKNOWN, "map_gap", next(y) % 50 };
	struct flush f = { .seq = seq,
			   .from_ns = now,
			   .to_ns = now + y->epoch_ns,
			   .duration_ns = y->epoch_ns,
			   .streams = &stream,
			   .nr_streams = 1,
			   .profiles = profiles,
			   .comms = comms,
			   .losses = &loss,
			   .nr_losses = 1 };
	size_t nr = y->nr_programs < NR_ALWAYS + NR_OFTEN ? y->nr_programs
							  : NR_ALWAYS + NR_OFTEN;

	stream.received = loss.n;
	for (size_t i = 0; i < nr; i++) {
		struct program *p = program_of(y, hour, i);
		struct profile *profile = draw(y, p, load);

		profiles[i] = (struct flush_profile){ &p->desc, 0, "", profile };
		comms[i] = (struct flush_comm){ &p->desc, 0, commands[i % 5],
						profile_total(profile) };
		stream.received += profile_total(profile);
	}
	f.nr_profiles = f.nr_comms = nr;
	check(store_flush(s, &f), "flush");
	for (size_t i = 0; i < nr; i++)
		profile_free(profiles[i].profile);
}

static void fill(struct year *y, struct db *db)
{
	struct platform_desc platform = {
		.host = "big1",
		.arch = "x86_64",
		.cpu = "64 CPUs",
		.release = "6.1.0",
		.boot_id = "00000000-0000-0000-0000-000000000064",
		.clock_hz = 2500000000,
		.nr_cpus = 64,
	};
	struct store *s = NULL;
	const size_t per_run = RUN_HOURS * HOUR_NS / y->epoch_ns;
	uint64_t now = START_NS;

	for (size_t i = 0; i < y->nr_epochs; i++, now += y->epoch_ns) {
		if (i % per_run == 0) {
			if (s)
				check(store_end(s, now), "end");
			check(store_begin(db, &platform, now, &s), "run");
		}
		check(store_epoch(s, now, 10, NULL), "epoch");
		store_one(y, s, i % per_run + 1, now);
	}
	check(store_end(s, now), "end");
}

static size_t number(int argc, char **argv, int i, size_t otherwise)
{
	size_t n = i < argc ? strtoul(argv[i], NULL, 10) : otherwise;

	if (!n)
		errx(EXIT_FAILURE, "\"%s\" is no number above 0", argv[i]);
	return n;
}

int main(int argc, char **argv)
{
	struct year y = {
		.nr_epochs = number(argc, argv, 2, 10000),
		.nr_programs = number(argc, argv, 3, 2000),
		.nr_entries = number(argc, argv, 4, 10000),
		.random = number(argc, argv, 5, 1),
		.epoch_ns = number(argc, argv, 6, 3600) * NSEC_PER_SEC,
	};
	uint64_t file, wal;
	struct db *db;

	if (argc < 2 || argc > 7 || y.epoch_ns > HOUR_NS)
		errx(EXIT_FAILURE, "usage: mkyear FILE [EPOCHS [IMAGES [ENTRIES [SEED "
				   "[SECONDS]]]]]");
	check(db_open(argv[1], DB_COLLECT_YEARS, &db), argv[1]);
	/* It is made anew if the machine fails. */
	check(sql_exec(db_handle(db), "PRAGMA synchronous = OFF"), argv[1]);
	make_programs(&y);
	fill(&y, db);
	check(db_size(db, &file, &wal), argv[1]);
	printf("%zu epochs, %llu entries, %llu bytes: %.2f bytes an entry\n",
	       y.nr_epochs, (unsigned long long)y.stored,
	       (unsigned long long)(file + wal),
	       (double)(file + wal) / (double)y.stored);
	for (size_t i = 0; i < y.nr_programs; i++)
		free(y.program[i].place);
	free(y.program);
	db_close(db);
	return EXIT_SUCCESS;
}
