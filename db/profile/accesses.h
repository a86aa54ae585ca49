/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accesses.h - which data instructions touched, summed up from windows
 *
 * A window (windows.h) may tell which addresses its loads and stores touched. A set
 * sums that up per instruction, for the windows that began in one image:
 *
 * - How long ago its line and its page were touched before, by any instruction, counted
 *   in accesses of the window. If the window did not see that, it was a first touch,
 *   and only a lower bound is known: these are censored data, as in studies of
 *   lifetimes.
 * - Which lines and pages its first touches touched. The set has a sample of them:
 *   those whose hash is low. All instructions use the same hash and bound, so a line is
 *   found at all instructions that touched it; each also keeps at least ACCESSES_LEAST
 *   places. And it is a simple random sample, so the number of different lines can be
 *   estimated from how often they came again.
 * - For the first touches of this sample, the reuse distance between windows: how many
 *   accesses the set has seen since an earlier window touched the place. Windows show
 *   only a small part of all accesses, and the same part of the touches of each place.
 *   So the ratio of a place's touches to all accesses is not biased.
 * - Its strides: the difference of its addresses in two successive executions in a
 *   window.
 * - How many zero bits its address ends in.
 * - For a load: how many instructions earlier the window's last store to any of its
 *   bytes ran. Cores forward the bytes from the store to the load if the store has
 *   written all of them; otherwise the load waits until the store has reached the
 *   cache. Pushes and operands on the stack have no addresses, so there may be more
 *   such loads.
 *
 * Only the low 32 bits of addresses are known: two lines that are 4 GB apart count as
 * one.
 *
 * I1  seen = kept + accesses of instructions that the set left out; seen <= INT64_MAX
 * I2  of an instruction: `known` + `unknown` > 0; of each granule, Σ `survived` = first
 *     touches, first touches + Σ `reused` = `known`, and `pairs` < `known`; Σ `aligned`
 *     <= `known`, and less only in sets of older versions; `partial` <= Σ `forwarded`
 *     <= `known`
 * I3  what a set has does not depend on the order of what was added, if no instruction
 *     was left out and no stride was displaced by others. `again` and `never` depend on
 *     the order.
 */
#ifndef CPI_DB_ACCESSES_H
#define CPI_DB_ACCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "db/profile/operands.h"

#define ACCESSES_MAX_INSNS  512  /* instructions of a set */
#define ACCESSES_MAX_WINDOW 255  /* accesses of a window, below 2^ACCESSES_AGES */
#define ACCESSES_SAMPLE     1024 /* lines, and pages, of a set */
#define ACCESSES_LEAST      4    /* the same of each instruction, also above that */
#define ACCESSES_MAX_SIZE   6    /* log2 of the bytes of an access */
#define ACCESSES_LINE_BITS  6
#define ACCESSES_PAGE_BITS  12
#define ACCESSES_AGES       8  /* age a: 2^a to 2^(a+1) - 1 accesses ago */
#define ACCESSES_GAPS       24 /* the same, between windows; the last one is open */
#define ACCESSES_STRIDES    4
#define ACCESSES_ALIGNMENTS 7   /* the last one: aligned to a line, or more */
#define ACCESSES_SHARED     255 /* several threads touched a granule */

/* One execution of a load or store in a window. */
struct access {
	uint64_t offset;  /* of the instruction, in its image */
	uint32_t image;   /* a number that the set's owner assigns */
	uint32_t address; /* the low 32 bits of the data's address, if known */
	uint8_t size;     /* log2 of bytes */
	uint8_t nr;       /* of the instruction in the window */
	bool store;       /* it only stores */
	bool writes;      /* it stores, and may load, too */
	bool known;
};

enum accesses_granule {
	ACCESSES_LINES,
	ACCESSES_PAGES,
	ACCESSES_NR_GRANULES,
};

/* A line or page of the sample. */
struct accesses_place {
	uint32_t number; /* address >> ACCESSES_LINE_BITS or ACCESSES_PAGE_BITS */
	uint32_t hash;   /* accesses_hash(number) */
	uint64_t n;      /* first touches by this instruction; not 0 */
	uint8_t thread;  /* a number made of its ID, or ACCESSES_SHARED */
};

struct accesses_reuse {
	uint64_t reused[ACCESSES_AGES];   /* touched before, so long ago */
	uint64_t survived[ACCESSES_AGES]; /* not touched before, for at least so long */
	uint64_t first;                   /* the sum of survived */
	/*
	 * First touches of places of the sample, by the accesses that the set saw since
	 * the place was touched in a window before, or since it began.
	 */
	uint64_t again[ACCESSES_GAPS], never[ACCESSES_GAPS];
	struct accesses_place *place; /* those of the sample, by hash */
	uint32_t nr_places;
};

struct accesses_stride {
	int32_t bytes;
	uint64_t n; /* at least so often; 0: unused */
};

