/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attribute_stack.c - turns a chain of addresses into images and offsets
 *
 * All addresses of a chain are looked up in the process map as it was at the sample's
 * time. In the kernel's part and in the user's part, every frame after the first is a
 * return address. It is looked up by the byte before it, because a call may be the
 * caller's last instruction.
 */
#include "config.h"

#include <linux/perf_event.h>
#include <string.h>

#include "base/path.h"
#include "daemon/attribute/attribute_private.h"
#include "daemon/stacks/stacksampler.h"
#include "daemon/stacks/stacktally.h"

struct chain_frames {
	struct attribution *a;
	uint64_t when_ns;
	uint32_t tgid;
	const struct process *process;
	struct tally_frame frame[STACK_MAX_FRAMES];
	size_t nr, nr_user;
	/*
	 * Set by the markers in the chain, because an address alone does not show
	 * whether it is user or kernel code.
	 */
	enum { IN_KERNEL, IN_USER, ELSEWHERE } mode;
};

/* PERF_CONTEXT_USER_DEFERRED, which older kernel headers lack. */
#define CONTEXT_USER_DEFERRED ((uint64_t)-640)

static enum stack_unknown unknown_of(enum loss loss)
{
	enum stack_unknown why = STACK_UNKNOWN_NO_MAPPING;

	loss_unknown(loss, &why);
	return why;
}

static void add_frame(struct chain_frames *c, uint64_t pc, bool returns)
{
	const uint64_t address = pc - returns;
	struct place place = { .loss = SAMPLE_GUEST };

	if (c->mode == IN_USER)
		place = attribute_user_place(c->a, address, c->tgid, 0,
					     (struct time_span){ c->when_ns,
								 c->when_ns });
	else if (c->mode == IN_KERNEL)
		place = attribute_kernel_place(c->a, address, c->tgid, c->when_ns);
	c->nr_user += c->mode == IN_USER;
	if (place.loss == SAMPLE_KEPT)
		c->frame[c->nr++] =
			(struct tally_frame){ place.image, address + place.bias };
	else
		c->frame[c->nr++] =
			(struct tally_frame){ NULL, unknown_of(place.loss) };
}

static bool is_called(const char *name, const char *const *prefix, size_t nr)
{
	const char *last = path_base(name);

	for (size_t i = 0; i < nr; i++) {
		if (!strncmp(last, prefix[i], strlen(prefix[i])))
			return true;
	}
	return false;
}

static bool is_linker(const char *name)
{
	static const char *const prefixes[] = { "ld-", "ld." };

	return is_called(name, prefixes, sizeof(prefixes) / sizeof(prefixes[0]));
}

/* Whether threads begin in this image, the C library or the dynamic linker. */
static bool begins_threads(const char *name)
{
	static const char *const prefixes[] = { "libc.", "libc-", "libpthread" };

	return is_linker(name) ||
	       is_called(name, prefixes, sizeof(prefixes) / sizeof(prefixes[0]));
}

/*
 * Whether the outermost frame may be the first frame of a thread. In a process with a C
 * library, threads begin only there.
 */
static bool reaches_start(const struct chain_frames *c)
{
	const struct known_image *image = c->frame[c->nr - 1].image;

	if (!c->nr_user)
		return true;
	if (!image)
		return false;
	return begins_threads(image->desc.name) || !c->process ||
	       !procmap_find_image(c->process, begins_threads);
}

enum stack_mark attribute_end_mark(enum cpi_unwind_end end)
{
	static const enum stack_mark marks[CPI_UNWIND_NR_ENDS] = {
		[CPI_UNWIND_ROOT] = STACK_ENDED,
		[CPI_UNWIND_GUESSED] = STACK_GUESSED,
		[CPI_UNWIND_COPY] = STACK_COPY,
		[CPI_UNWIND_UNMAPPED] = STACK_UNMAPPED,
		[CPI_UNWIND_NO_TABLE] = STACK_NO_TABLE,
		[CPI_UNWIND_BROKEN] = STACK_BROKEN,
		[CPI_UNWIND_DEPTH] = STACK_LIMIT,
		[CPI_UNWIND_LOOP] = STACK_LOOP,
	};

	return marks[end];
}

/*
 * Returns the mark of a stack that was unwound. A stack that ends in the dynamic linker
 * is complete: programs begin there, at an entry without unwind table.
 */
static enum stack_mark mark_of_unwound(const struct chain_frames *c,
				       enum cpi_unwind_end end)
{
	const struct known_image *image = c->nr ? c->frame[c->nr - 1].image : NULL;

	if (end == CPI_UNWIND_NO_TABLE && c->nr_user > 1 && image &&
	    is_linker(image->desc.name))
		return STACK_ENDED;
	return attribute_end_mark(end);
}

static enum stack_mark mark_of(const struct chain_frames *c,
			       const struct chain_sample *s, bool deferred)
{
	if (s->frame)
		return mark_of_unwound(c, s->end);
	if (deferred)
		return STACK_DEFERRED;
	if (s->is_copied)
		return STACK_COPIED;
	if (c->nr >= s->limit || c->nr == STACK_MAX_FRAMES)
		return STACK_LIMIT;
	if (!c->nr || c->nr_user == 1)
		return STACK_UNREADABLE;
	return reaches_start(c) ? STACK_ENDED : STACK_NO_START;
}

static void enter_context(struct chain_frames *c, uint64_t context)
{
	c->mode = context == PERF_CONTEXT_USER     ? IN_USER
		  : context == PERF_CONTEXT_KERNEL ? IN_KERNEL
						   : ELSEWHERE;
}

/*
 * Adds the frames that the kernel found. The first frame of each part is not a return
 * address. Returns true if the kernel delivers the rest of the chain later; the cookie
 * that identifies it follows the marker.
 */
static bool add_chain(struct chain_frames *c, const struct chain_sample *s)
{
	bool returns = false;

	for (size_t i = 0; i < s->nr && c->nr < STACK_MAX_FRAMES; i++) {
		if (s->chain[i] == CONTEXT_USER_DEFERRED)
			return true;
		if (s->chain[i] >= PERF_CONTEXT_MAX) {
			enter_context(c, s->chain[i]);
			returns = false;
			continue;
		}
		add_frame(c, s->chain[i], returns);
		returns = true;
	}
	return false;
}

/* Adds the unwound frames of user mode, after the kernel's. */
static void add_frames(struct chain_frames *c, const struct chain_sample *s)
{
	c->mode = IN_USER;
	for (size_t i = 0; i < s->nr_frames && c->nr < STACK_MAX_FRAMES; i++)
		add_frame(c, s->frame[i].pc, s->frame[i].returns);
}

void attribute_chain(void *ctx, const struct chain_sample *s)
{
	struct attribution *a = ctx;
	struct chain_frames c = { .a = a, .tgid = s->tgid, .when_ns = s->time_ns };
	struct tally_stack stack = { .frames = c.frame };
	struct sample_contexts own;
	bool deferred;

	a->lacking = false;
	c.process = procmap_find(a->procmap, s->tgid, 0, s->time_ns);
	deferred = add_chain(&c, s);
	add_frames(&c, s);
	if (later_add_chain(a, s))
		return;
	attribute_set_contexts(a, c.process, s->tgid, &own);
	own.contexts[CONTEXT_COMM] = attribute_comm(c.process, s->tgid);
	stack.nr = c.nr;
	stack.mark = mark_of(&c, s, deferred);
	stack.contexts = own.contexts;
	stacktally_add(a->stacks, &stack);
}
