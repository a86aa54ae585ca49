/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * floods KIND NUMBER - makes as many mapping records as it can
 *
 * maps: maps two pages of this program over one another, here and there.
 * units: maps one page of code from ever new offsets of a large file, and runs it.
 * copies: has 4000 executable mappings, and children that each map one more and end.
 * held: NUMBER processes that have 8000 executable mappings each, and keep them.
 *
 * After NUMBER of these it says "filled", and goes on until a line comes on its
 * standard input; then it says "over". For each further line, a number of ms of CPU
 * time, it computes for as long and says "done". At the end of its input it ends. Exit
 * 77 when the machine does not allow it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_SKIP = 77, PAGE = 4096, CODE = 256, LOOK_EACH = 1000, COPIED = 4000 };
enum { HELD = 8000, UNITS = 60000, TURNS = 8192, PLACES = 997 };

typedef uint64_t spin_fn(uint64_t turns);

/* Where nothing else is mapped. */
static char *const area = (char *)0x200000000000;

static void die(const char *what)
{
	perror(what);
	exit(errno == EAGAIN || errno == ENOMEM ? EXIT_SKIP : EXIT_FAILURE);
}

static void say(const char *word)
{
	puts(word);
	fflush(stdout);
}

/* What is in the file of units: it calls nothing, and no address is in it. */
__attribute__((noinline)) static uint64_t spin(uint64_t turns)
{
	uint64_t x = 1;

	while (turns--)
		x = x * 6364136223846793005ULL + turns;
	return x;
}

__attribute__((noinline)) static uint64_t afterwards(uint64_t turns)
{
	uint64_t x = turns;

	for (uint64_t i = 0; i < turns; i++) {
		x = x * 3 + i;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

static char *map_code(char *at, int fd, uint64_t page)
{
	void *p = mmap(at, PAGE, PROT_READ | PROT_EXEC,
		       MAP_PRIVATE | (at ? MAP_FIXED : 0), fd, (off_t)(page * PAGE));

	if (p == MAP_FAILED)
		die("mmap");
	return p;
}

static int open_self(void)
{
	const int fd = open("/proc/self/exe", O_RDONLY);

	if (fd < 0)
		die("/proc/self/exe");
	return fd;
}

static int make_units(void)
{
	char page[PAGE] = { 0 };
	const int fd = memfd_create("units", 0);

	memcpy(page, (const void *)(uintptr_t)spin, CODE);
	for (int i = 0; i < UNITS; i++) {
		if (fd < 0 || write(fd, page, PAGE) != PAGE)
			die("units");
	}
	return fd;
}

/* ---- the kinds: the n-th of each ---- */

static int file = -1;

static void map_again(uint64_t n)
{
	map_code(area + n * 7919 % PLACES * PAGE, file, n % 2);
}

static void run_unit(uint64_t n)
{
	char *code = map_code(area + n % 32 * 16 * PAGE, file, n % UNITS);

	((spin_fn *)(uintptr_t)code)(TURNS);
}

/* Every second page, so that no two are one mapping. */
static void map_many(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		map_code(area + i * 2 * PAGE, file, i % 2);
}

static void fork_copy(uint64_t n)
{
	const pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		map_code(area + 1 * PAGE, file, n % 2);
		_exit(0);
	}
	if (waitpid(pid, NULL, 0) != pid)
		die("waitpid");
}

static void hold(uint64_t n)
{
	const pid_t parent = getpid();
	int ready[2];
	char byte = 0;
	pid_t pid;

	(void)n;
	if (pipe(ready))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		map_many(HELD);
		if (write(ready[1], &byte, 1) != 1)
			_exit(1);
		while (getppid() == parent)
			poll(NULL, 0, 100);
		_exit(0);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		die("a process");
	close(ready[0]);
}

static const struct kind {
	const char *name;
	void (*make)(uint64_t n);
	uint64_t first;    /* mappings, before */
	unsigned int each; /* so often the input is looked at */
	bool once;         /* no more than NUMBER */
} kinds[] = {
	{ "maps", map_again, 0, LOOK_EACH, false },
	{ "units", run_unit, 0, LOOK_EACH, false },
	{ "copies", fork_copy, COPIED, 1, false },
	{ "held", hold, 0, 1, true },
};

static bool has_input(void)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };

	return poll(&in, 1, 0) > 0;
}

static void flood(const struct kind *kind, uint64_t number)
{
	uint64_t n = 0;

	map_many(kind->first);
	while (n < number)
		kind->make(n++);
	say("filled");
	while (!kind->once && (n % kind->each || !has_input()))
		kind->make(n++);
}

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	const struct kind *kind = kinds;
	const struct kind *end = kinds + sizeof(kinds) / sizeof(kinds[0]);
	char line[32];

	while (argc == 3 && kind < end && strcmp(kind->name, argv[1]))
		kind++;
	if (argc != 3 || kind == end) {
		fprintf(stderr, "usage: floods maps|units|copies|held NUMBER\n");
		return 2;
	}
	file = kind->make == run_unit ? make_units() : open_self();
	flood(kind, strtoull(argv[2], NULL, 0));
	if (fgets(line, sizeof(line), stdin))
		say("over");
	while (fgets(line, sizeof(line), stdin)) {
		const double until = cpu_ms() + atof(line);

		while (cpu_ms() < until)
			afterwards(100000);
		say("done");
	}
	return 0;
}
