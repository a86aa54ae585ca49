/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attribute_private.h - places and contexts, for samples and for stacks
 */
#ifndef CPI_DAEMON_ATTRIBUTE_PRIVATE_H
#define CPI_DAEMON_ATTRIBUTE_PRIVATE_H

#include "daemon/attribute/attribute.h"

/* Where addresses belong. */
struct place {
	struct known_image *image; /* set when loss is SAMPLE_KEPT */
	uint64_t bias;             /* address + bias is the image's offset */
	enum loss loss;
	const struct process *process; /* NULL when none is known */
	uint64_t start, end;           /* of the addresses that belong there */
};

struct place attribute_kernel_place(struct attribution *a, uint64_t pc, uint32_t tgid,
				    uint64_t now_ns);

struct place attribute_user_place(struct attribution *a, uint64_t pc, uint32_t tgid,
				  unsigned int generation, struct time_span when);

/*
 * attribute_later.c: put off something for which a look-up lacked information. Returns
 * whether it was put off. If there is nowhere to put it, or the limit is reached, it is
 * not, and the caller attributes it with what is known.
 */
bool later_add_entry(struct attribution *a, const struct batch *b,
		     const struct cpi_entry *e);
bool later_add_record(struct attribution *a, const struct batch *b,
		      const struct batch_record *r);
bool later_add_stack(struct attribution *a, const struct branch_stack *s);
bool later_add_chain(struct attribution *a, const struct chain_sample *s);

/* Notes what the branches' addresses lack, all at once: edges are not put off singly.
 */
void attribute_look_at_branches(struct attribution *a, const struct branch_stack *s);

/* The command that is told of; p may be NULL. */
const char *attribute_comm(const struct process *p, uint32_t tgid);

/* Whom samples are counted for, beside everybody. */
struct whom {
	const char *contexts[NR_CONTEXT_KINDS];
	char process[PROCMAP_COMM_SIZE + 16];
};

/* Of the kinds that are kept. */
void attribute_whom(const struct attribution *a, const struct process *p, uint32_t tgid,
		    struct whom *w);

#endif
