/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * absent MS - reads pages that are not there, for MS of CPU time
 *
 * At the end of each round; before it they are taken away. A signal (t/stepped.h) that
 * comes with a window finds them as the window has left them: "there N" says how often
 * one was there before the program had read it, and "signals N" of how many.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "t/stepped.h"

#define ROUND 64 /* so many instructions, about: windows reach across it */

static volatile char *page; /* anonymous, and never touched but in rounds */
static volatile sig_atomic_t may_be_there, nr_signals, nr_there;

static void look(int signal)
{
	unsigned char resident = 0;

	if (may_be_there)
		return;
	nr_signals++;
	if (!mincore((void *)page, 1, &resident) && resident & 1)
		nr_there++;
}

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static void go_round(size_t size)
{
	volatile int i;

	madvise((void *)page, size, MADV_DONTNEED);
	may_be_there = 0;
	for (i = 0; i < ROUND / 4; i++)
		;
	may_be_there = 1; /* at the next instruction but one */
	(void)*page;
}

int main(int argc, char **argv)
{
	const double end = cpu_ms() + (argc > 1 ? atof(argv[1]) : 0);
	const size_t size = (size_t)sysconf(_SC_PAGESIZE);

	page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (page == MAP_FAILED)
		return 1;
	may_be_there = 1;
	signal(STEPPED_SIGNAL, look);
	while (cpu_ms() < end) {
		for (int i = 0; i < 1000; i++)
			go_round(size);
	}
	printf("signals %d there %d\n", (int)nr_signals, (int)nr_there);
	return 0;
}
