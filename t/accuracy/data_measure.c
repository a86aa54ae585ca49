/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data_measure.c - misses of each instruction, simulated, beside the model's
 *
 * Reads a trace as valgrind's lackey writes it with --trace-mem=yes. Simulates caches
 * and TLBs, set-associative with replacement of the least recently used, for all
 * accesses. Takes windows at random moments, and makes the model (analysis/data/) of
 * these alone. Prints for each instruction its executions, and per level the misses,
 * the model's share and its interval.
 *
 * usage: data_measure GAP SEED < TRACE
 * GAP: instructions between windows, in the mean
 */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/data/data_model.h"
#include "base/hash.h"

#define WINDOW    128 /* instructions */
#define ACCESSES  56  /* of a window */
#define MAX_INSNS (1u << 20)

/* The caches of one core of AMD's family 25, as sysfs has them, and its TLBs. */
static const struct {
	const char *name;
	unsigned int bits, sets, ways;
} level[DATA_NR_LEVELS] = {
	[DATA_L1] = { "l1", 6, 64, 8 },       [DATA_L2] = { "l2", 6, 1024, 8 },
	[DATA_L3] = { "l3", 6, 32768, 16 },   [DATA_TLB1] = { "tlb1", 12, 1, 64 },
	[DATA_TLB2] = { "tlb2", 12, 256, 8 },
};

struct cache {
	uint64_t *tag; /* by set, the most recent first; 0: free */
};

struct truth {
	uint64_t pc; /* 0: free */
	uint64_t runs, misses[DATA_NR_LEVELS];
};

struct simulation {
	struct cache cache[DATA_NR_LEVELS];
	struct truth *insn; /* a hash table */
	struct accesses *set;
	struct access window[ACCESSES];
	size_t nr;     /* accesses in window */
	int left;      /* instructions of the current window */
	uint64_t wait; /* instructions until the next one */
	double gap;    /* mean of wait */
	uint64_t random;
};

static void fail(const char *what)
{
	fprintf(stderr, "data_measure: %s\n", what);
	exit(1);
}

static double draw(struct simulation *s)
{
	s->random += UINT64_C(0x9e3779b97f4a7c15);
	return ((double)(hash_u64(s->random) >> 11) + 0.5) * 0x1p-53;
}

/* Whether it missed. */
static bool touch(struct simulation *s, int l, uint64_t number)
{
	const unsigned int ways = level[l].ways;
	uint64_t *tag = s->cache[l].tag + number % level[l].sets * ways;
	unsigned int at = 0;
	bool miss;

	while (at < ways - 1 && tag[at] != number + 1)
		at++;
	miss = tag[at] != number + 1;
	memmove(tag + 1, tag, at * sizeof(*tag));
	tag[0] = number + 1;
	return miss;
}

static struct truth *find(struct simulation *s, uint64_t pc)
{
	size_t at = hash_u64(pc) % MAX_INSNS;

	for (size_t i = 0; i < MAX_INSNS; i++, at = (at + 1) % MAX_INSNS) {
		if (!s->insn[at].pc)
			s->insn[at].pc = pc;
		if (s->insn[at].pc == pc)
			return &s->insn[at];
	}
	fail("too many instructions");
	return NULL;
}

static void simulate(struct simulation *s, uint64_t pc, uint64_t address,
		     unsigned int size)
{
	struct truth *t = find(s, pc);
	bool miss[DATA_NR_LEVELS] = { false };

	t->runs++;
	for (uint64_t line = address >> 6; line <= (address + size - 1) >> 6; line++)
		for (int l = DATA_L1; l <= DATA_L3 && touch(s, l, line); l++)
			miss[l] = true;
	for (int l = DATA_TLB1; l <= DATA_TLB2 && touch(s, l, address >> 12); l++)
		miss[l] = true;
	for (int l = 0; l < DATA_NR_LEVELS; l++)
		t->misses[l] += miss[l];
}

