/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "t/accuracy/tage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TABLES      12
#define LOG_ENTRIES 11
#define LOG_BIMODAL 14
#define SHORTEST    4
#define LONGEST     640
#define HISTORY     1024 /* bits that are kept; a power of 2 */
#define TARGETS     6    /* tables of indirect targets: every second history */
#define LOG_TARGETS 9
#define AGE_EVERY   (1 << 18) /* branches, until useful bits fade */
#define MASK(bits)  ((1u << (bits)) - 1)

/* A history of length bits, folded into width bits. */
struct folded {
	uint32_t value;
	int length, width;
};

struct entry {
	uint16_t tag;
	int8_t counter; /* -4 to 3; taken from 0 on */
	uint8_t useful; /* 0 to 3 */
};

struct target_entry {
	uint64_t target;
	uint16_t tag;
	uint8_t sure, useful; /* 0 to 3 */
};

struct tage {
	int8_t bimodal[1 << LOG_BIMODAL]; /* -2 to 1 */
	struct entry table[TABLES][1 << LOG_ENTRIES];
	uint64_t last_target[1 << LOG_TARGETS];
	struct target_entry targets[TARGETS][1 << LOG_TARGETS];
	uint8_t history[HISTORY];
	uint32_t at;   /* newest bit of the history */
	uint32_t path; /* low bits of the last branches' addresses */
	struct folded index[TABLES], tag[TABLES], tag2[TABLES];
	int alt_on_new; /* -8 to 7: trust the alternative if an entry is new */
	uint32_t branches;
	uint32_t random;
};

static int tag_bits(int table)
{
	return 8 + table / 2 < 12 ? 8 + table / 2 : 12;
}

struct tage *tage_new(void)
{
	struct tage *t = calloc(1, sizeof(*t));

	for (int i = 0; t && i < TABLES; i++) {
		const double ratio = (double)LONGEST / SHORTEST;
		const int length =
			(int)(SHORTEST * pow(ratio, i / (TABLES - 1.0)) + 0.5);

		t->index[i] = (struct folded){ 0, length, LOG_ENTRIES };
		t->tag[i] = (struct folded){ 0, length, tag_bits(i) };
		t->tag2[i] = (struct folded){ 0, length, tag_bits(i) - 1 };
	}
	if (t)
		t->random = 12345;
	return t;
}

void tage_free(struct tage *t)
{
	free(t);
}

static uint32_t next_random(struct tage *t)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 17;
	t->random ^= t->random << 5;
	return t->random;
}

static void fold(struct tage *t, struct folded *f)
{
	const uint32_t oldest =
		t->history[(t->at + (uint32_t)f->length) & (HISTORY - 1)];

	f->value = f->value << 1 | t->history[t->at];
	f->value ^= oldest << f->length % f->width;
	f->value ^= f->value >> f->width;
	f->value &= MASK(f->width);
}

static void push(struct tage *t, uint64_t pc, bool bit)
{
	t->at = (t->at - 1) & (HISTORY - 1);
	t->history[t->at] = bit;
	t->path = (t->path << 1 | (pc >> 1 & 1)) & 0xffff;
	for (int i = 0; i < TABLES; i++) {
		fold(t, &t->index[i]);
		fold(t, &t->tag[i]);
		fold(t, &t->tag2[i]);
	}
}

static uint32_t index_of(const struct tage *t, uint64_t pc, int i, int log)
{
	const uint32_t path =
		t->path & MASK(t->index[i].length < 16 ? t->index[i].length : 16);
	const uint32_t p = (uint32_t)(pc ^ pc >> (log - i % 4) ^ pc >> 20);

	return (p ^ t->index[i].value ^ path * 0x9e5u >> 4) & MASK(log);
}

static uint16_t tag_of(const struct tage *t, uint64_t pc, int i)
{
	return (uint16_t)((pc ^ pc >> 13 ^ t->tag[i].value ^ t->tag2[i].value << 1) &
			  MASK(tag_bits(i)));
}

static void move(int8_t *counter, bool up, int low, int high)
{
	if (up && *counter < high)
		++*counter;
	else if (!up && *counter > low)
		--*counter;
}

struct choice {
	struct entry *entry[TABLES];
	uint16_t tag[TABLES];
	int provider, other; /* tables; -1: bimodal */
	bool provided, alternative, predicted, is_new;
};

static bool predict_by(const struct tage *t, const struct choice *c, int table,
		       const int8_t *bimodal)
{
	(void)t;
	return table < 0 ? *bimodal >= 0 : c->entry[table]->counter >= 0;
}

