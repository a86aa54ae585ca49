/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attribute_private.h - places and contexts, shared by samples and stacks
 */
#ifndef CPI_DAEMON_ATTRIBUTE_PRIVATE_H
#define CPI_DAEMON_ATTRIBUTE_PRIVATE_H

#include "daemon/attribute/attribute.h"

/* The image, or the reason why there is none, for a range of addresses. */
struct place {
	struct known_image *image; /* set if loss is SAMPLE_KEPT */
	uint64_t bias;             /* address + bias is the image's offset */
	enum loss loss;
	const struct process *process; /* NULL: not known */
	uint64_t start, end;           /* the addresses for which this holds */
};

struct place attribute_kernel_place(struct attribution *a, uint64_t pc, uint32_t tgid,
				    uint64_t now_ns);

struct place attribute_user_place(struct attribution *a, uint64_t pc, uint32_t tgid,
				  unsigned int generation, struct time_span when);

/*
 * In attribute_later.c: defer a sample if a look-up lacked information. They return
 * whether it was deferred. If a->later is NULL, or the limit is reached, it is not
 * deferred, and the caller attributes it by what is known.
 */
bool later_add_entry(struct attribution *a, const struct batch *b,
		     const struct cpi_entry *e);
bool later_add_record(struct attribution *a, const struct batch *b,
		      const struct batch_record *r);
bool later_add_stack(struct attribution *a, const struct branch_stack *s);
bool later_add_chain(struct attribution *a, const struct chain_sample *s);

/*
 * Looks up all branches of a stack, to find out whether it must be deferred as a whole.
 */
void attribute_look_at_branches(struct attribution *a, const struct branch_stack *s);

/* Returns the command under which samples are counted; p may be NULL. */
const char *attribute_comm(const struct process *p, uint32_t tgid);

/* The contexts under which a sample is counted, in addition to the whole profile. */
struct sample_contexts {
	const char *contexts[NR_CONTEXT_KINDS];
	char process[PROCMAP_COMM_SIZE + 16];
	char thread[PROCMAP_COMM_SIZE + 16];
};

/* Sets the contexts of the kinds in a->by; the others are NULL. */
void attribute_set_contexts(const struct attribution *a, const struct process *p,
			    uint32_t tgid, struct sample_contexts *w);

#endif
