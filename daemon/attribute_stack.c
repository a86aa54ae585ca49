/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attribute_stack.c - from a chain of addresses to images and offsets
 *
 * A chain is of one moment, which is in its sample: the process map is asked for that.
 * Frames behind the first of the kernel's and of the user's part are return addresses,
 * and looked up by the byte before: a call may be the last instruction of what called.
 */
#include "config.h"

#include <linux/perf_event.h>

#include "daemon/attribute_private.h"
#include "daemon/stacksampler.h"
#include "daemon/stacktally.h"

struct chain {
	struct attribution *a;
	struct batch at;
	uint32_t tgid;
	const struct process *process;
	struct tally_frame frame[STACK_MAX_FRAMES];
	size_t nr;
	size_t nr_user;
	bool known; /* the last one is in an image */
};

static enum stack_unknown unknown_of(enum loss loss)
{
	switch (loss) {
#define UNKNOWN_CASE(name, value, text) \
	case SAMPLE_##name:             \
		return STACK_UNKNOWN_##name;
		STACK_UNKNOWNS(UNKNOWN_CASE)
#undef UNKNOWN_CASE
	default:
		return STACK_UNKNOWN_NO_MAPPING;
	}
}

static void add_frame(struct chain *c, uint64_t pc, bool returns)
{
	const uint64_t address = pc - returns;
	struct place place;

	if (kernel_address(pc)) {
		place = attribute_kernel_place(c->a, address, c->tgid, c->at.to_ns);
	} else {
		place = attribute_user_place(c->a, &c->at, address, c->tgid, 0);
		c->nr_user++;
	}
	c->known = place.loss == SAMPLE_KEPT;
	if (c->known)
		c->frame[c->nr++] =
			(struct tally_frame){ place.image, address + place.bias };
	else
		c->frame[c->nr++] =
			(struct tally_frame){ NULL, unknown_of(place.loss) };
}

static enum stack_mark mark_of(const struct chain *c, unsigned int limit)
{
	if (c->nr >= limit)
		return STACK_LIMIT;
	if (c->nr_user == 1)
		return STACK_UNREADABLE;
	return c->known ? STACK_ENDED : STACK_NO_START;
}

void attribute_chain(void *ctx, const struct chain_sample *s)
{
	struct attribution *a = ctx;
	struct chain c = { .a = a,
			   .at = { .from_ns = s->time_ns, .to_ns = s->time_ns },
			   .tgid = s->tgid };
	struct tally_stack stack = { .frames = c.frame };
	struct whom whom;
	bool returns = false;

	c.process = procmap_find(a->procmap, s->tgid, 0, s->time_ns);
	for (size_t i = 0; i < s->nr && c.nr < STACK_MAX_FRAMES; i++) {
		if (s->chain[i] >= PERF_CONTEXT_MAX) {
			returns = false;
			continue;
		}
		add_frame(&c, s->chain[i], returns);
		returns = true;
	}
	attribute_whom(a, c.process, s->tgid, &whom);
	whom.contexts[CONTEXT_COMM] = attribute_comm(c.process, s->tgid);
	stack.nr = c.nr;
	stack.mark = mark_of(&c, s->limit);
	stack.contexts = whom.contexts;
	stacktally_add(a->stacks, &stack);
}
