/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * predict_measure.c - how often branches are mispredicted: a predictor, and windows
 *
 * usage: predict_measure trace INSTRUCTIONS WINDOWS OUT COMMAND...
 *        predict_measure estimate WINDOWS FILE
 *
 * trace: valgrind's lackey prints the address of each instruction of COMMAND. A
 * predictor (tage.h) follows all branches, and windows are cut out at random moments;
 * a missed branch takes MISS_CYCLES more. OUT gets branches with their mispredictions,
 * samples and windows. estimate: reads such a file and prints for each branch what
 * its first WINDOWS windows say, beside the truth.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/predict/branch_history.h"
#include "analysis/predict/mispredicts.h"
#include "analysis/windows/window_weights.h"
#include "base/buf.h"
#include "base/hash.h"
#include "t/accuracy/tage.h"

#define INSN_CYCLES 0.4
#define MISS_CYCLES 15
#define LENGTH      128 /* instructions of a window */
#define LOG_PLACES  20
#define MAX_IMAGES  256
#define MAX_MAPS    512
#define LINE        512

enum kind { PLAIN, CONDITIONAL, INDIRECT, OTHER };

struct place {
	uint64_t address, offset;
	uint64_t executed, taken, missed, samples;
	uint32_t image;
	uint8_t size;
	enum kind kind;
};

struct mapping {
	uint64_t from, to, offset;
	uint32_t image;
};

struct tracer {
	struct place *place; /* hash table */
	char *image[MAX_IMAGES];
	uint32_t nr_images;
	struct mapping map[MAX_MAPS];
	size_t nr_maps;
	pid_t pid;
	int memory;
	struct tage *tage;
	const struct place *before; /* the last instruction */
	double cycles, next;        /* time, and of the next sample */
	double period;
	uint64_t random, nr, nr_windows;
	FILE *out;
	/* The window that is being cut. */
	bool recording;
	const struct place *start;
	uint32_t nr_insns;
	struct buf jumps;
};

static uint64_t next_random(struct tracer *t)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return t->random;
}

static void fail(const char *what)
{
	fprintf(stderr, "predict_measure: %s: %s\n", what, strerror(errno));
	exit(2);
}

static uint32_t image_of(struct tracer *t, const char *name)
{
	for (uint32_t i = 0; i < t->nr_images; i++) {
		if (!strcmp(t->image[i], name))
			return i;
	}
	if (t->nr_images == MAX_IMAGES)
		return 0;
	t->image[t->nr_images] = strdup(name);
	if (!t->image[t->nr_images])
		fail(name);
	return t->nr_images++;
}

static void read_maps(struct tracer *t)
{
	char path[64], line[LINE], name[LINE];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)t->pid);
	f = fopen(path, "re");
	t->nr_maps = 0;
	while (f && fgets(line, sizeof(line), f) && t->nr_maps < MAX_MAPS) {
		struct mapping m;

		*name = 0;
		if (sscanf(line,
			   "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %[^\n]",
			   &m.from, &m.to, &m.offset, name) < 3)
			continue;
		m.image = image_of(t, *name ? name : "?");
		t->map[t->nr_maps++] = m;
	}
	if (f)
		fclose(f);
}

static const struct mapping *mapping_of(const struct tracer *t, uint64_t address)
{
	for (size_t i = 0; i < t->nr_maps; i++) {
		if (address >= t->map[i].from && address < t->map[i].to)
			return &t->map[i];
	}
	return NULL;
}

static enum kind kind_of(const uint8_t *code)
{
	while (*code == 0x2e || *code == 0x3e || *code == 0xf2 || *code == 0xf3 ||
	       *code == 0x66 || (*code & 0xf0) == 0x40)
		code++;
	if ((*code & 0xf0) == 0x70 || (*code & 0xfc) == 0xe0 ||
	    (*code == 0x0f && (code[1] & 0xf0) == 0x80))
		return CONDITIONAL;
	if (*code == 0xff && ((code[1] >> 3 & 7) == 4 || (code[1] >> 3 & 7) == 2))
		return INDIRECT;
	if (*code == 0xe8 || *code == 0xe9 || *code == 0xeb || *code == 0xc3 ||
	    *code == 0xc2)
		return OTHER;
	return PLAIN;
}

