/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind.h - what a collector asks of cpi-unwind, and what it hears back
 *
 * cpi-unwind's standard input is a SOCK_SEQPACKET socket. A job is one message of one
 * byte with two descriptors, sockets of the same kind; a worker serves them until one
 * of them ends. The next job ends the worker before.
 *
 * On the first, the collector describes processes, each in a slot: a map, in parts,
 * puts another process there. Then it sends samples of that. Each gets one chain, in
 * order. On the second, the worker asks for an image by its number, and waits for the
 * file.
 *
 * Both sides take what comes for what it is: the one parses files that may be anything,
 * and the other samples processes. Numbers are as the machine has them.
 */
#ifndef CPI_ABI_UNWIND_H
#define CPI_ABI_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPI_UNWIND_SLOTS    64
#define CPI_UNWIND_MAPPINGS 8192       /* most of a process */
#define CPI_UNWIND_PART     1024       /* most of a message */
#define CPI_UNWIND_REGS     33         /* by DWARF's numbers, and the PC */
#define CPI_UNWIND_STACK    65528      /* most bytes of a copy */
#define CPI_UNWIND_FRAMES   896        /* most of a chain */
#define CPI_UNWIND_MESSAGE  (1u << 17) /* no message is longer */

enum cpi_unwind_fd {
	CPI_UNWIND_WORK,
	CPI_UNWIND_IMAGES,
	CPI_UNWIND_NR_FDS,
};

enum cpi_unwind_kind {
	CPI_UNWIND_MAP = 1,
	CPI_UNWIND_SAMPLE,
};

struct cpi_unwind_mapping {
	uint64_t start, end;
	uint64_t bias;  /* address + bias is the file's offset */
	uint32_t image; /* 0: it has no tables */
	uint32_t reserved;
};

/* Followed by nr struct cpi_unwind_mapping, ascending. */
struct cpi_unwind_map {
	uint32_t kind, slot;
	uint32_t nr;
	uint8_t first, last; /* part of a process; both: it is all of it */
	uint8_t reserved[2];
};

/* Followed by CPI_UNWIND_REGS registers, and stack_size bytes of the stack. */
struct cpi_unwind_sample {
	uint32_t kind, slot;
	uint64_t id, stack_at;
	uint64_t stack_size;
};

/* Why a chain has no more frames. */
enum cpi_unwind_end {
	CPI_UNWIND_ROOT,    /* it began there */
	CPI_UNWIND_GUESSED, /* the same, but frames were found without a table */
	CPI_UNWIND_COPY,    /* the copy of the stack ended before */
	CPI_UNWIND_UNMAPPED,
	CPI_UNWIND_NO_TABLE,
	CPI_UNWIND_BROKEN,
	CPI_UNWIND_DEPTH,
	CPI_UNWIND_LOOP,
	CPI_UNWIND_NR_ENDS,
};

struct cpi_unwind_frame {
	uint64_t pc;
	uint64_t returns; /* 1: a call returns there; 0: it was interrupted there */
};

/* Followed by nr struct cpi_unwind_frame, the sampled one first. */
struct cpi_unwind_chain {
	uint64_t id;
	uint32_t end, nr;
};

/*
 * The answer to a question, which is a number alone: 0 with a descriptor, or -errno.
 * wrapped: the descriptor is a socket, and the file's is in its first message.
 */
struct cpi_unwind_image {
	uint32_t image;
	int32_t err;
	uint32_t wrapped;
};

_Static_assert(sizeof(struct cpi_unwind_mapping) == 32, "wire format");
_Static_assert(sizeof(struct cpi_unwind_map) == 16, "wire format");
_Static_assert(sizeof(struct cpi_unwind_sample) == 32, "wire format");
_Static_assert(sizeof(struct cpi_unwind_frame) == 16, "wire format");
_Static_assert(sizeof(struct cpi_unwind_chain) == 16, "wire format");
_Static_assert(sizeof(struct cpi_unwind_image) == 12, "wire format");
_Static_assert(sizeof(struct cpi_unwind_sample) + CPI_UNWIND_REGS * 8 +
			       CPI_UNWIND_STACK <=
		       CPI_UNWIND_MESSAGE,
	       "a sample is one message");

/* Whether a message's first size bytes are all of a map: sizes agree, order is right.
 */
static inline bool cpi_unwind_map_ok(const void *message, size_t size)
{
	const struct cpi_unwind_map *m = message;
	const struct cpi_unwind_mapping *mapping = (const void *)(m + 1);

	if (size < sizeof(*m) || m->kind != CPI_UNWIND_MAP ||
	    m->slot >= CPI_UNWIND_SLOTS || m->nr > CPI_UNWIND_PART ||
	    size != sizeof(*m) + m->nr * sizeof(*mapping))
		return false;
	for (uint32_t i = 0; i < m->nr; i++) {
		if (mapping[i].start >= mapping[i].end ||
		    (i && mapping[i].start < mapping[i - 1].end))
			return false;
	}
	return true;
}

static inline bool cpi_unwind_sample_ok(const void *message, size_t size)
{
	const struct cpi_unwind_sample *s = message;

	return size >= sizeof(*s) && s->kind == CPI_UNWIND_SAMPLE &&
	       s->slot < CPI_UNWIND_SLOTS && s->stack_size <= CPI_UNWIND_STACK &&
	       size == sizeof(*s) + CPI_UNWIND_REGS * sizeof(uint64_t) + s->stack_size;
}

static inline bool cpi_unwind_chain_ok(const void *message, size_t size)
{
	const struct cpi_unwind_chain *c = message;

	return size >= sizeof(*c) && c->end < CPI_UNWIND_NR_ENDS &&
	       c->nr <= CPI_UNWIND_FRAMES &&
	       size == sizeof(*c) + c->nr * sizeof(struct cpi_unwind_frame);
}

#endif
