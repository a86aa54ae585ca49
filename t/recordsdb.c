/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recordsdb.c - writes a database with hardware's records: recordsdb FILE PROGRAM
 *
 * PROGRAM is target.c, built. Two flushes, each with half of what the table below says
 * of its procedures, beside samples of time.
 */
#include "config.h"

#include <err.h>
#include <errno.h>
#include <stdlib.h>

#include "analysis/image/image.h"
#include "db/store/store.h"
#include "decode/rates.h"
#include "t/makedb.h"

#define NR_FLUSHES 2

enum { CLOCK, OPS, NR_STREAMS };

/* Of each flush: records, of which every nth missed in the cache, and so on. */
static const struct {
	const char *procedure;
	uint64_t clock, records, missed, mispredicted; /* every nth; 0: none */
	uint64_t latency;
} table[] = {
	{ "target_hot", 500, 200, 4, 0, 200 },
	{ "target_cold", 20, 50, 0, 10, 5 },
};

static bool each(uint64_t i, uint64_t nth)
{
	return nth && i % nth == 0;
}

static void add_records(struct profile *p, uint64_t offset, size_t row)
{
	for (uint64_t i = 0; i < table[row].records; i++) {
		struct hw_record hw = { 0 };

		hw_tell(&hw, HW_RETIRED, true);
		hw_tell(&hw, HW_MISPREDICTED, each(i, table[row].mispredicted));
		hw_tell(&hw, HW_L1D_MISS, each(i, table[row].missed));
		hw_set(&hw, HW_DISPATCH_TO_RETIRE, table[row].latency + i % 10);
		if (each(i, table[row].missed)) {
			hw_set(&hw, HW_MEMORY, table[row].latency);
			hw_set(&hw, HW_DATA_ADDRESS, 0x7f0000001000 + 64 * (i % 8));
		}
		check(rates_add(p, offset, &hw), "record");
	}
	check(profile_add(p, &(struct count){ offset, table[row].records, 0, 0 }),
	      "sample");
}

static void make_profiles(struct image *im, struct profile *p[NR_STREAMS])
{
	const struct symbol *symbol;

	for (int i = 0; i < NR_STREAMS; i++) {
		p[i] = profile_new();
		check(p[i] ? 0 : -ENOMEM, "profile");
	}
	for (size_t i = 0; i < NR(table); i++) {
		check(image_symbol_named(im, table[i].procedure, &symbol),
		      table[i].procedure);
		check(profile_add(p[CLOCK], &(struct count){ symbol->start,
							     table[i].clock, 0, 0 }),
		      "sample");
		add_records(p[OPS], symbol->start, i);
	}
}

static void put_flush(struct store *store, uint64_t seq, const struct image_desc *desc,
		      struct image *im)
{
	struct profile *p[NR_STREAMS];
	struct flush_profile profiles[NR_STREAMS];
	struct flush_stream streams[NR_STREAMS] = {
		{ .desc = { "cpu-clock", "perf", "", "ns", 1000000,
			    LANDING_AFTER_GROUP } },
		{ .desc = { "ibs_op", "perf", "", "events", 1000, LANDING_PRECISE } },
	};
	struct flush f = {
		.seq = seq,
		.from_ns = START_NS + seq * MINUTE_NS,
		.to_ns = START_NS + (seq + 1) * MINUTE_NS,
		.duration_ns = MINUTE_NS,
		.streams = streams,
		.nr_streams = NR_STREAMS,
		.profiles = profiles,
		.nr_profiles = NR_STREAMS,
	};

	make_profiles(im, p);
	for (int i = 0; i < NR_STREAMS; i++) {
		profiles[i] = (struct flush_profile){ desc, i, "", p[i] };
		streams[i].received = profile_total(p[i]);
		streams[i].enabled_ns = streams[i].running_ns = MINUTE_NS;
	}
	check(store_flush(store, &f), "flush");
	for (int i = 0; i < NR_STREAMS; i++)
		profile_free(p[i]);
}

int main(int argc, char **argv)
{
	const struct platform_desc platform = makedb_platform();
	struct image_desc desc;
	struct store *store;
	struct image *im;
	struct db *db;

	if (argc != 3)
		errx(EXIT_FAILURE, "usage: recordsdb FILE PROGRAM");
	desc = makedb_file(argv[2]);
	check(image_open(&desc, NULL, &im), argv[2]);
	check(db_open(argv[1], DB_COLLECT, &db), argv[1]);
	check(store_begin(db, &platform, START_NS, &store), "run");
	check(store_epoch(store, START_NS, 10, "records"), "epoch");
	for (uint64_t seq = 1; seq <= NR_FLUSHES; seq++)
		put_flush(store, seq, &desc, im);
	check(store_end(store, START_NS + (NR_FLUSHES + 2) * MINUTE_NS), "end");
	image_close(im);
	db_close(db);
	return EXIT_SUCCESS;
}