static void enter(struct tracer *t, struct place *p, uint64_t address, uint8_t size)
{
	uint8_t code[16] = { 0 };
	const struct mapping *m = mapping_of(t, address);

	if (!m) {
		read_maps(t);
		m = mapping_of(t, address);
	}
	if (pread(t->memory, code, sizeof(code) - 1, (off_t)address) < 1)
		*code = 0x90;
	*p = (struct place){ .address = address, .size = size, .kind = kind_of(code) };
	p->offset = m ? address - m->from + m->offset : address;
	p->image = m ? m->image : 0;
}

static struct place *place_of(struct tracer *t, uint64_t address, uint8_t size)
{
	size_t i = hash_u64(address) >> (64 - LOG_PLACES);

	while (t->place[i].address && t->place[i].address != address)
		i = (i + 1) & ((1 << LOG_PLACES) - 1);
	if (!t->place[i].address)
		enter(t, &t->place[i], address, size);
	return &t->place[i];
}

static void end_window(struct tracer *t, const struct place *end)
{
	t->recording = false;
	t->nr_windows++;
	fprintf(t->out, "window %u %" PRIx64 " %u %" PRIx64 "%s\n", t->start->image,
		t->start->offset, t->nr_insns, end->offset, buf_str(&t->jumps));
}

static void begin_window(struct tracer *t, struct place *p)
{
	const double u = ((double)(next_random(t) >> 12) + 1) / 0x1p52;

	t->next = t->cycles + t->period * (0.5 + u);
	p->samples++;
	if (t->recording)
		return;
	t->recording = true;
	t->start = p;
	t->nr_insns = 0;
	buf_fini(&t->jumps);
}

/* The branch b went to p. Returns whether that was not predicted. */
static bool follow_branch(struct tracer *t, struct place *b, const struct place *p,
			  bool taken)
{
	bool missed = false;

	b->executed++;
	b->taken += taken;
	if (b->kind == CONDITIONAL)
		missed = tage_conditional(t->tage, b->address, p->address, taken);
	else if (b->kind == INDIRECT)
		missed = tage_indirect(t->tage, b->address, p->address);
	else
		tage_other(t->tage, b->address, p->address);
	b->missed += missed;
	return missed;
}

static void on_insn(struct tracer *t, uint64_t address, uint8_t size)
{
	struct place *p = place_of(t, address, size);
	struct place *b = (struct place *)t->before;
	bool jumped = b && b->address + b->size != address && b != p;

	t->nr++;
	t->cycles += INSN_CYCLES;
	if (b && b->kind != PLAIN) {
		jumped |= b == p;
		if (follow_branch(t, b, p, jumped))
			t->cycles += MISS_CYCLES;
	}
	if (t->recording && jumped && b->kind == PLAIN)
		t->recording = false; /* a signal */
	if (t->recording && jumped)
		buf_printf(&t->jumps, " %" PRIx64 " %" PRIx64 " %u", b->offset,
			   p->offset, p->image);
	if (t->recording && t->nr_insns == LENGTH)
		end_window(t, p);
	if (t->cycles >= t->next)
		begin_window(t, p);
	t->nr_insns += t->recording;
	t->before = p;
}

static uint64_t hex(const char **at)
{
	uint64_t v = 0;

	for (;; ++*at) {
		const char c = **at;

		if (c >= '0' && c <= '9')
			v = v << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			v = v << 4 | (uint64_t)(c - 'a' + 10);
		else
			return v;
	}
}

/* "I  04000a10,3" */
static void on_line(struct tracer *t, const char *line)
{
	uint64_t address;

	if (line[0] != 'I' || line[1] != ' ' || line[2] != ' ')
		return;
	line += 3;
	address = hex(&line);
	on_insn(t, address, (uint8_t)atoi(line + 1));
}

