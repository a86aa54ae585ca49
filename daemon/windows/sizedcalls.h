/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sizedcalls.h - recognises functions of the C library that take a number of bytes
 *
 * The daemon reads no symbols of other programs, and the C library's own symbols do not
 * name the implementation of memcpy() that the dynamic linker chooses for a CPU. But
 * the daemon itself is linked with the C library. So the code at which its own memcpy()
 * begins tells this function in other programs: they use the same file, or one with the
 * same code.
 *
 * Functions of another C library, or another version of it, are not recognised if their
 * code differs.
 */
#ifndef CPI_DAEMON_SIZEDCALLS_H
#define CPI_DAEMON_SIZEDCALLS_H

#include <stdint.h>

#define SIZEDCALLS_BYTES 32 /* of code that are compared */
#define SIZEDCALLS_ARGS  4  /* the size and the pointers are among the first */

struct sizedcall {
	const char *name;
	uint8_t size;     /* the argument that is the number of bytes, from 0 on */
	uint8_t pointers; /* how many of the first arguments are pointers to the data */
	uint8_t code[SIZEDCALLS_BYTES];
};

struct sizedcalls;

/* Reads the code of the C library's functions. NULL when out of memory. */
struct sizedcalls *sizedcalls_new(void);
void sizedcalls_free(struct sizedcalls *calls); /* accepts NULL */

/* The function that begins with these SIZEDCALLS_BYTES of code, or NULL. */
const struct sizedcall *sizedcalls_find(const struct sizedcalls *calls,
					const uint8_t *code);

/* The register of an argument, from 0 to SIZEDCALLS_ARGS - 1 (abi/uop.h). */
unsigned int sizedcalls_register(unsigned int argument);

#endif
