/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fault - takes page faults until SIGTERM; then prints how many it took
 *
 * "ready" comes after the first ones.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define PAGE 4096
#define SIZE (1024 * PAGE)

static volatile sig_atomic_t stop;

static void on_term(int number)
{
	stop = 1;
}

static int take_faults(void)
{
	char *at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

	if (at == MAP_FAILED || madvise(at, SIZE, MADV_NOHUGEPAGE))
		return 1;
	for (int i = 0; i < SIZE; i += PAGE)
		((volatile char *)at)[i] = 1;
	return munmap(at, SIZE);
}

int main(void)
{
	struct sigaction sa = { .sa_handler = on_term };
	struct rusage use;

	sigaction(SIGTERM, &sa, NULL);
	if (take_faults())
		return 1;
	puts("ready");
	fflush(stdout);
	while (!stop) {
		if (take_faults())
			return 1;
	}
	getrusage(RUSAGE_SELF, &use);
	printf("%ld\n", use.ru_minflt);
	return 0;
}
