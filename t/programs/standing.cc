/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * standing HOW - stands still, for a debugger to look at its stack
 *
 *	recursion	depth 60, frames of different sizes
 *	callback	in a comparison of qsort()
 *	handler		in a handler of a signal
 *	signal		the same, on another stack
 *	exception	in a destructor, while an exception goes by
 *	leaf		spins in a procedure that calls nothing
 *	thread		in two threads
 *	variable	in frames whose size the caller chose, and aligned ones
 *
 * Says "ready" when it does.
 */
#include <alloca.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile int sink, awake;

NOINLINE static void stand()
{
	puts("ready");
	fflush(stdout);
	while (!awake)
		pause();
}

NOINLINE static int recurse(int depth)
{
	volatile char local[64 + 16 * 8];

	local[depth % 64] = (char)depth;
	if (!depth)
		stand();
	return recurse(depth - 1) + local[0];
}

static int compare(const void *a, const void *b)
{
	stand();
	return *(const int *)a - *(const int *)b;
}

static void on_signal(int)
{
	stand();
}

NOINLINE static void signalled(int flags)
{
	struct sigaction action;
	stack_t other;

	memset(&action, 0, sizeof(action));
	/* What lies behind it may not be read, so that a copy ends with it. */
	other.ss_size = 1 << 16;
	other.ss_sp = mmap(NULL, 2 * other.ss_size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect((char *)other.ss_sp + other.ss_size, other.ss_size, PROT_NONE);
	other.ss_flags = 0;
	sigaltstack(&other, NULL);
	action.sa_handler = on_signal;
	action.sa_flags = flags;
	sigaction(SIGSEGV, &action, NULL);
	*(volatile int *)8 = 1;
}

struct guard {
	~guard() { stand(); }
};

NOINLINE static void throwing(int depth)
{
	if (!depth)
		throw depth;
	throwing(depth - 1);
	sink++;
}

NOINLINE static void guarded()
{
	guard g;

	throwing(5);
	sink++;
}

NOINLINE static void spin()
{
	while (!awake)
		sink++;
}

NOINLINE static void leaf()
{
	puts("ready");
	fflush(stdout);
	spin();
	sink++;
}

NOINLINE static void *in_thread(void *)
{
	recurse(7);
	return NULL;
}

NOINLINE static void varied(size_t size)
{
	char *text = (char *)alloca(size);
	alignas(64) volatile char aligned[128];

	memset(text, 1, size);
	aligned[size % 128] = text[size / 2];
	if (size > 3000)
		stand();
	varied(size * 2 + 7);
	sink += aligned[0];
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int numbers[] = { 3, 1, 2, 5, 4 };
	pthread_t thread;

	alarm(300); /* whoever looks at it may have gone */
	if (!strcmp(how, "recursion"))
		recurse(60);
	else if (!strcmp(how, "callback"))
		qsort(numbers, 5, sizeof(int), compare);
	else if (!strcmp(how, "signal"))
		signalled(SA_ONSTACK);
	else if (!strcmp(how, "handler"))
		signalled(0);
	else if (!strcmp(how, "exception")) {
		try {
			guarded();
		} catch (int) {
			sink++;
		}
	} else if (!strcmp(how, "leaf"))
		leaf();
	else if (!strcmp(how, "variable"))
		varied(11);
	else if (!strcmp(how, "thread") &&
		 !pthread_create(&thread, NULL, in_thread, NULL))
		pthread_join(thread, NULL);
	return EXIT_FAILURE;
}