static int start(struct tracer *t, char **command)
{
	char *argv[64] = { "valgrind", "--tool=lackey", "--trace-mem=yes",
			   "--log-fd=9" };
	int fd[2], nr = 4;

	while (*command && nr < 63)
		argv[nr++] = *command++;
	if (pipe(fd))
		fail("pipe");
	t->pid = fork();
	if (t->pid < 0)
		fail("fork");
	if (!t->pid) {
		const int null = open("/dev/null", O_RDWR);

		dup2(fd[1], 9);
		dup2(null, 1);
		dup2(null, 2);
		close(fd[0]);
		execvp(*argv, argv);
		_exit(127);
	}
	close(fd[1]);
	return fd[0];
}

static void write_truth(const struct tracer *t)
{
	for (uint32_t i = 0; i < t->nr_images; i++)
		fprintf(t->out, "image %u %s\n", i, t->image[i]);
	for (size_t i = 0; i < 1u << LOG_PLACES; i++) {
		const struct place *p = &t->place[i];

		if (p->samples)
			fprintf(t->out, "sample %u %" PRIx64 " %" PRIu64 "\n", p->image,
				p->offset, p->samples);
		if (p->executed && (p->kind == CONDITIONAL || p->kind == INDIRECT))
			fprintf(t->out,
				"branch %u %" PRIx64 " %d %" PRIu64 " %" PRIu64
				" %" PRIu64 "\n",
				p->image, p->offset, p->kind == INDIRECT, p->executed,
				p->taken, p->missed);
	}
}

static int trace(char **argv)
{
	struct tracer t = { .random = 88172645463325252 };
	const uint64_t limit = strtoull(argv[0], NULL, 0);
	static char block[1 << 20];
	char path[64];
	size_t have = 0;
	int fd;

	t.period = (double)limit * 0.6 / (double)strtoull(argv[1], NULL, 0);
	t.next = t.period;
	t.place = calloc(1u << LOG_PLACES, sizeof(*t.place));
	t.tage = tage_new();
	t.out = fopen(argv[2], "we");
	if (!t.place || !t.tage || !t.out)
		fail(argv[2]);
	image_of(&t, "?");
	fd = start(&t, argv + 3);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)t.pid);
	t.memory = -1;
	while (t.nr < limit) {
		const ssize_t got = read(fd, block + have, sizeof(block) - 1 - have);
		char *line = block, *end;

		if (got <= 0)
			break;
		if (t.memory < 0)
			t.memory = open(path, O_RDONLY | O_CLOEXEC);
		have += (size_t)got;
		block[have] = 0;
		while ((end = memchr(line, '\n', (size_t)(block + have - line)))) {
			*end = 0;
			on_line(&t, line);
			line = end + 1;
		}
		have = (size_t)(block + have - line);
		memmove(block, line, have);
	}
	kill(t.pid, SIGKILL);
	waitpid(t.pid, NULL, 0);
	write_truth(&t);
	fclose(t.out);
	printf("%" PRIu64 " instructions, %" PRIu64 " windows\n", t.nr, t.nr_windows);
	tage_free(t.tage);
	free(t.place);
	return t.nr ? 0 : 2;
}

struct reader {
	struct window_weights *ww;
	struct windows *set[MAX_IMAGES];
	char *image[MAX_IMAGES];
	struct buf branches; /* struct place */
	uint64_t nr_windows, all, limit;
};

static void read_window(struct reader *r, const char *line)
{
	struct window_jump jump[LENGTH];
	struct window w = { .jump = jump, .n = 1 };
	uint32_t image;
	int used, n;

	/* Every so many, so that they come from the whole run. */
	r->nr_windows++;
	if ((r->nr_windows - 1) * r->limit / r->all ==
		    r->nr_windows * r->limit / r->all ||
	    sscanf(line, "%u %" SCNx64 " %u %" SCNx64 "%n", &image, &w.start,
		   &w.nr_insns, &w.end, &used) < 4 ||
	    image >= MAX_IMAGES)
		return;
	for (line += used; w.nr_jumps < LENGTH; line += n, w.nr_jumps++) {
		struct window_jump *j = &jump[w.nr_jumps];

		if (sscanf(line, " %" SCNx64 " %" SCNx64 " %u%n", &j->from, &j->to,
			   &j->image, &n) < 3)
			break;
	}
	if (!r->set[image])
		r->set[image] = windows_new(WINDOWS_LIMIT, 1);
	windows_add(r->set[image], &w);
}

