/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window_qemu.c - AArch64 windows against single steps, in QEMU's user emulation
 *
 * usage: window_qemu [-n windows] [-v] SOCKET PID
 *
 * The emulator, process PID, runs a program and waits at SOCKET for a debugger, which
 * this is (gdb's remote protocol). At random moments it stops the program; registers
 * and memory give a window, and then the program does its steps, one by one. What is
 * printed is window_truth's. Memory has the same addresses in the emulator as in the
 * program.
 */
#include "config.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "t/window_path.h"

#define LENGTH     100
#define MAX_UOPS   300   /* as on the machine */
#define MOST       65536 /* bytes of a packet */
#define PC         32    /* registers' numbers; 33 has the flags */
#define MAX_STEPS  16    /* before a window: stops are at the beginnings of blocks */
#define MAX_RUN_NS 3000000

struct qemu {
	int fd;
	char packet[MOST + 1];
	size_t got; /* of bytes that were received, */
	size_t used;
	char bytes[MOST];
	unsigned long thread_register;
	bool ended;
	uint64_t random;
	struct window_pages *pages;
	struct cpi_window_state state;
	struct window_counts counts;
};

static uint64_t next_random(struct qemu *q)
{
	q->random ^= q->random << 13;
	q->random ^= q->random >> 7;
	q->random ^= q->random << 17;
	return q->random;
}

/* ---- the protocol ---- */

static int next_byte(struct qemu *q)
{
	ssize_t got;

	if (q->used == q->got) {
		got = read(q->fd, q->bytes, sizeof(q->bytes));
		if (got <= 0)
			return -1;
		q->got = (size_t)got;
		q->used = 0;
	}
	return (unsigned char)q->bytes[q->used++];
}

/* Receives a packet. Returns false at the program's end. */
static bool receive(struct qemu *q)
{
	size_t nr = 0;
	int c;

	do
		c = next_byte(q);
	while (c >= 0 && c != '$');
	while ((c = next_byte(q)) >= 0 && c != '#' && nr < MOST)
		q->packet[nr++] = (char)c;
	q->packet[nr] = 0;
	next_byte(q);
	next_byte(q);
	q->ended |= c < 0 || q->packet[0] == 'W' || q->packet[0] == 'X';
	return !q->ended;
}

static void send_packet(const struct qemu *q, const char *text)
{
	char packet[256];
	unsigned int sum = 0;
	int size;

	for (const char *c = text; *c; c++)
		sum += (unsigned char)*c;
	size = snprintf(packet, sizeof(packet), "+$%s#%02x", text, sum & 255);
	if (write(q->fd, packet, (size_t)size) != size)
		exit(2);
}

static bool ask(struct qemu *q, const char *text)
{
	send_packet(q, text);
	return receive(q);
}

/* A register's bytes, as text in the machine's order. */
static uint64_t number_at(const char *text, unsigned int bytes)
{
	uint64_t value = 0;
	unsigned int byte;

	for (unsigned int i = 0; i < bytes; i++)
		if (sscanf(text + 2 * i, "%2x", &byte) == 1)
			value |= (uint64_t)byte << 8 * i;
	return value;
}

static bool ask_register(struct qemu *q, unsigned long number, uint64_t *value)
{
	char text[32];

	snprintf(text, sizeof(text), "p%lx", number);
	if (!ask(q, text))
		return false;
	*value = number_at(q->packet, 8);
	return true;
}

/* The thread pointer has a number that the emulator tells in a description. */
static void find_thread_register(struct qemu *q)
{
	static char all[MOST];
	size_t size = 0;
	const char *at;
	char text[128];

	do {
		snprintf(text, sizeof(text),
			 "qXfer:features:read:system-registers.xml:%zx,400", size);
		if (!ask(q, text))
			return;
		snprintf(all + size, sizeof(all) - size, "%s", q->packet + 1);
		size = strlen(all);
	} while (q->packet[0] == 'm' && size + 1024 < sizeof(all));
	at = strstr(all, "\"TPIDR_EL0\"");
	at = at ? strstr(at, "regnum=\"") : NULL;
	if (at)
		q->thread_register = strtoul(at + 8, NULL, 10);
}

/* ---- windows ---- */

static int step(void *ctx, uint64_t *pc)
{
	struct qemu *q = ctx;

	return ask(q, "s") && ask_register(q, PC, pc) ? 0 : -1;
}

static bool take_registers(struct qemu *q, uint64_t *pc)
{
	struct cpi_window_state *s = &q->state;
	uint64_t thread = 0;

	if (!ask(q, "g"))
		return false;
	for (unsigned int i = 0; i < PC; i++)
		s->reg[i] = number_at(q->packet + 16 * i, 8);
	*pc = number_at(q->packet + 16 * PC, 8);
	s->flags = cpi_flags_of_nzcv((uint32_t)number_at(q->packet + 16 * 33, 4) >> 28);
	if (q->thread_register && !ask_register(q, q->thread_register, &thread))
		return false;
	s->reg[CPI_REG_THREAD] = thread;
	s->unknown[CPI_REG_THREAD] = thread ? 0 : 0xff;
	return true;
}

/* Lets it run for a while. Returns false at its end. */
static bool let_run(struct qemu *q)
{
	const struct timespec nap = { 0, (long)(next_random(q) % MAX_RUN_NS) };
	uint64_t pc;

	send_packet(q, "c");
	nanosleep(&nap, NULL);
	if (kill(q->pages->pid, SIGUSR1) ||
	    !receive(q)) /* which the program never sees */
		return false;
	for (uint64_t i = next_random(q) % MAX_STEPS; i; i--)
		if (step(q, &pc))
			return false;
	return true;
}

static void follow(struct qemu *q)
{
	struct window_path path;
	uint64_t pc;

	window_path_begin(&q->state, LENGTH);
	if (!take_registers(q, &pc))
		return;
	window_path_follow(&q->state, q->pages, pc, MAX_UOPS, &path, &q->counts);
	window_path_compare(&q->state, q->pages, &path, step, NULL, q, &q->counts);
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return -1;
	return fd;
}

int main(int argc, char **argv)
{
	struct qemu *q = calloc(1, sizeof(*q));
	const char *seed = getenv("SEED");
	bool verbose = false;
	uint64_t nr = 100;
	int c;

	while ((c = getopt(argc, argv, "n:v")) != -1) {
		if (c == 'n')
			nr = strtoull(optarg, NULL, 0);
		else
			verbose = true;
	}
	if (!q || optind + 2 != argc) {
		fprintf(stderr, "usage: window_qemu [-n windows] [-v] SOCKET PID\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	q->random = seed ? strtoull(seed, NULL, 0) * 2 + 1 : (uint64_t)time(NULL) | 1;
	q->fd = connect_to(argv[optind]);
	q->pages = window_pages_new(atoi(argv[optind + 1]), EM_AARCH64);
	if (q->fd < 0 || !q->pages) {
		fprintf(stderr, "window_qemu: %s: %s\n", argv[optind], strerror(errno));
		return 2;
	}
	/* What is not asked for, the emulator does not give to read. */
	if (ask(q, "qSupported:xmlRegisters=aarch64") &&
	    ask(q, "qXfer:features:read:target.xml:0,400"))
		find_thread_register(q);
	while (!q->ended && q->counts.nr_windows < nr && let_run(q))
		follow(q);
	window_counts_print(&q->counts, verbose);
	window_pages_free(q->pages);
	c = q->counts.nr_exact != q->counts.nr_windows;
	free(q);
	return c;
}
