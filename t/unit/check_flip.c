/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The protocol of abi/bpf.h, explored to the end: two CPUs that sample, a daemon
 * that flips, waits, reads and clears, and every order in which their steps can
 * come. A step is one access to shared memory; a CPU sees what the daemon wrote to its
 * word at any time later, unless a barrier makes it. What is left out of the protocol
 * must show as a sample that is lost, or counted twice, or as a set whose parts
 * disagree (I4): else the model would prove nothing.
 */
#include "config.h"

#include <string.h>

#include "abi/bpf.h"
#include "base/hash.h"
#include "t/unit/unit.h"

#define NR_CPUS    2
#define NR_SAMPLES 3 /* per CPU */
#define NR_FLIPS   3
#define MAX_STATES (1u << 20)
#define SEEN_SIZE  (4 * MAX_STATES)

/* Whom the daemon asks for an answer: daemon/collect/bpf_grace.c. */
enum grace { GRACE_NONE, GRACE_RCU, GRACE_IPI, GRACE_IPI_OF_ONE };

struct protocol {
	enum grace grace;
	bool interruptible; /* an IPI can be taken during a program */
	bool word_once;     /* the program reads the word once per sample */
	bool clears_idle;   /* what was read is cleared before the next flip */
};

/* Of one CPU and set: what the program adds to, a load and a store each. */
struct part {
	uint8_t received, count;
};

enum program_step {
	PROGRAM_OUTSIDE,
	PROGRAM_LOAD_RECEIVED,
	PROGRAM_STORE_RECEIVED,
	PROGRAM_LOAD_COUNT,
	PROGRAM_STORE_COUNT,
};

struct program {
	uint8_t step; /* the next one */
	uint8_t set, value;
	uint8_t nr_done;
};

enum daemon_step {
	DAEMON_FLIP,
	DAEMON_ASK,
	DAEMON_WAIT,
	DAEMON_READ_RECEIVED,
	DAEMON_READ_COUNT,
	DAEMON_CLEAR_RECEIVED,
	DAEMON_CLEAR_COUNT,
	DAEMON_DONE,
};

/* What has become of the daemon's question to a CPU. */
enum ask { ASK_NOTHING, ASK_SENT, ASK_TAKEN };

/* Bytes alone, so that states can be compared as such. */
struct state {
	struct part part[NR_CPUS][CPI_BPF_SETS];
	struct program program[NR_CPUS];
	uint8_t word[NR_CPUS]; /* the active set: as written, */
	uint8_t seen[NR_CPUS]; /* ... and as the CPU sees it */
	uint8_t ask[NR_CPUS];
	uint8_t active; /* the daemon's own note */
	uint8_t step;   /* the daemon's next */
	uint8_t cpu;    /* ... which it is at */
	uint8_t nr_flips;
	uint8_t received, count; /* taken so far */
	uint8_t taken_received;  /* from the part at hand */
	uint8_t wrong;           /* a part that was taken broke I4 */
};

struct explored {
	struct state *states; /* reached; those from next on are to be continued */
	size_t nr, next;
	uint32_t *seen; /* an open hash table of 1 + their indices */
	bool wrong;
};

static void reach(struct explored *x, const struct state *s)
{
	uint64_t at = hash_bytes(0, s, sizeof(*s));

	for (;; at++) {
		uint32_t *slot = &x->seen[at % SEEN_SIZE];

		if (*slot && memcmp(&x->states[*slot - 1], s, sizeof(*s)))
			continue;
		if (!*slot) {
			ck_assert_uint_lt(x->nr, MAX_STATES);
			x->states[x->nr++] = *s;
			*slot = x->nr;
		}
		return;
	}
}

/* One step of a CPU's program, if it has any. */
static void step_program(struct explored *x, const struct protocol *p, struct state s,
			 int cpu)
{
	struct program *prog = &s.program[cpu];
	struct part *part = &s.part[cpu][prog->set];

	switch (prog->step) {
	case PROGRAM_OUTSIDE:
		if (prog->nr_done == NR_SAMPLES)
			return;
		prog->set = s.seen[cpu];
		break;
	case PROGRAM_LOAD_RECEIVED:
		prog->value = part->received;
		break;
	case PROGRAM_STORE_RECEIVED:
		part->received = prog->value + 1;
		if (!p->word_once)
			prog->set = s.seen[cpu];
		break;
	case PROGRAM_LOAD_COUNT:
		prog->value = part->count;
		break;
	case PROGRAM_STORE_COUNT:
		part->count = prog->value + 1;
		prog->nr_done++;
		prog->set = prog->value = 0;
		prog->step = PROGRAM_OUTSIDE;
		reach(x, &s);
		return;
	}
	prog->step++;
	reach(x, &s);
}

/*
 * What a CPU does beside programs: it comes to see its word, and takes and answers
 * the question. Both of the latter are the kernel's code, so no program is at
 * work, unless it can be interrupted; but between them one may run, in an NMI.
 */
static void step_cpu(struct explored *x, const struct protocol *p, struct state s,
		     int cpu)
{
	struct state sees = s;

	sees.seen[cpu] = s.word[cpu];
	reach(x, &sees);
	if (s.program[cpu].step != PROGRAM_OUTSIDE &&
	    !(p->interruptible && p->grace != GRACE_RCU))
		return;
	switch (s.ask[cpu]) {
	case ASK_NOTHING:
		return;
	case ASK_SENT:
		sees.ask[cpu] = ASK_TAKEN;
		reach(x, &sees);
		return;
	case ASK_TAKEN:
		s.ask[cpu] = ASK_NOTHING;
		reach(x, &s);
		return;
	}
}

