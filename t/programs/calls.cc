/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls ROUNDS [paths] - spends the same time in each of some ways to be called
 *
 * With paths, these are the 64 ways in which six procedures can follow one another, in
 * turn, a hundred times.
 *
 * Each part's name is on the stack while it runs, with what the part has between it and
 * spin(), which calls nobody. None may be inlined, cloned, or left by a tail call.
 */
#include <csignal>
#include <cstdlib>
#include <pthread.h>

#define PART __attribute__((noipa)) static

extern "C" {

static volatile unsigned long sink, rounds;

PART void spin()
{
	for (unsigned long i = 0; i < rounds; i++)
		sink += i;
}

PART int recurse(int depth)
{
	volatile char local[64];

	local[depth % 64] = (char)depth;
	if (!depth)
		spin();
	else
		recurse(depth - 1);
	return local[depth % 64];
}

PART void recursion()
{
	recurse(60);
	sink++;
}

PART int compare(const void *, const void *)
{
	spin();
	sink++;
	return 0;
}

PART void sorting()
{
	int two[] = { 2, 1 };

	qsort(two, 2, sizeof(int), compare);
	sink++;
}

PART void handler(int)
{
	spin();
	sink++;
}

PART void signalled()
{
	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	sink++;
}

struct guard {
	~guard()
	{
		spin();
		sink++;
	}
};

PART void thrower(int depth)
{
	if (!depth)
		throw depth;
	thrower(depth - 1);
	sink++;
}

PART void guarded()
{
	guard g;

	thrower(5);
	sink++;
}

PART void throwing()
{
	try {
		guarded();
	} catch (int) {
		sink++;
	}
}

PART void *thread(void *)
{
	spin();
	sink++;
	return NULL;
}

PART void threaded()
{
	pthread_t other;

	if (!pthread_create(&other, NULL, thread, NULL))
		pthread_join(other, NULL);
	sink++;
}

PART void left(int, int);

PART void right(int way, int depth)
{
	if (!depth)
		spin();
	else if (way & 1)
		left(way >> 1, depth - 1);
	else
		right(way >> 1, depth - 1);
	sink++;
}

PART void left(int way, int depth)
{
	if (!depth)
		spin();
	else if (way & 1)
		left(way >> 1, depth - 1);
	else
		right(way >> 1, depth - 1);
	sink++;
}
}

int main(int argc, char **argv)
{
	rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	for (int i = 0; argc > 2 && i < 100 * 64; i++)
		left(i % 64, 6);
	if (argc > 2)
		return EXIT_SUCCESS;
	recursion();
	sorting();
	signalled();
	throwing();
	threaded();
	return EXIT_SUCCESS;
}
