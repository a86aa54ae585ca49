/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * window_memory.h - a window's view of memory: its own stores on top of the program's
 * memory
 *
 * Part of kmod/window.h. The program's memory is never written: stores go to a table of
 * 8-byte words, open addressing with few probes, one mask for the bytes that are valid
 * and one for those whose value is not known. A new window is a new generation, which
 * empties the table without touching it.
 *
 * M1  A byte that a window stored is never read from memory again.
 * M2  A store that finds no free slot within the probes ends the window.
 * M3  Different addresses are different memory. So tagged addresses, whose upper byte
 *     hardware ignores, end the window.
 */
#ifndef CPI_KMOD_WINDOW_MEMORY_H
#define CPI_KMOD_WINDOW_MEMORY_H

#ifdef __KERNEL__
#include <linux/stddef.h>
#else
#include <stddef.h>
#endif

#include "abi/window.h"

#ifndef CPI_WINDOW_INLINE
#define CPI_WINDOW_INLINE static inline __attribute__((always_inline))
#endif

#define CPI_WINDOW_FALLTHROUGH __attribute__((__fallthrough__))

#if defined(__clang__)
#define CPI_WINDOW_UNROLL _Pragma("unroll")
#else
#define CPI_WINDOW_UNROLL _Pragma("GCC unroll 16")
#endif

/*
 * Keeps a later bound check in the code that the compiler would remove as redundant:
 * verifiers before Linux 6.8 forget the bounds of a number after a bitwise or.
 */
#define CPI_WINDOW_HIDE(number) asm volatile("" : "+r"(number))

#define CPI_WINDOW_PROBES 4

/* Sizes are log2 of bytes, 0 to 3. */
CPI_WINDOW_INLINE uint64_t cpi_size_bits(unsigned int size)
{
	return ~0ULL >> ((64 - (8u << (size & 3))) & 63);
}

CPI_WINDOW_INLINE uint8_t cpi_size_bytes(unsigned int size)
{
	return (uint8_t)((1u << (1u << (size & 3))) - 1);
}

/* Expands a mask of bytes to a mask of bits. */
CPI_WINDOW_INLINE uint64_t cpi_byte_bits(uint64_t bytes)
{
	const uint64_t low7 = 0x7f7f7f7f7f7f7f7fULL;
	uint64_t one = (bytes & 0xff) * 0x0101010101010101ULL & 0x8040201008040201ULL;

	one = ((one & low7) + low7) | one; /* the top bit of each byte that is not 0 */
	return (one >> 7 & 0x0101010101010101ULL) * 255;
}

/* Whether an address has a tag. Two tagged addresses may be the same memory. */
CPI_WINDOW_INLINE int cpi_is_tagged(uint64_t address)
{
	return address >> 56 != 0;
}

CPI_WINDOW_INLINE uint32_t cpi_window_hash(uint64_t word)
{
	return (uint32_t)(word * 0x9e3779b97f4a7c15ULL >> 57);
}

_Static_assert(CPI_WINDOW_STORES == 1 << (64 - 57), "the hash picks any store");

/* The store-table entry of a word, or NULL if the window did not store to it. */
CPI_WINDOW_INLINE struct cpi_window_store *cpi_window_stored(struct cpi_window_state *s,
							     uint64_t word)
{
	const uint32_t first = cpi_window_hash(word);
	unsigned int i;

	CPI_WINDOW_UNROLL
	for (i = 0; i < CPI_WINDOW_PROBES; i++) {
		struct cpi_window_store *e =
			&s->store[(first + i) & (CPI_WINDOW_STORES - 1)];

		if (e->generation != s->generation)
			return NULL;
		if (e->word == word)
			return e;
	}
	return NULL;
}