struct accesses_insn {
	uint64_t offset;
	uint32_t image;
	uint8_t size; /* log2, the largest */
	bool loads, stores;
	uint64_t known;   /* executions whose address is known */
	uint64_t unknown; /* other executions */
	uint64_t splits;  /* of known, those that touch two lines; the first counts */
	uint64_t pairs;   /* known executions with a known one before in the window */
	uint64_t aligned[ACCESSES_ALIGNMENTS]; /* known, by zero bits at the end */
	uint64_t forwarded[ACCESSES_AGES];     /* loads of what a store wrote, 2^i to
						  2^(i + 1) - 1 instructions before */
	uint64_t partial; /* of forwarded: the store did not write all bytes */
	struct accesses_stride stride[ACCESSES_STRIDES]; /* the most frequent first */
	struct accesses_reuse reuse[ACCESSES_NR_GRANULES];
};

struct accesses;

/*
 * A set of at most limit instructions, from 1 to ACCESSES_MAX_INSNS. If there are more,
 * those with the fewest executions are left out. NULL when out of memory.
 */
struct accesses *accesses_new(uint32_t limit);
void accesses_free(struct accesses *set); /* accepts NULL */

/*
 * Adds the accesses of one window of thread tid, in their order. 0, -EINVAL if they
 * cannot be those of a window, -EOVERFLOW or -ENOMEM; on -ENOMEM set may have a part of
 * them, else it is unchanged.
 */
int accesses_add(struct accesses *set, const struct access *a, size_t nr, uint32_t tid);

/*
 * Adds all of the set from. Image i of from is map[i] in set; map = NULL means i. 0,
 * -CPI_ECORRUPT for an image that is not in the map, -EOVERFLOW or -ENOMEM; on -ENOMEM
 * set may have a part, else it is unchanged.
 */
int accesses_merge(struct accesses *set, const struct accesses *from,
		   const uint32_t *map, uint32_t nr_map);

uint64_t accesses_seen(const struct accesses *set);    /* <= INT64_MAX */
uint64_t accesses_kept(const struct accesses *set);    /* of instructions that it has */
uint64_t accesses_windows(const struct accesses *set); /* that had accesses */
size_t accesses_memory(const struct accesses *set);    /* bytes */

/*
 * A set may also have the operands of the windows (operands.h), in the same blob.
 * Returns as operands_add().
 */
int accesses_add_operands(struct accesses *set, const struct operand *o, size_t nr);
const struct operands *accesses_operands(const struct accesses *set); /* or NULL */

/*
 * The instructions, by image and offset, and each once; until a change. There may be up
 * to limit / 4 more than the limit, because instructions are removed in batches.
 */
const struct accesses_insn *const *accesses_insns(const struct accesses *set,
						  size_t *nr);

/*
 * The order of accesses_insns(): below, at or above 0 if the instruction is before, at
 * or behind this place.
 */
int accesses_compare(const struct accesses_insn *a, uint32_t image, uint64_t offset);

/*
 * The sample has all places of an instruction whose hash is less than its bound, and no
 * others. So it has bound / 2^32 of the places that the instruction touched.
 */
uint64_t accesses_bound(const struct accesses *set, const struct accesses_insn *insn,
			enum accesses_granule granule);

/* The hash that decides about the sample. It is part of the format: never change it. */
uint32_t accesses_hash(uint32_t number);

/*
 * As a blob, packed (db/profile/pack.h). The body, all numbers LEB128: windows;
 * accesses left out; log2 of the bound, of lines and of pages; number of instructions;
 * their images as distances; their offsets, as distances within an image. Then of each
 * instruction: its flags, which are 1 if it loads + 2 if it stores + 4 size + 32 if
 * `aligned` follows (it is missing in sets of older versions) + 64 if `forwarded` and
 * `partial` follow (they are missing if all are 0); `aligned`, `forwarded`, `partial`;
 * unknown; splits; pairs; the strides: n, and the bytes (as 2 d, or -2 d - 1 below 0),
 * with n = 0 after the last if there are less than 4; of lines and of pages: reused,
 * survived, again and never (again and never: each as a length, and that many counts),
 * the number of places, and of all places, by number: the numbers as
 * distances, then n, then the threads, a byte each. t/fixtures/ has golden files:
 * accesses.blob, and older.blob without aligned. Behind the instructions is what
 * operands_put() appends. If there are no accesses, the instructions are 0, and
 * operands must follow. For an empty set nothing is appended.
 * Returns 0 or -ENOMEM.
 */
int accesses_encode(const struct accesses *set, struct buf *out);

/*
 * Adds a blob's contents, with its numbers of images. Returns 0, -CPI_ETRUNCATED,
 * -CPI_ECORRUPT, -CPI_EVERSION, -CPI_ELIMIT, -EOVERFLOW or -ENOMEM. The whole blob is
 * checked first.
 */
int accesses_decode(const void *blob, size_t size, struct accesses *into);

#endif
