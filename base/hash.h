/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hash.h - hash functions for tables in memory; stored only for the same program file
 */
#ifndef CPI_BASE_HASH_H
#define CPI_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* splitmix64's finaliser: every input bit reaches every output bit. */
static inline uint64_t hash_u64(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/* Eight bytes at a time; seed chains several parts of one key. */
static inline uint64_t hash_bytes(uint64_t seed, const void *data, size_t len)
{
	const unsigned char *p = data;
	uint64_t h = seed + len * 0x9e3779b97f4a7c15ULL, word = 0;

	for (; len >= sizeof(word); p += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = hash_u64(h ^ word);
	}
	word = 0;
	for (; len; len--)
		word = word << 8 | p[len - 1];
	return hash_u64(h ^ word);
}

/* Adds a part of a key to a hash of 128 bits, which starts as zeros or another part. */
static inline void hash_add(uint64_t hash[2], const void *data, size_t len)
{
	hash[0] = hash_bytes(hash[0], data, len);
	hash[1] = hash_bytes(~hash[1], data, len);
}

#endif
