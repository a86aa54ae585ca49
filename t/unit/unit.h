/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit.h - what every unit test begins with
 */
#ifndef CPI_T_UNIT_UNIT_H
#define CPI_T_UNIT_UNIT_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Always the same, so that a change is tried by what the one before it passed; $SEED is
 * another one, and "random" one of the moment. Failures print it.
 */
static inline uint64_t unit_seed(void)
{
	const char *text = getenv("SEED");
	struct timespec ts;

	if (!text)
		return 0x9e3779b97f4a7c15;
	if (strcmp(text, "random") != 0)
		return strtoull(text, NULL, 0);
	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000007ULL + (uint64_t)ts.tv_nsec;
}

/*
 * How many cases of a test that draws them: few, which keeps the quick tests quick,
 * unless $ROUNDS is "all", as check --all sets it.
 */
static inline int unit_rounds(int few, int all)
{
	const char *text = getenv("ROUNDS");

	return text && strcmp(text, "all") == 0 ? all : few;
}

/* xorshift64*: tests need spread, not secrecy. */
static inline uint64_t unit_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

/*
 * Each assertion that holds makes two system calls, so that a crash tells the last one
 * before it. Of the many in a loop, one in a thousand is noted.
 */
static inline void unit_mark_point(const char *file, int line)
{
	static unsigned int nr_before;

	if (nr_before < 1000 || nr_before % 1024 == 0)
		(_mark_point)(file, line);
	nr_before++;
}

#define _mark_point(file, line) unit_mark_point(file, line)

/* Defines main: runs one suite made by make_suite(). */
#define UNIT_MAIN(make_suite)                                   \
	int main(void)                                          \
	{                                                       \
		SRunner *runner = srunner_create(make_suite()); \
		int failed;                                     \
                                                                \
		srunner_run_all(runner, CK_ENV);                \
		failed = srunner_ntests_failed(runner);         \
		srunner_free(runner);                           \
		return failed ? EXIT_FAILURE : EXIT_SUCCESS;    \
	}

#endif
