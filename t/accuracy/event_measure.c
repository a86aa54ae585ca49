/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_measure.c - frequencies from samples of several hardware events, and the truth
 *
 * usage: event_measure [-p PERIOD] [-k SKID] [-s SEED] PROGRAM|- <TRACE
 *
 * PROGRAM is linked statically, TRACE what valgrind --tool=lackey --trace-mem=yes says
 * of it: event_core.c executes it. With -, TRACE is of a core that there was: a line
 * "PC CYCLE EARLY EVENTS" for each instruction that retired (event_core.h), as events
 * makes them of pipeline traces; its graph is the one that was run through.
 *
 * Each event is sampled at random, cycles and instructions with the mean period PERIOD,
 * others, which nothing reads any more, RARE times as often: the random numbers stay.
 * The PC is that of the oldest instruction that has not retired SKID cycles later, with
 * a quarter more or less. Each way of estimating is written as
 *
 *	variant NAME
 *	procedure NAME
 *	block START END SAMPLES FREQUENCY SD SHAPE TRUE
 *	edge FROM JUMP TARGET KIND FREQUENCY SD SHAPE TRUE
 *
 * as freq_dump does, with what really ran.
 */
#include "config.h"

#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/hash.h"
#include "t/accuracy/event_core.h"
#include "t/accuracy/event_graph.h"

#define RARE          20
#define MAX_ADDRESSES 8

struct measure {
	struct graphs *g;
	struct core *core;
	struct core_step *step;
	size_t nr, room;
	double period, skid;
	uint64_t state; /* of the random numbers */
};

static double uniform(struct measure *m)
{
	m->state += 0x9e3779b97f4a7c15;
	return (double)(hash_u64(m->state) >> 11) * 0x1p-53;
}

static struct core_step *add_step(struct measure *m)
{
	m->step = grow(m->step, m->nr, &m->room, sizeof(*m->step));
	if (!m->step)
		errx(EXIT_FAILURE, "out of memory");
	m->step[m->nr] = (struct core_step){ 0 };
	return &m->step[m->nr++];
}

struct pending {
	uint64_t pc, address[MAX_ADDRESSES];
	int nr;
};

/* A repeated instruction is one. Code of no procedure is as if it were not there. */
static void run_pending(struct measure *m, struct pending *p, uint64_t next)
{
	const int at = p->pc ? graphs_find(m->g, p->pc) : -1;
	struct core_step *s;

	if (at < 0)
		return;
	s = add_step(m);
	core_run(m->core, graphs_insn(m->g, at), p->address, p->nr, next, s);
	s->insn = at;
}

static void read_program(struct measure *m)
{
	struct pending p = { 0 };
	char line[256];

	while (fgets(line, sizeof(line), stdin)) {
		const uint64_t address = strtoull(line + 2, NULL, 16);

		if (line[0] == 'I' && address != p.pc) {
			run_pending(m, &p, address);
			p = (struct pending){ .pc = address };
		} else if (line[0] == ' ' && strchr("LSM", line[1]) &&
			   p.nr < MAX_ADDRESSES) {
			p.address[p.nr++] = address;
		}
	}
	run_pending(m, &p, 0);
}

static void read_pipeline(struct measure *m)
{
	uint64_t *pc = NULL, at;
	unsigned int early, events;
	size_t room = 0;
	struct core_step s = { 0 };

	while (scanf("%" SCNx64 " %" SCNu64 " %u %u", &at, &s.cycle, &early, &events) ==
	       4) {
		pc = grow(pc, m->nr, &room, sizeof(*pc));
		if (!pc)
			errx(EXIT_FAILURE, "out of memory");
		pc[m->nr] = at;
		s.early = (uint16_t)early;
		s.events = (uint8_t)events;
		*add_step(m) = s;
	}
	if (!m->nr)
		errx(EXIT_FAILURE, "no trace");
	graphs_trace(m->g, pc, m->nr);
	for (size_t i = 0; i < m->nr; i++)
		m->step[i].insn = graphs_find(m->g, pc[i]);
	free(pc);
}

/* The oldest instruction that has not retired by then. */
static int head_at(const struct measure *m, double cycle)
{
	size_t low = 0, high = m->nr;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if ((double)m->step[middle].cycle > cycle)
			high = middle;
		else
			low = middle + 1;
	}
	return m->step[low < m->nr ? low : m->nr - 1].insn;
}

/* How often an event happens with a step, the one before it being at last. */
static double occurs(const struct core_step *s, int event, uint64_t last)
{
	if (event == EVENT_CYCLES)
		return (double)(s->cycle - last);
	return event == EVENT_INSTRUCTIONS || s->events >> event & 1;
}

static void sample(struct measure *m, int event)
{
	const double period = event >= CORE_NR_EVENTS ? m->period : m->period / RARE;
	double left = period * (0.5 + uniform(m));
	uint64_t last = 0;

	graphs_set_period(m->g, event, period);
	for (size_t i = 0; i < m->nr; i++) {
		const struct core_step *s = &m->step[i];

		for (left -= occurs(s, event, last); left < 0;
		     left += period * (0.5 + uniform(m))) {
			double when = (double)s->cycle;

			if (event == EVENT_CYCLES)
				when += left;
			else if (event < CORE_NR_EVENTS)
				when -= s->early;
			when += m->skid * (0.75 + 0.5 * uniform(m));
			graphs_add_sample(m->g, event, head_at(m, when));
		}
		last = s->cycle;
	}
}

int main(int argc, char **argv)
{
	struct measure m = { .period = 100, .skid = 20, .state = 1 };
	int option;

	while ((option = getopt(argc, argv, "p:k:s:")) != -1) {
		const double value = optarg ? strtod(optarg, NULL) : 0;

		if (option == 'p')
			m.period = value;
		else if (option == 'k')
			m.skid = value;
		else if (option == 's')
			m.state = (uint64_t)value;
		else
			return 2;
	}
	if (optind + 1 != argc || !(m.period > 0))
		errx(2,
		     "usage: event_measure [-p PERIOD] [-k SKID] [-s SEED] PROGRAM|-");
	m.g = graphs_new(strcmp(argv[optind], "-") != 0 ? argv[optind] : NULL);
	m.core = core_new();
	if (!m.core)
		errx(EXIT_FAILURE, "out of memory");
	if (strcmp(argv[optind], "-") != 0)
		read_program(&m);
	else
		read_pipeline(&m);
	for (size_t i = 0; i < m.nr; i++)
		graphs_count(m.g, m.step[i].insn,
			     i + 1 < m.nr ? m.step[i + 1].insn : -1);
	for (int e = 0; e < EVENT_NR; e++)
		sample(&m, e);
	graphs_write(m.g);
	graphs_free(m.g);
	core_free(m.core);
	free(m.step);
	return EXIT_SUCCESS;
}
