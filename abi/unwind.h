/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unwind.h - requests to cpi-unwind and its replies
 *
 * cpi-unwind's standard input is a SOCK_SEQPACKET socket. A job is one message of one
 * byte with two descriptors, which are SOCK_SEQPACKET sockets, too. A worker serves
 * them until one of them is closed. The next job ends the previous worker.
 *
 * On the first socket, the collector describes processes. Each has a slot; a map, sent
 * in parts, puts a process into a slot. Then the collector sends samples of the
 * process. The worker answers each sample with one chain, in order. On the second
 * socket, the worker requests an image by its number, and waits for the file.
 *
 * Both sides check all that they receive: the worker parses hostile files, and the
 * collector sends data of hostile processes. Numbers are in the machine's byte order.
 */
#ifndef CPI_ABI_UNWIND_H
#define CPI_ABI_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPI_UNWIND_SLOTS    64
#define CPI_UNWIND_MAPPINGS 8192       /* at most, of a process */
#define CPI_UNWIND_PART     1024       /* at most, in a message */
#define CPI_UNWIND_REGS     33         /* by DWARF's numbers, and the PC */
#define CPI_UNWIND_STACK    65528      /* bytes of a stack's copy, at most */
#define CPI_UNWIND_FRAMES   896        /* at most, in a chain */
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
	uint64_t bias;  /* address + bias is the offset in the file */
	uint32_t image; /* 0: the image has no unwind tables */
	uint32_t reserved;
};

/* Followed by nr struct cpi_unwind_mapping, ascending. */
struct cpi_unwind_map {
	uint32_t kind, slot;
	uint32_t nr;
	uint8_t first, last; /* whether this is the first or last part of the process's
				map; both: the only one */
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
	CPI_UNWIND_ROOT,    /* the chain is complete: the thread began there */
	CPI_UNWIND_GUESSED, /* complete, but some frames were found without a table */
	CPI_UNWIND_COPY,    /* the copy of the stack was too short */
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
 * The answer to a request for an image; the request is only the number. err is 0, and
 * the message has a descriptor; or -errno. If wrapped is set, the descriptor is a
 * socket, whose first message has the descriptor of the file.
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

/*
 * Whether the size bytes of a message are one valid map: its sizes agree, and the
 * mappings are in order.
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
