/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz.h - what every fuzz target includes
 *
 * A target is t/fuzz/fuzz_NAME.c with one function, and a folder of inputs,
 * t/fuzz/corpus/NAME/. With clang it is linked with libFuzzer; otherwise
 * replay.c calls it with each file that is named on the command line.
 */
#ifndef CPI_T_FUZZ_FUZZ_H
#define CPI_T_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A property that no input may break; holds with NDEBUG too. */
#define fuzz_check(holds)        \
	do {                     \
		if (!(holds))    \
			abort(); \
	} while (0)

#endif
