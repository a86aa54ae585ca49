/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * isa_kept.c - schedules as bytes, for a file that later runs read
 *
 * 	seed  { hash, check, nr, nr timings }…
 *
 * Numbers have the machine's byte order, and units are numbered as in the CPU model. So
 * the bytes are valid only for the same build of this program; the caller ensures that.
 * They may be damaged or forged, so each value is checked. The seed is random, so
 * nobody can construct code that hashes like other code.
 */
#include "config.h"

#include "analysis/isa/isa_kept.h"

#include <string.h>

#include "analysis/isa/isa_machine.h"
#include "base/err.h"

#define NO_UNIT    UINT8_MAX
#define MOST       1e6f /* cycles; far more than a model has */
#define MODELLED   1
#define CARRIED    2
#define ENTRY_SIZE (2 * sizeof(uint64_t) + 1)

struct kept_timing {
	float head, front_end, dependency, unit, execute;
	uint16_t latency, uops;
	int8_t culprit; /* a run has at most ISA_SEEN_INSNS instructions */
	uint8_t reg, flags, wanted;
};

static uint8_t number_of_unit(const struct isa *isa, const char *name)
{
	const unsigned int nr = llvm_nr_units(isa->llvm);

	for (unsigned int i = 0; name && i < nr && i < NO_UNIT; i++) {
		if (llvm_unit(isa->llvm, i) == name)
			return (uint8_t)i;
	}
	return NO_UNIT;
}

static void put_timing(const struct isa *isa, const struct isa_timing *t,
		       struct buf *out)
{
	struct kept_timing k;

	memset(&k, 0, sizeof(k));
	k.head = t->head;
	k.front_end = t->front_end;
	k.dependency = t->dependency;
	k.unit = t->unit;
	k.execute = t->execute;
	k.latency = t->latency;
	k.uops = t->uops;
	k.culprit = (int8_t)t->culprit;
	k.reg = t->reg;
	k.flags = (uint8_t)((t->modelled ? MODELLED : 0) | (t->carried ? CARRIED : 0));
	k.wanted = number_of_unit(isa, t->wanted);
	buf_put(out, &k, sizeof(k));
}

struct isa_keeping {
	const struct isa *isa;
	struct buf *out;
};

static void put_run(void *ctx, const struct isa_seen_run *run)
{
	struct isa_keeping *k = ctx;

	buf_put(k->out, &run->hash, sizeof(run->hash));
	buf_put(k->out, &run->check, sizeof(run->check));
	buf_putc(k->out, (char)run->nr);
	for (int i = 0; i < run->nr; i++)
		put_timing(k->isa, &run->timing[i], k->out);
}

int isa_kept_put(const struct isa *isa, struct buf *out)
{
	struct isa_keeping k = { isa, out };

	buf_put(out, &isa->seen.seed, sizeof(isa->seen.seed));
	isa_seen_each(&isa->seen, put_run, &k);
	return out->err;
}

static bool is_time(float cycles)
{
	return cycles >= 0 && cycles < MOST; /* and a number */
}

static bool get_timing(const struct isa *isa, const struct kept_timing *k, int nr,
		       struct isa_timing *t)
{
	if (!is_time(k->head) || !is_time(k->front_end) || !is_time(k->dependency) ||
	    !is_time(k->unit) || !is_time(k->execute) || k->culprit < ISA_NO_CULPRIT ||
	    k->culprit >= nr || k->reg >= ISA_NR_REGISTERS ||
	    k->flags & ~(MODELLED | CARRIED) ||
	    (k->wanted != NO_UNIT && k->wanted >= llvm_nr_units(isa->llvm)))
		return false;
	*t = (struct isa_timing){
		.modelled = k->flags & MODELLED,
		.head = k->head,
		.front_end = k->front_end,
		.dependency = k->dependency,
		.unit = k->unit,
		.execute = k->execute,
		.culprit = k->culprit,
		.reg = k->reg,
		.carried = k->flags & CARRIED,
		.wanted = k->wanted == NO_UNIT ? NULL : llvm_unit(isa->llvm, k->wanted),
		.latency = k->latency,
		.uops = k->uops,
	};
	return true;
}

/* Reads one run at *pos, and moves it past. timing has room for ISA_SEEN_INSNS. */
static bool get_run(struct isa *isa, const uint8_t **pos, const uint8_t *end,
		    struct isa_seen_run *run, struct isa_timing *timing)
{
	struct kept_timing k;

	if ((size_t)(end - *pos) < ENTRY_SIZE)
		return false;
	memcpy(&run->hash, *pos, sizeof(run->hash));
	memcpy(&run->check, *pos + sizeof(run->hash), sizeof(run->check));
	run->nr = (*pos)[ENTRY_SIZE - 1];
	run->timing = timing;
	*pos += ENTRY_SIZE;
	if (run->nr < 1 || run->nr > ISA_SEEN_INSNS ||
	    (size_t)(end - *pos) < (size_t)run->nr * sizeof(k))
		return false;
	for (int i = 0; i < run->nr; i++, *pos += sizeof(k)) {
		memcpy(&k, *pos, sizeof(k));
		if (!get_timing(isa, &k, run->nr, &timing[i]))
			return false;
	}
	return true;
}

/* Reads all runs; false: one is damaged, or is there twice. */
static bool get_all(struct isa *isa, const uint8_t *pos, const uint8_t *end)
{
	struct isa_timing timing[ISA_SEEN_INSNS];
	struct isa_seen_run run;

	while (pos < end) {
		if (!get_run(isa, &pos, end, &run, timing) ||
		    !isa_seen_put(&isa->seen, &run))
			return false;
	}
	return true;
}

int isa_kept_get(struct isa *isa, const uint8_t *data, size_t size)
{
	const size_t seed_size = sizeof(isa->seen.seed);
	int err = isa->has_model ? 0 : isa_set_cpu(isa, isa->cpu);

	if (err)
		return err;
	isa_seen_fini(&isa->seen);
	if (size < seed_size)
		return -CPI_ETRUNCATED;
	memcpy(&isa->seen.seed, data, seed_size);
	err = get_all(isa, data + seed_size, data + size) ? 0 : -CPI_ECORRUPT;
	isa->seen.grew = false;
	if (err)
		isa_seen_fini(&isa->seen);
	return err;
}

void isa_kept_mark(struct isa *isa)
{
	isa_seen_mark(&isa->seen);
}

int isa_kept_put_new(const struct isa *isa, struct buf *out)
{
	struct isa_keeping k = { isa, out };

	isa_seen_each_new(&isa->seen, put_run, &k);
	return out->err;
}

int isa_kept_add(struct isa *isa, const uint8_t *data, size_t size)
{
	const uint8_t *pos = data, *end = data + size;
	const int err = size && !isa->has_model ? isa_set_cpu(isa, isa->cpu) : 0;

	if (err)
		return err;
	while (pos < end) {
		struct isa_timing timing[ISA_SEEN_INSNS];
		struct isa_seen_run run;

		if (!get_run(isa, &pos, end, &run, timing))
			return -CPI_ECORRUPT;
		isa->seen.grew |= isa_seen_take(&isa->seen, &run);
	}
	return 0;
}

bool isa_kept_grew(const struct isa *isa)
{
	return isa->seen.grew;
}

void isa_kept_seed(struct isa *isa, uint64_t seed)
{
	isa_seen_fini(&isa->seen);
	isa->seen.seed = seed;
}