static void choose(struct tage *t, uint64_t pc, const int8_t *bimodal, struct choice *c)
{
	c->provider = c->other = -1;
	for (int i = 0; i < TABLES; i++) {
		c->entry[i] = &t->table[i][index_of(t, pc, i, LOG_ENTRIES)];
		c->tag[i] = tag_of(t, pc, i);
		if (c->entry[i]->tag == c->tag[i]) {
			c->other = c->provider;
			c->provider = i;
		}
	}
	c->provided = predict_by(t, c, c->provider, bimodal);
	c->alternative = predict_by(t, c, c->other, bimodal);
	c->is_new = false;
	if (c->provider >= 0) {
		const struct entry *e = c->entry[c->provider];

		c->is_new = !e->useful && (e->counter == 0 || e->counter == -1);
	} else {
		c->alternative = c->provided;
	}
	c->predicted = c->is_new && t->alt_on_new >= 0 ? c->alternative : c->provided;
}

/* After a miss: a new entry in a table of a longer history. */
static void allocate(struct tage *t, struct choice *c, bool taken)
{
	int first = c->provider + 1;

	if (first < TABLES - 1 && next_random(t) % 3 == 0)
		first++;
	for (int i = first; i < TABLES; i++) {
		if (c->entry[i]->useful)
			continue;
		*c->entry[i] = (struct entry){ c->tag[i], taken ? 0 : -1, 0 };
		return;
	}
	for (int i = c->provider + 1; i < TABLES; i++)
		c->entry[i]->useful -= c->entry[i]->useful > 0;
}

static void age(struct tage *t)
{
	if (++t->branches % AGE_EVERY)
		return;
	for (int i = 0; i < TABLES; i++) {
		for (int k = 0; k < 1 << LOG_ENTRIES; k++)
			t->table[i][k].useful >>= 1;
	}
}

bool tage_conditional(struct tage *t, uint64_t pc, uint64_t target, bool taken)
{
	int8_t *bimodal = &t->bimodal[(pc ^ pc >> 13) & MASK(LOG_BIMODAL)];
	struct choice c;
	struct entry *e;

	(void)target;
	choose(t, pc, bimodal, &c);
	if (c.provider >= 0) {
		e = c.entry[c.provider];
		if (c.is_new && c.provided != c.alternative) {
			int8_t alt = (int8_t)t->alt_on_new;

			move(&alt, c.alternative == taken, -8, 7);
			t->alt_on_new = alt;
		}
		if (c.provided != c.alternative) {
			if (c.provided == taken && e->useful < 3)
				e->useful++;
			else if (c.provided != taken && e->useful)
				e->useful--;
		}
		move(&e->counter, taken, -4, 3);
		if (!e->useful && c.other < 0)
			move(bimodal, taken, -2, 1);
	} else {
		move(bimodal, taken, -2, 1);
	}
	if (c.predicted != taken && c.provider < TABLES - 1)
		allocate(t, &c, taken);
	age(t);
	push(t, pc, taken);
	return c.predicted != taken;
}

bool tage_indirect(struct tage *t, uint64_t pc, uint64_t target)
{
	uint64_t *last = &t->last_target[(pc ^ pc >> 9) & MASK(LOG_TARGETS)];
	struct target_entry *e[TARGETS], *by = NULL;
	uint64_t predicted = *last;
	int provider = -1;

	for (int i = 0; i < TARGETS; i++) {
		e[i] = &t->targets[i][index_of(t, pc, 2 * i, LOG_TARGETS)];
		if (e[i]->tag == tag_of(t, pc, 2 * i) && e[i]->target) {
			predicted = by && !e[i]->sure ? predicted : e[i]->target;
			by = e[i];
			provider = i;
		}
	}
	if (by) {
		const bool right = by->target == target;

		if (right && by->sure < 3)
			by->sure++;
		else if (!right && by->sure)
			by->sure--;
		else if (!right)
			by->target = target;
		by->useful = right;
	}
	if (predicted != target) {
		int i = provider + 1;

		for (i += next_random(t) % 3 == 0; i < TARGETS; i++) {
			if (!e[i]->useful)
				break;
			e[i]->useful = 0;
		}
		if (i < TARGETS)
			*e[i] = (struct target_entry){ target, tag_of(t, pc, 2 * i), 0,
						       0 };
	}
	*last = target;
	push(t, pc, target >> 2 & 1);
	push(t, pc, target >> 4 & 1);
	return predicted != target;
}

void tage_other(struct tage *t, uint64_t pc, uint64_t target)
{
	push(t, pc, (target >> 2 ^ pc >> 1) & 1);
}