/* The same, but makes a new entry if there is none; NULL if there is no free slot. */
CPI_WINDOW_INLINE struct cpi_window_store *cpi_window_place(struct cpi_window_state *s,
							    uint64_t word)
{
	const uint32_t first = cpi_window_hash(word);
	unsigned int i;

	CPI_WINDOW_UNROLL
	for (i = 0; i < CPI_WINDOW_PROBES; i++) {
		struct cpi_window_store *e =
			&s->store[(first + i) & (CPI_WINDOW_STORES - 1)];

		if (e->generation != s->generation) {
			e->generation = s->generation;
			e->word = word;
			e->value = 0;
			e->valid = 0;
			e->unknown = 0;
			return e;
		}
		if (e->word == word)
			return e;
	}
	return NULL;
}

/* The bit of a line of 64 bytes; several lines share a bit. */
CPI_WINDOW_INLINE uint64_t cpi_window_line_bit(uint64_t address)
{
	return 1ULL << (address >> 6 & 63);
}

/* Stores the bytes of value that are set in the mask. Returns an end, or 0. */
CPI_WINDOW_INLINE uint32_t cpi_window_store_bytes(struct cpi_window_state *s,
						  uint64_t address, uint64_t value,
						  uint32_t bytes, uint32_t unknown)
{
	const uint64_t word = address >> 3;
	const uint32_t skip = address & 7;
	uint32_t part = bytes << skip & 0xff;
	struct cpi_window_store *e;

	if (part) {
		e = cpi_window_place(s, word);
		if (!e)
			return CPI_WINDOW_STORES_FULL;
		e->value = (e->value & ~cpi_byte_bits(part)) |
			   (value << 8 * skip & cpi_byte_bits(part));
		e->valid |= part;
		e->unknown = (e->unknown & ~part) | (unknown << skip & part);
	}
	part = bytes << skip >> 8;
	if (part) {
		e = cpi_window_place(s, word + 1);
		if (!e)
			return CPI_WINDOW_STORES_FULL;
		e->value = (e->value & ~cpi_byte_bits(part)) |
			   (value >> ((64 - 8 * skip) & 63) & cpi_byte_bits(part));
		e->valid |= part;
		e->unknown = (e->unknown & ~part) | (unknown << skip >> 8 & part);
	}
	s->nr_stores++;
	s->stored_lines |=
		cpi_window_line_bit(address) | cpi_window_line_bit(address + 7);
	return 0;
}

/* The bytes at an address that the window itself has stored. */
struct cpi_window_own {
	uint64_t value;
	uint32_t valid;
	uint32_t unknown;
};

CPI_WINDOW_INLINE struct cpi_window_own
cpi_window_own(struct cpi_window_state *s, uint64_t address, unsigned int size)
{
	const uint32_t skip = address & 7;
	struct cpi_window_own own = { 0, 0, 0 };
	struct cpi_window_store *e;

	if (!s->nr_stores)
		return own;
	e = cpi_window_stored(s, address >> 3);
	if (e) {
		own.value = e->value >> 8 * skip;
		own.valid = e->valid >> skip;
		own.unknown = e->unknown >> skip;
	}
	if (skip + (1u << size) > 8) {
		e = cpi_window_stored(s, (address >> 3) + 1);
		if (e) {
			own.value |= e->value << ((64 - 8 * skip) & 63);
			own.valid |= e->valid << (8 - skip);
			own.unknown |= e->unknown << (8 - skip);
		}
	}
	own.valid &= cpi_size_bytes(size);
	own.unknown &= own.valid;
	own.value &= cpi_byte_bits(own.valid);
	return own;
}

/* Whether rep wrote to any of these bytes. */
CPI_WINDOW_INLINE int cpi_window_blurred(const struct cpi_window_state *s,
					 uint64_t address, unsigned int size)
{
	return address < s->blur_end && address + (1u << size) > s->blur_start;
}

/* Whether the window itself wrote, or may have, to the 16 bytes at pc. */
CPI_WINDOW_INLINE int cpi_window_wrote(struct cpi_window_state *s, uint64_t pc)
{
	if (cpi_window_blurred(s, pc, 4))
		return 1;
	if (!(s->stored_lines &
	      (cpi_window_line_bit(pc) | cpi_window_line_bit(pc + 15))))
		return 0;
	return (cpi_window_own(s, pc, 3).valid | cpi_window_own(s, pc + 8, 3).valid) !=
	       0;
}

#endif
