/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mkdb.c - writes a database of known content: mkdb FILE [PROGRAM]
 *
 * Without PROGRAM, an epoch that is open and has nothing yet. Else two epochs of a
 * first run ("full" has everything that a report must show, "half" has half the rate),
 * then a run after an unclean stop. PROGRAM is target.c, built: its procedures' offsets
 * are looked up, their counts are in the table below. $MKDB_HOST, $MKDB_ARCH,
 * $MKDB_CPU, $MKDB_RELEASE, $MKDB_KERNEL (a build id's last byte) and $MKDB_UNIT
 * (of cpu-clock's period) make other machines. With $MKDB_TICKS "full" has ticks as
 * well, with $MKDB_ACCESSES data that windows touched.
 */
#include "config.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/image.h"
#include "db/store/store.h"
#include "t/makedb.h"

#define HOSTILE    "/opt/\033[31mred,\"x\"\n\xff"
#define NR_STREAMS 3
#define TICK_NS    2000000

enum { TARGET, KERNEL, IDLE, MISSING, ODD, NR_IMAGES };
enum { CLOCK, FAULTS, TICKS };

/* Where a count is: in a procedure of the target, or at an offset. */
struct sample {
	int image, stream;
	const char *procedure; /* NULL: offset counts from 0 */
	uint64_t offset, n, taken, not_taken;
	const char *comm;
};

static const struct sample full[] = {
	{ TARGET, CLOCK, "target_hot", 0, 560, 0, 0, "target" },
	{ TARGET, CLOCK, "target_hot", 2, 40, 30, 10, "target" },
	{ TARGET, CLOCK, "target_cold", 0, 300, 0, 0, "target" },
	{ TARGET, CLOCK, NULL, 0x10, 8, 0, 0, "target" },
	{ TARGET, FAULTS, "target_cold", 0, 12, 0, 0, "target" },
	{ KERNEL, CLOCK, NULL, 0x1010, 50, 0, 0, "target" },
	{ KERNEL, CLOCK, NULL, 0x1080, 5, 0, 0, "sh" },
	{ KERNEL, CLOCK, NULL, 0x9000, 5, 0, 0, "sh" },
	{ IDLE, CLOCK, NULL, 0x2000, 1000, 0, 0, "swapper" },
	{ MISSING, CLOCK, NULL, 0x500, 20, 0, 0, "app" },
	{ ODD, CLOCK, NULL, 0x40, 7, 0, 0, "e\033vil,\"\n" },
};

/* Fewer than expected at the first instruction of target_hot, more at the next. */
static const struct sample ticks[] = {
	{ TARGET, TICKS, "target_hot", 0, 260, 0, 0, "target" },
	{ TARGET, TICKS, "target_hot", 2, 40, 0, 0, "target" },
	{ TARGET, TICKS, "target_cold", 0, 150, 0, 0, "target" },
};

static const struct sample half[] = {
	{ TARGET, CLOCK, "target_hot", 0, 50, 0, 0, "target" },
	{ TARGET, CLOCK, "target_cold", 0, 50, 0, 0, "target" },
};

static const struct flush_loss full_losses[] = {
	{ CLOCK, LOSS_UNKNOWN, "map_gap", 3 },
	{ CLOCK, LOSS_UNKNOWN, "ambiguous", 2 },
	{ CLOCK, LOSS_LOST, "ring_lost", 4 },
};

struct maker {
	struct image_desc image[NR_IMAGES];
	struct image *target;
	struct store *store;
	uint64_t period_ns;
};

static const char *setting(const char *variable, const char *usual)
{
	const char *value = getenv(variable);

	return value ? value : usual;
}

static void describe_images(struct maker *m, const char *program)
{
	m->image[TARGET] = makedb_file(program);
	m->image[KERNEL] = (struct image_desc){
		.kind = IMAGE_KERNEL,
		.name = "[kernel]",
		.build_id = { 0xab, strtoul(setting("MKDB_KERNEL", "0xcd"), NULL, 0) },
		.build_id_size = 2
	};
	m->image[IDLE] = (struct image_desc){ .kind = IMAGE_IDLE, .name = "[idle]" };
	m->image[MISSING] = (struct image_desc){ .kind = IMAGE_FILE,
						 .name = "/nonexistent/app",
						 .build_id = { 0x01, 0x23 },
						 .build_id_size = 2 };
	m->image[ODD] = (struct image_desc){ .kind = IMAGE_FILE, .name = HOSTILE };
	check(image_open(&m->image[TARGET], NULL, &m->target), program);
}

static uint64_t number(const struct sample *s)
{
	return s->n / strtoull(setting("MKDB_DIVIDE", "1"), NULL, 10);
}

static uint64_t offset_of(struct maker *m, const struct sample *s)
{
	const struct symbol *symbol;

	if (!s->procedure)
		return s->offset;
	check(image_symbol_named(m->target, s->procedure, &symbol), s->procedure);
	return symbol->start + s->offset;
}

/* One profile per image and stream that occurs. */
static size_t make_profiles(struct maker *m, const struct sample *s, size_t nr,
			    struct flush_profile *out)
{
	struct profile *p[NR_IMAGES][NR_STREAMS] = { { NULL } };
	size_t nr_profiles = 0;

	for (size_t i = 0; i < nr; i++) {
		struct profile **at = &p[s[i].image][s[i].stream];
		struct count c = { offset_of(m, &s[i]), number(&s[i]), s[i].taken,
				   s[i].not_taken };

		if (!*at) {
			*at = profile_new();
			out[nr_profiles++] =
				(struct flush_profile){ &m->image[s[i].image],
							s[i].stream, "", *at };
		}
		if (c.n)
			check(profile_add(*at, &c), "profile");
	}
	return nr_profiles;
}

static size_t make_comms(struct maker *m, const struct sample *s, size_t nr,
			 struct flush_comm *out)
{
	for (size_t i = 0; i < nr; i++)
		out[i] = (struct flush_comm){ &m->image[s[i].image], s[i].stream,
					      s[i].comm, number(&s[i]) };
	return nr;
}

/* As the accounting demands: received = stored + losses. */
static void make_streams(struct maker *m, const struct flush *f,
			 struct flush_stream *out)
{
	out[CLOCK] = (struct flush_stream){
		.desc = { "cpu-clock", "perf", "", setting("MKDB_UNIT", "ns"),
			  m->period_ns, LANDING_AFTER_GROUP },
		.not_delivered = f->nr_losses ? 6 : 0,
		.enabled_ns = MINUTE_NS,
		.running_ns = MINUTE_NS,
	};
	out[FAULTS] = (struct flush_stream){
		.desc = { "page-faults", "perf", "", "events", 100, LANDING_PRECISE },
		.enabled_ns = MINUTE_NS,
		.running_ns = MINUTE_NS,
	};
	out[TICKS] = (struct flush_stream){
		.desc = { "ticks", "bpf", "", "ns", TICK_NS, LANDING_AFTER_GROUP },
		.enabled_ns = MINUTE_NS,
		.running_ns = MINUTE_NS,
	};
	for (size_t i = 0; i < f->nr_profiles; i++)
		out[f->profiles[i].stream].received +=
			profile_total(f->profiles[i].profile);
	for (size_t i = 0; i < f->nr_losses; i++)
		out[f->losses[i].stream].received += f->losses[i].n;
}

/* A load at the begin of target_hot that walks through lines and comes back to some. */
static struct accesses *make_accesses(struct maker *m)
{
	struct accesses *set = accesses_new(ACCESSES_MAX_INSNS);
	const struct sample at = { TARGET, CLOCK, "target_hot", 0, 0, 0, 0, NULL };
	struct access a[64];

	for (uint32_t w = 0; w < 200; w++) {
		for (uint32_t i = 0; i < NR(a); i++)
			a[i] = (struct access){ .offset = offset_of(m, &at),
						.address = 0x10000 * w +
							   64 * (i % 4 ? i : 0),
						.size = 3,
						.known = true };
		check(accesses_add(set, a, NR(a), w), "accesses");
	}
	return set;
}

/* As store_flush(), with the accesses of windows. */
static int flush_accesses(struct maker *m, struct flush *f)
{
	const struct image_desc *images[] = { &m->image[TARGET] };
	struct flush_stream stream = {
		.desc = { "windows", "kmod", "", "ns", 1000000, LANDING_PRECISE },
		.enabled_ns = MINUTE_NS,
		.running_ns = MINUTE_NS,
	};
	struct flush_window_set set = { images[0], 0, "", windows_new(WINDOWS_LIMIT, 1),
					make_accesses(m) };
	struct flush_windows windows = { .streams = { &stream, 1, NULL, 0 },
					 .sets = &set,
					 .nr_sets = 1,
					 .images = images,
					 .nr_images = 1 };
	int err;

	f->windows = &windows;
	err = store_flush(m->store, f);
	windows_free(set.windows);
	accesses_free(set.accesses);
	return err;
}

static void store(struct maker *m, uint64_t seq, uint64_t from_ns,
		  const struct sample *s, size_t nr, const struct flush_loss *losses,
		  size_t nr_losses)
{
	const struct flush_symbol symbols[] = {
		{ &m->image[KERNEL], 0x1000, 0x100, "do_syscall_64" },
		{ &m->image[KERNEL], 0x1100, 0x40, "ret_from_fork" },
	};
	static uint8_t code[0x40]; /* of ret_from_fork: add %al,(%rax), … */
	const struct flush_code codes[] = {
		{ &m->image[KERNEL], 0x1100, code, sizeof(code) },
	};
	struct flush_profile profiles[NR_IMAGES * NR_STREAMS];
	struct flush_stream streams[NR_STREAMS];
	struct flush_comm comms[NR(full) + NR(ticks)];
	struct flush f = {
		.seq = seq,
		.from_ns = from_ns,
		.to_ns = from_ns + MINUTE_NS,
		.duration_ns = MINUTE_NS,
		.streams = streams,
		.nr_streams = s == half || !getenv("MKDB_TICKS") ? TICKS : NR_STREAMS,
		.profiles = profiles,
		.comms = comms,
		.losses = losses,
		.nr_losses = nr_losses,
		.symbols = symbols,
		.nr_symbols = nr_losses ? NR(symbols) : 0,
		.codes = codes,
		.nr_codes = nr_losses ? NR(codes) : 0,
	};

	f.nr_profiles = make_profiles(m, s, nr, profiles);
	f.nr_comms = make_comms(m, s, nr, comms);
	make_streams(m, &f, streams);
	check(getenv("MKDB_ACCESSES") ? flush_accesses(m, &f)
				      : store_flush(m->store, &f),
	      "flush");
	for (size_t i = 0; i < f.nr_profiles; i++)
		profile_free(profiles[i].profile);
}

/* From within epoch "full" to the end of the second run. */
static void fill(struct maker *m, struct db *db, const struct platform_desc *platform)
{
	const size_t nr = NR(full) + (getenv("MKDB_TICKS") ? NR(ticks) : 0);
	struct sample first[NR(full) + NR(ticks)];
	uint64_t now = START_NS;

	memcpy(first, full, sizeof(full));
	memcpy(first + NR(full), ticks, sizeof(ticks));
	store(m, 1, now, first, nr, full_losses, NR(full_losses));
	now += MINUTE_NS;
	m->period_ns = 2000000;
	check(store_epoch(m->store, now, 10, "half"), "epoch");
	store(m, 2, now, half, NR(half), NULL, 0);
	store_free(m->store);
	now += 10 * MINUTE_NS;
	check(store_begin(db, platform, now, &m->store), "run");
	check(store_epoch(m->store, now, 10, NULL), "epoch");
	store(m, 1, now, half, NR(half), NULL, 0);
	check(store_end(m->store, now + MINUTE_NS), "end");
	m->store = NULL;
}

int main(int argc, char **argv)
{
	struct platform_desc platform = makedb_platform();
	struct maker m = { .period_ns = 1000000 };
	struct db *db;

	platform.host = setting("MKDB_HOST", platform.host);
	platform.arch = setting("MKDB_ARCH", platform.arch);
	platform.cpu = setting("MKDB_CPU", platform.cpu);
	platform.release = setting("MKDB_RELEASE", platform.release);
	if (argc < 2 || argc > 3)
		errx(EXIT_FAILURE, "usage: mkdb FILE [PROGRAM]");
	check(db_open(argv[1], DB_COLLECT, &db), argv[1]);
	check(store_begin(db, &platform, START_NS, &m.store), "run");
	check(store_epoch(m.store, START_NS, 10, "full"), "epoch");
	if (argc == 3) {
		describe_images(&m, argv[2]);
		fill(&m, db, &platform);
		image_close(m.target);
	}
	store_free(m.store);
	db_close(db);
	return EXIT_SUCCESS;
}
