/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * number.h - numbers that people type
 *
 * The whole text must be the number. A number that does not fit is refused, never
 * clipped. times.h reads times with units.
 */
#ifndef CPI_BASE_NUMBER_H
#define CPI_BASE_NUMBER_H

#include <stdint.h>

/*
 * Reads digits of base 10 or 16. Base 0 reads decimal digits, or "0x" and hexadecimal
 * digits.
 * Returns 0, -EINVAL, or -ERANGE for more than 64 bits; then *out is untouched.
 */
int number_parse(const char *text, int base, uint64_t *out);

/*
 * Reads a number that suffix may follow. Returns 0, -EINVAL, or -ERANGE below least or
 * above most; on failure *out is untouched.
 */
int number_parse_real(const char *text, const char *suffix, double least, double most,
		      double *out);

/* Reads "64M", "65536K", "1G", or bytes. Returns 0, or -EINVAL, also for 0 bytes. */
int number_parse_size(const char *text, uint64_t *bytes);

#endif
