/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * execs - what an audit library adds to a program's life
 *
 *	execs ROUNDS PROGRAM LIBRARY...		"-" is none
 *
 * In each round PROGRAM runs once with each LIBRARY as LD_AUDIT, in random order, on
 * one CPU. Prints, of each, the median and the least CPU time from the fork to its end
 * (the sum of user and system time is exact), and the median of the differences to
 * the one before it in the same round.
 */
#include "config.h"

#include <sched.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_LIBRARIES 8

static double us(const struct timeval *t)
{
	return t->tv_sec * 1e6 + t->tv_usec;
}

static double time_one(const char *program, const char *library)
{
	char *args[] = { (char *)program, NULL }, variable[4096], socket[4096];
	char *env[] = { socket, library[0] == '-' ? NULL : variable, NULL };
	const char *path = getenv("CPI_ANNOUNCE");
	struct rusage used;
	int status;
	pid_t pid;

	snprintf(socket, sizeof(socket), "CPI_ANNOUNCE=%s", path ? path : "");
	snprintf(variable, sizeof(variable), "LD_AUDIT=%s", library);
	if (posix_spawn(&pid, program, NULL, NULL, args, env) ||
	    wait4(pid, &status, 0, &used) != pid || status) {
		fprintf(stderr, "%s does not run with %s\n", program, library);
		exit(EXIT_FAILURE);
	}
	return us(&used.ru_utime) + us(&used.ru_stime);
}

static void shuffle(int *order, int nr)
{
	for (int i = nr - 1; i > 0; i--) {
		int j = rand() % (i + 1), kept = order[i];

		order[i] = order[j];
		order[j] = kept;
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, int nr)
{
	qsort(values, nr, sizeof(*values), by_value);
	return nr % 2 ? values[nr / 2] : (values[nr / 2 - 1] + values[nr / 2]) / 2;
}

static void stay_on_this_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

int main(int argc, char **argv)
{
	int rounds = argc > 3 ? atoi(argv[1]) : 0, nr = argc - 3, order[MAX_LIBRARIES];
	double *took, *column;

	if (rounds < 1 || nr > MAX_LIBRARIES) {
		fprintf(stderr, "usage: execs ROUNDS PROGRAM LIBRARY...\n");
		return 2;
	}
	took = calloc((size_t)rounds * nr, sizeof(*took));
	column = calloc(rounds, sizeof(*column));
	if (!took || !column)
		return EXIT_FAILURE;
	stay_on_this_cpu();
	srand((unsigned int)time(NULL));
	for (int k = 0; k < nr; k++)
		order[k] = k;
	for (int i = -rounds / 20 - 1; i < rounds; i++) { /* the first ones warm up */
		shuffle(order, nr);
		for (int k = 0; k < nr; k++) {
			double took_us = time_one(argv[2], argv[3 + order[k]]);

			if (i >= 0)
				took[i * nr + order[k]] = took_us;
		}
	}
	for (int k = 0; k < nr; k++) {
		for (int i = 0; i < rounds; i++)
			column[i] = took[i * nr + k];
		printf("%8.1f us", median(column, rounds));
		printf("  least %8.1f us", column[0]);
		for (int i = 0; i < rounds && k; i++)
			column[i] = took[i * nr + k] - took[i * nr + k - 1];
		if (k)
			printf("  %+8.1f us", median(column, rounds));
		else
			printf("             ");
		printf("  %s\n", argv[3 + k]);
	}
	free(took);
	free(column);
	return 0;
}