static bool is_last_cpu(struct state *s)
{
	s->cpu = (s->cpu + 1) % NR_CPUS;
	return !s->cpu;
}

/* Asks all CPUs at once, or the one that the daemon is at. */
static void ask(const struct protocol *p, struct state *s)
{
	switch (p->grace) {
	case GRACE_NONE:
		s->cpu = NR_CPUS - 1;
		break;
	case GRACE_RCU:
		memset(s->ask, ASK_SENT, sizeof(s->ask));
		s->cpu = NR_CPUS - 1;
		break;
	case GRACE_IPI:
		s->ask[s->cpu] = ASK_SENT;
		break;
	case GRACE_IPI_OF_ONE:
		s->ask[0] = ASK_SENT;
		s->cpu = NR_CPUS - 1;
		break;
	}
}

static void next_part(struct state *s)
{
	s->step = DAEMON_READ_RECEIVED;
	if (is_last_cpu(s))
		s->step = ++s->nr_flips == NR_FLIPS ? DAEMON_DONE : DAEMON_FLIP;
}

static void step_daemon(struct explored *x, const struct protocol *p, struct state s)
{
	struct part *part = &s.part[s.cpu][!s.active];

	switch (s.step) {
	case DAEMON_FLIP:
		s.word[s.cpu] = !s.active;
		if (is_last_cpu(&s)) {
			s.active = !s.active;
			s.step++;
		}
		break;
	case DAEMON_ASK:
		ask(p, &s);
		s.step++;
		break;
	case DAEMON_WAIT:
		for (int i = 0; i < NR_CPUS; i++)
			if (s.ask[i] != ASK_NOTHING)
				return;
		s.step = is_last_cpu(&s) ? DAEMON_READ_RECEIVED : DAEMON_ASK;
		break;
	case DAEMON_READ_RECEIVED:
		s.taken_received = part->received;
		s.received += part->received;
		s.step++;
		break;
	case DAEMON_READ_COUNT:
		s.wrong |= s.taken_received != part->count;
		s.count += part->count;
		s.taken_received = 0;
		s.step++;
		if (!p->clears_idle)
			next_part(&s);
		break;
	case DAEMON_CLEAR_RECEIVED:
		part->received = 0;
		s.step++;
		break;
	case DAEMON_CLEAR_COUNT:
		part->count = 0;
		next_part(&s);
		break;
	case DAEMON_DONE:
		return;
	}
	reach(x, &s);
}

/* Nobody has a step left: is each sample taken, or still there, exactly once? */
static bool is_wrong_end(const struct state *s)
{
	unsigned int received = s->received, count = s->count;

	if (s->step != DAEMON_DONE)
		return false;
	for (int i = 0; i < NR_CPUS; i++) {
		if (s->program[i].nr_done != NR_SAMPLES)
			return false;
		for (int set = 0; set < CPI_BPF_SETS; set++) {
			received += s->part[i][set].received;
			count += s->part[i][set].count;
		}
	}
	return received != NR_CPUS * NR_SAMPLES || count != NR_CPUS * NR_SAMPLES;
}

/* Returns whether some order of steps goes wrong; *nr_states is how many there are. */
static bool goes_wrong(const struct protocol *p, size_t *nr_states)
{
	struct explored x = { .states = calloc(MAX_STATES, sizeof(struct state)),
			      .seen = calloc(SEEN_SIZE, sizeof(uint32_t)) };
	const struct state start = { 0 };

	ck_assert_ptr_nonnull(x.states);
	ck_assert_ptr_nonnull(x.seen);
	reach(&x, &start);
	while (x.next < x.nr && !x.wrong) {
		struct state s = x.states[x.next++];

		x.wrong = s.wrong || is_wrong_end(&s);
		for (int i = 0; i < NR_CPUS; i++) {
			step_program(&x, p, s, i);
			step_cpu(&x, p, s, i);
		}
		step_daemon(&x, p, s);
	}
	*nr_states = x.nr;
	free(x.states);
	free(x.seen);
	return x.wrong;
}

static const struct {
	struct protocol protocol;
	bool wrong;
} protocols[] = {
	{ { GRACE_RCU, .word_once = true, .clears_idle = true }, false },
	{ { GRACE_RCU, .interruptible = true, .word_once = true, .clears_idle = true },
	  false },
	{ { GRACE_IPI, .word_once = true, .clears_idle = true }, false },
	{ { GRACE_IPI, .interruptible = true, .word_once = true, .clears_idle = true },
	  true },
	{ { GRACE_IPI_OF_ONE, .word_once = true, .clears_idle = true }, true },
	{ { GRACE_NONE, .word_once = true, .clears_idle = true }, true },
	{ { GRACE_RCU, .word_once = false, .clears_idle = true }, true },
	{ { GRACE_IPI, .word_once = false, .clears_idle = true }, true },
	{ { GRACE_IPI, .word_once = true, .clears_idle = false }, true },
};

START_TEST(only_the_whole_protocol_keeps_every_sample)
{
	size_t nr_states = 0;

	ck_assert_int_eq(goes_wrong(&protocols[_i].protocol, &nr_states),
			 protocols[_i].wrong);
	/* The right one has been explored, not merely begun. */
	if (!protocols[_i].wrong)
		ck_assert_uint_gt(nr_states, 10000);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("flip");
	TCase *tc = tcase_create("model");

	tcase_add_loop_test(tc, only_the_whole_protocol_keeps_every_sample, 0,
			    NR(protocols));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