static void begin_instruction(struct simulation *s)
{
	if (s->left && !--s->left && accesses_add(s->set, s->window, s->nr, 1))
		fail("out of memory");
	if (s->wait--)
		return;
	s->wait = (uint64_t)(-log(draw(s)) * s->gap) + WINDOW;
	s->left = WINDOW;
	s->nr = 0;
}

static void note_access(struct simulation *s, char kind, uint64_t pc, uint64_t address,
			unsigned int size)
{
	struct access *a = &s->window[s->nr];

	if (!s->left || s->nr == ACCESSES)
		return;
	*a = (struct access){ .offset = pc,
			      .address = (uint32_t)address,
			      .known = true };
	a->store = kind == 'S';
	while (a->size < ACCESSES_MAX_SIZE && 1u << a->size < size)
		a->size++;
	s->nr++;
}

/* A line of the trace: "I  ADDRESS,SIZE" or " L ADDRESS,SIZE", also S or M. */
static bool parse(const char *line, char *kind, uint64_t *address, unsigned int *size)
{
	const char *at = line + 3;
	char *end;

	if ((line[0] != 'I' || line[1] != ' ') &&
	    (line[0] != ' ' || !strchr("LSM", line[1]) || !line[1]))
		return false;
	*kind = line[0] == 'I' ? 'I' : line[1];
	*address = strtoull(at, &end, 16);
	*size = *end == ',' ? (unsigned int)strtoul(end + 1, NULL, 10) : 1;
	return end > at;
}

static void read_trace(struct simulation *s)
{
	char line[256], kind;
	uint64_t pc = 0, address;
	unsigned int size;

	while (fgets(line, sizeof(line), stdin)) {
		if (!parse(line, &kind, &address, &size))
			continue;
		if (kind == 'I') {
			pc = address;
			begin_instruction(s);
		} else {
			simulate(s, pc, address, size ? size : 1);
			note_access(s, kind, pc, address, size);
		}
	}
}

static void print(const struct simulation *s, const struct data_model *m)
{
	printf("pc,runs,known,stores");
	for (int l = 0; l < DATA_NR_LEVELS; l++)
		printf(",%s,%s_share,%s_low,%s_high", level[l].name, level[l].name,
		       level[l].name, level[l].name);
	printf("\n");
	for (size_t i = 0; i < MAX_INSNS; i++) {
		const struct truth *t = &s->insn[i];
		const struct data_insn *d = NULL;

		for (size_t k = 0; k < m->nr && t->pc; k++)
			if (m->insn[k].from->offset == t->pc)
				d = &m->insn[k];
		if (!t->pc)
			continue;
		printf("%" PRIx64 ",%" PRIu64 ",%" PRIu64 ",%d", t->pc, t->runs,
		       d ? d->from->known : 0, d && !d->from->loads);
		for (int l = 0; l < DATA_NR_LEVELS; l++)
			printf(",%" PRIu64 ",%g,%g,%g", t->misses[l],
			       d ? d->miss[l].value : 0., d ? d->miss[l].low : 0.,
			       d ? d->miss[l].high : 1.);
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	struct simulation s = { 0 };
	struct data_geometry g = { 0 };
	struct data_model *m;
	struct arena arena;

	if (argc != 3)
		fail("usage: data_measure GAP SEED < TRACE");
	s.gap = strtod(argv[1], NULL);
	s.random = strtoull(argv[2], NULL, 0);
	s.wait = (uint64_t)(draw(&s) * s.gap);
	s.insn = calloc(MAX_INSNS, sizeof(*s.insn));
	s.set = accesses_new(ACCESSES_MAX_INSNS);
	for (int l = 0; l < DATA_NR_LEVELS; l++) {
		s.cache[l].tag =
			calloc((size_t)level[l].sets * level[l].ways, sizeof(uint64_t));
		g.entries[l] = level[l].sets * level[l].ways;
		if (!s.cache[l].tag)
			fail("out of memory");
	}
	if (!s.insn || !s.set)
		fail("out of memory");
	arena_init(&arena, 0);
	read_trace(&s);
	if (data_model_make(s.set, &g, &arena, &m))
		fail("out of memory");
	print(&s, m);
	arena_fini(&arena);
	return 0;
}