static void read_line(struct reader *r, const char *line)
{
	struct place p = { 0 };
	uint32_t image;
	uint64_t offset, n;
	int kind;

	if (!strncmp(line, "window ", 7))
		read_window(r, line + 7);
	else if (sscanf(line, "sample %u %" SCNx64 " %" SCNu64, &image, &offset, &n) ==
		 3)
		window_weights_sample(r->ww, image, offset, (double)n);
	else if (sscanf(line,
			"branch %u %" SCNx64 " %d %" SCNu64 " %" SCNu64 " %" SCNu64,
			&p.image, &p.offset, &kind, &p.executed, &p.taken,
			&p.missed) == 6) {
		p.kind = kind ? INDIRECT : CONDITIONAL;
		buf_put(&r->branches, &p, sizeof(p));
	}
}

static int estimate(char **argv)
{
	struct reader r = { .limit = strtoull(argv[0], NULL, 0) };
	FILE *f = fopen(argv[1], "re");
	struct branch_history *h;
	char *line = NULL;
	size_t size = 0;
	uint32_t map[MAX_IMAGES];

	r.ww = window_weights_new();
	if (!f || !r.ww)
		fail(argv[1]);
	while (getline(&line, &size, f) > 0)
		r.all += !strncmp(line, "window ", 7);
	r.limit = r.limit < r.all ? r.limit : r.all;
	rewind(f);
	while (getline(&line, &size, f) > 0)
		read_line(&r, line);
	fclose(f);
	free(line);
	for (uint32_t i = 0; i < MAX_IMAGES; i++)
		map[i] = i;
	for (uint32_t i = 0; i < MAX_IMAGES; i++) {
		if (r.set[i])
			window_weights_add(r.ww, i, r.set[i], map, MAX_IMAGES);
		windows_free(r.set[i]);
	}
	if (window_weights_solve(r.ww) || branch_history_new(r.ww, &h))
		fail("estimate");
	printf("image,offset,indirect,executed,taken,missed,seen,windows,low,likely,"
	       "high,rarer\n");
	for (size_t i = 0; i < r.branches.len / sizeof(struct place); i++) {
		const struct place *p = (const struct place *)r.branches.data + i;
		const struct branch_place at = { p->image, p->offset,
						 p->kind == INDIRECT };
		struct branch_event *event;
		struct mispredicts m;
		struct arena arena;
		size_t nr;

		arena_init(&arena, 0);
		if (branch_history_find(h, &at, &arena, &event, &nr) ||
		    mispredicts_estimate(event, nr, &arena, &m))
			fail("estimate");
		if (m.executions)
			printf("%u,%#" PRIx64 ",%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64
			       ",%" PRIu64 ",%u,%.5f,%.5f,%.5f,%.5f\n",
			       p->image, p->offset, at.indirect, p->executed, p->taken,
			       p->missed, m.executions, m.windows, m.low, m.likely,
			       m.high, m.rarer);
		arena_fini(&arena);
	}
	branch_history_free(h);
	window_weights_free(r.ww);
	buf_fini(&r.branches);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 5 && !strcmp(argv[1], "trace"))
		return trace(argv + 2);
	if (argc == 4 && !strcmp(argv[1], "estimate"))
		return estimate(argv + 2);
	fputs("usage: predict_measure trace INSTRUCTIONS WINDOWS OUT COMMAND... | "
	      "estimate "
	      "WINDOWS FILE\n",
	      stderr);
	return 2;
}
