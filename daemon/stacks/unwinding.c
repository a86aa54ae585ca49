/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwinding.c - which samples wait, and what the worker knows of processes and images
 *
 * The worker has a limited number of slots for processes. A new process takes the
 * slot that was not used for the longest time. The mappings of a process are sent
 * again if they changed. Each image has a number, which is used once. The worker
 * asks for an image's file when a frame is in it; for most images that never
 * happens.
 *
 * Code that was made at run time and has unwind tables is an image of its own, with
 * a mapping inside the anonymous memory around it.
 */
#include "config.h"

#include "daemon/stacks/unwinding.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/jit/jitimage.h"
#include "daemon/os/arch.h"
#include "daemon/procmap/kernel.h"
#include "daemon/stacks/unwind_child.h"
#include "daemon/stacks/unwindcodes.h"

#define PATIENCE_NS    (20 * NSEC_PER_SEC) /* a worker silent for longer is dead */
#define RESTART_NS     NSEC_PER_SEC        /* after the first failure; then doubled */
#define RESTART_MAX_NS (64 * NSEC_PER_SEC)
#define MAX_ASKED      64   /* images, before the daemon does something else */
#define GOOD_CHAINS    1000 /* chains of one worker that reset the wait to RESTART_NS */
#define MAX_CODES      16384 /* of run-time code; then all numbers are dropped */

/* A sample that waits for its user-mode frames; chain has the kernel's part. */
struct pending {
	struct pending *next;
	uint64_t id, time_ns;
	uint32_t tgid;
	unsigned int limit;
	size_t nr;
	uint64_t chain[];
};

struct slot {
	uint32_t tgid;
	uint64_t start_ns; /* which incarnation of it */
	uint64_t mapped;   /* a hash of what was sent; 0: nothing was */
	uint64_t used;     /* the last sample's id */
};

struct numbered {
	struct hnode node;
	struct known_image *image; /* NULL: it is code */
	struct jit_tables code;
	uint32_t number;
	uint32_t tgid;     /* a process that maps the file, or made the code */
	uint64_t since_ns; /* time of the mapping; for code, the process's start_ns */
};

struct unwinding {
	struct unwinding_config cfg;
	struct unwind_child child;
	struct slot slot[CPI_UNWIND_SLOTS];
	struct unwindcodes codes[CPI_UNWIND_SLOTS];
	struct pending *first, **last;
	uint64_t next_id, heard_ns;
	uint64_t restart_ns,
		wait_ns;  /* when the next worker is started, and the wait before */
	bool told;        /* the log says that it cannot be started */
	uint64_t nr_good; /* chains of this worker */
	struct hmap numbers;
	struct numbered **image; /* from first_image on */
	size_t nr_images, nr_codes;
	uint32_t first_image;
	struct unwinding_counts counts;
	struct cpi_unwind_mapping mapping[CPI_UNWIND_MAPPINGS];
	char message[CPI_UNWIND_MESSAGE];
};

bool unwinding_runs(const struct unwinding *u)
{
	return u->child.fd[CPI_UNWIND_WORK] >= 0;
}

const struct unwinding_counts *unwinding_counts(const struct unwinding *u)
{
	return &u->counts;
}

static void begin(struct unwinding *u)
{
	int err = u->child.pid ? unwind_child_begin(&u->child) : -EPIPE;

	if (err == -EPIPE) {
		unwind_child_stop(&u->child);
		err = unwind_child_start(&u->child);
		if (!err)
			err = unwind_child_begin(&u->child);
	}
	memset(u->slot, 0, sizeof(u->slot));
	u->nr_good = 0;
	u->told &= err != 0; /* a later failure is logged again */
	u->heard_ns = time_mono_ns();
	if (err) {
		if (!u->told)
			log_warn("unwinding: cannot start cpi-unwind: %s; until it "
				 "starts, call stacks are lost",
				 err_str(err));
		u->told = true;
		u->restart_ns = u->heard_ns + RESTART_MAX_NS;
	}
}

/*
 * Counts the samples that wait for this worker as lost; the next worker is started
 * later.
 */
static void give_up(struct unwinding *u, const char *why)
{
	log_warn("unwinding: cpi-unwind %s: %llu call stacks are lost", why,
		 (unsigned long long)u->counts.pending);
	unwind_child_end(&u->child);
	while (u->first) {
		struct pending *p = u->first;

		u->first = p->next;
		free(p);
	}
	u->last = &u->first;
	u->counts.died += u->counts.pending;
	u->counts.pending = 0;
	u->counts.nr_died++;
	if (u->nr_good >= GOOD_CHAINS || !u->wait_ns)
		u->wait_ns = RESTART_NS;
	else if (u->wait_ns < RESTART_MAX_NS)
		u->wait_ns *= 2;
	u->restart_ns = time_mono_ns() + u->wait_ns;
}

/* Adds a copy of *what with the next number. Returns the number; 0: no memory. */
static uint32_t add_number(struct unwinding *u, const struct numbered *what,
			   uint64_t hash)
{
	struct numbered *n;

	if (GROW(u->image, u->nr_images))
		return 0;
	n = malloc(sizeof(*n));
	if (!n)
		return 0;
	*n = *what;
	if (hmap_insert(&u->numbers, &n->node, hash)) {
		free(n);
		return 0;
	}
	n->number = u->first_image + (uint32_t)u->nr_images;
	u->image[u->nr_images++] = n;
	return n->number;
}

/* Returns the image's number; 0 if the mapping has no image, or if out of memory. */
static uint32_t number_of(struct unwinding *u, const struct range *r, uint32_t tgid)
{
	const struct numbered what = { .image = images_known(r->value, r->since),
				       .tgid = tgid,
				       .since_ns = r->since };
	const uint64_t hash = hash_u64((uintptr_t)what.image);

	if (what.image->unknown != SAMPLE_KEPT)
		return 0;
	for (struct hnode *h = hmap_first(&u->numbers, hash); h; h = hmap_next(h)) {
		struct numbered *n = container_of(h, struct numbered, node);

		if (n->image != what.image)
			continue;
		n->tgid = what.tgid; /* this one lives, the first one may not */
		n->since_ns = what.since_ns;
		return n->number;
	}
	return add_number(u, &what, hash);
}

static uint32_t number_of_code(struct unwinding *u, const struct process *p,
			       const struct jit_tables *code)
{
	const struct numbered what = { .code = *code,
				       .tgid = p->tgid,
				       .since_ns = p->start_ns };
	const uint64_t hash = hash_bytes(p->start_ns, code, sizeof(*code));
	uint32_t number;

	for (struct hnode *h = hmap_first(&u->numbers, hash); h; h = hmap_next(h)) {
		const struct numbered *n = container_of(h, struct numbered, node);

		if (!n->image && n->tgid == p->tgid && n->since_ns == p->start_ns &&
		    !memcmp(&n->code, code, sizeof(*code)))
			return n->number;
	}
	number = add_number(u, &what, hash);
	u->nr_codes += number != 0;
	return number;
}

static void list_mapping(struct unwinding *u, uint32_t *nr,
			 const struct cpi_unwind_mapping *m)
{
	if (m->start < m->end && *nr < CPI_UNWIND_MAPPINGS)
		u->mapping[(*nr)++] = *m;
}

/* Writes the executable mappings of p to u->mapping, and returns their number. */
static uint32_t list_mappings(struct unwinding *u, const struct process *p,
			      const struct unwindcodes *codes)
{
	size_t nr_ranges, at = 0;
	const struct range *r = procmap_ranges(p, &nr_ranges);
	uint32_t nr = 0;

	for (const struct range *end = r + nr_ranges; r < end; r++) {
		struct cpi_unwind_mapping rest = { .start = r->start,
						   .end = r->end,
						   .bias = r->bias,
						   .image = number_of(u, r, p->tgid) };

		for (; at < codes->nr && codes->code[at].start < r->end; at++) {
			const struct jit_tables *c = &codes->code[at];
			struct cpi_unwind_mapping before = rest;

			if (c->start < r->start || c->end > r->end ||
			    !jit_may_hold(r->value))
				continue;
			before.end = c->start;
			list_mapping(u, &nr, &before);
			list_mapping(u, &nr,
				     &(struct cpi_unwind_mapping){
					     .start = c->start,
					     .end = c->end,
					     .bias = JITIMAGE_CODE_AT - c->start,
					     .image = number_of_code(u, p, c),
				     });
			rest.start = c->end;
		}
		list_mapping(u, &nr, &rest);
	}
	return nr;
}

static uint32_t find_slot(const struct unwinding *u, const struct process *p)
{
	uint32_t oldest = 0;

	for (uint32_t i = 0; i < CPI_UNWIND_SLOTS; i++) {
		const struct slot *s = &u->slot[i];

		if (s->mapped && s->tgid == p->tgid && s->start_ns == p->start_ns)
			return i;
		if (s->used < u->slot[oldest].used)
			oldest = i;
	}
	return oldest;
}

static int put_mappings(struct unwinding *u, uint32_t slot, uint32_t nr)
{
	uint32_t at = 0;

	do {
		const uint32_t left = nr - at,
			       part = left < CPI_UNWIND_PART ? left : CPI_UNWIND_PART;
		const size_t size = part * sizeof(u->mapping[0]);
		struct cpi_unwind_map *m =
			unwind_child_put(&u->child, sizeof(*m) + size);

		if (!m)
			return -ENOMEM;
		*m = (struct cpi_unwind_map){ .kind = CPI_UNWIND_MAP,
					      .slot = slot,
					      .nr = part,
					      .first = !at,
					      .last = part == left };
		memcpy(m + 1, u->mapping + at, size);
		at += part;
	} while (at < nr);
	return 0;
}

/*
 * Sends p's executable mappings to the worker if they changed, with run-time code to
 * which the sample points. Returns p's slot, or -ENOMEM.
 */
static int describe(struct unwinding *u, const struct process *p,
		    const struct chain_sample *sample)
{
	const uint32_t slot = find_slot(u, p);
	struct unwindcodes *codes = &u->codes[slot];
	struct slot *s = &u->slot[slot];
	uint64_t hash;
	uint32_t nr;

	if (s->tgid != p->tgid || s->start_ns != p->start_ns)
		unwindcodes_fini(codes);
	unwindcodes_meet(codes, u->cfg.jit, p, sample);
	nr = list_mappings(u, p, codes);
	hash = hash_bytes(p->start_ns, u->mapping, nr * sizeof(u->mapping[0])) | 1;
	if (s->mapped != hash || s->tgid != p->tgid || s->start_ns != p->start_ns) {
		s->mapped = 0;
		if (put_mappings(u, slot, nr))
			return -ENOMEM;
		*s = (struct slot){ p->tgid, p->start_ns, hash, 0 };
	}
	s->used = u->next_id;
	return (int)slot;
}

static int put_sample(struct unwinding *u, const struct chain_sample *s, uint32_t slot)
{
	const size_t size =
		s->stack_size < CPI_UNWIND_STACK ? s->stack_size : CPI_UNWIND_STACK;
	uint64_t regs[CPI_UNWIND_REGS] = { 0 };
	struct cpi_unwind_sample *m =
		unwind_child_put(&u->child, sizeof(*m) + sizeof(regs) + size);

	if (!m)
		return -ENOMEM;
	for (int i = 0; i < __builtin_popcountll(arch_native.user_mask); i++)
		regs[arch_native.user_dwarf[i]] = s->regs[i];
	*m = (struct cpi_unwind_sample){ .kind = CPI_UNWIND_SAMPLE,
					 .slot = slot,
					 .id = u->next_id,
					 .stack_at = regs[arch_native.dwarf_sp],
					 .stack_size = size };
	memcpy(m + 1, regs, sizeof(regs));
	memcpy((char *)(m + 1) + sizeof(regs), s->stack, size);
	return 0;
}

/* If the process is not known, the chain's user part is only the PC. */
static void take_alone(struct unwinding *u, const struct chain_sample *s)
{
	struct chain_sample alone = *s;
	struct cpi_unwind_frame frame = { 0 };

	for (int i = 0; i < __builtin_popcountll(arch_native.user_mask); i++) {
		if (arch_native.user_dwarf[i] == arch_native.dwarf_pc)
			frame.pc = s->regs[i];
	}
	alone.frame = &frame;
	alone.nr_frames = 1;
	alone.end = CPI_UNWIND_UNMAPPED;
	u->cfg.take(u->cfg.ctx, &alone);
}

static int put_chain_sample(struct unwinding *u, const struct chain_sample *s,
			    const struct process *process)
{
	struct pending *p = malloc(sizeof(*p) + s->nr * sizeof(p->chain[0]));
	int slot = p ? describe(u, process, s) : -ENOMEM;

	if (slot < 0 || put_sample(u, s, (uint32_t)slot)) {
		free(p);
		return -ENOMEM;
	}
	*p = (struct pending){ .id = u->next_id++,
			       .time_ns = s->time_ns,
			       .tgid = s->tgid,
			       .limit = s->limit,
			       .nr = s->nr };
	memcpy(p->chain, s->chain, s->nr * sizeof(p->chain[0]));
	if (!u->first)
		u->heard_ns = time_mono_ns();
	*u->last = p;
	u->last = &p->next;
	u->counts.pending++;
	return 0;
}

void unwinding_add(void *ctx, const struct chain_sample *s)
{
	struct unwinding *u = ctx;
	const struct process *p;

	if (!s->regs) {
		u->cfg.take(u->cfg.ctx, s);
		return;
	}
	p = procmap_find(u->cfg.procmap, s->tgid, 0, s->time_ns);
	if (!p)
		take_alone(u, s);
	else if (!unwinding_runs(u))
		u->counts.died++;
	else if (u->counts.pending >= UNWINDING_MAX_PENDING ||
		 u->child.bytes >= UNWINDING_MAX_BYTES || put_chain_sample(u, s, p))
		u->counts.full++;
	else if (unwind_child_send(&u->child))
		give_up(u, "has died");
	if (u->nr_codes >= MAX_CODES)
		unwinding_forget_images(u);
}

/*
 * Passes on the oldest pending sample with the chain in u->message. Returns false if
 * the chain is malformed or belongs to another sample.
 */
static bool take_chain(struct unwinding *u, size_t size)
{
	const struct cpi_unwind_chain *c = (const void *)u->message;
	struct pending *p = u->first;
	struct chain_sample s;

	if (!cpi_unwind_chain_ok(c, size) || !p || p->id != c->id)
		return false;
	s = (struct chain_sample){ .time_ns = p->time_ns,
				   .tgid = p->tgid,
				   .chain = p->chain,
				   .nr = p->nr,
				   .limit = p->limit,
				   .frame = (const void *)(c + 1),
				   .nr_frames = c->nr,
				   .end = c->end };
	u->cfg.take(u->cfg.ctx, &s);
	u->first = p->next;
	if (!u->first)
		u->last = &u->first;
	free(p);
	u->counts.pending--;
	u->counts.done++;
	u->counts.end[c->end]++;
	u->nr_good++;
	return true;
}

static int open_vdso(void)
{
	const void *bytes;
	size_t size;
	int err = kernel_vdso(&bytes, &size), fd;

	if (err)
		return err;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = file_write(fd, bytes, size);
	if (!err)
		return fd;
	close(fd);
	return err;
}

/*
 * Returns a descriptor of the image's file, or -errno. If *wrapped is set, it is a
 * socket from which the file is received.
 */
static int open_image(struct unwinding *u, uint32_t number, bool *wrapped)
{
	const uint32_t at = number - u->first_image;
	struct known_image *image;
	struct numbered *n;

	if (at >= u->nr_images)
		return -ESTALE;
	n = u->image[at];
	if (!n->image)
		return jit_open_tables(u->cfg.jit,
				       &(struct process){ .tgid = n->tgid,
							  .start_ns = n->since_ns },
				       &n->code);
	if (n->image->desc.kind == IMAGE_VDSO)
		return open_vdso();
	image = images_resolve(u->cfg.images, n->image, (pid_t)n->tgid, n->since_ns);
	*wrapped = true;
	return images_wrap(u->cfg.images, image, (pid_t)n->tgid);
}

static int answer(struct unwinding *u, uint32_t number)
{
	bool wrapped = false;
	const int fd = open_image(u, number, &wrapped);
	int err = unwind_child_answer(&u->child, number, fd, wrapped);

	u->counts.nr_images += fd >= 0;
	if (err && wrapped)
		timed_child_dispose(images_timed_child(u->cfg.images), fd);
	else if (fd >= 0)
		close(fd);
	return err;
}

/*
 * Handles the worker's messages, and sends the queued ones. Returns false if the
 * worker failed.
 */
static bool hear(struct unwinding *u)
{
	uint32_t number;
	ssize_t size;
	int err = 0;

	for (int i = 0;
	     i < MAX_ASKED && !(err = unwind_child_asked(&u->child, &number)); i++) {
		u->heard_ns = time_mono_ns();
		err = answer(u, number);
		if (err)
			return false;
	}
	if (err && err != -EAGAIN)
		return false;
	while ((size = unwind_child_take(&u->child, u->message, sizeof(u->message))) >
	       0) {
		u->heard_ns = time_mono_ns();
		if (!take_chain(u, (size_t)size))
			return false;
	}
	return size == -EAGAIN && !unwind_child_send(&u->child);
}

int unwinding_run(struct unwinding *u)
{
	const uint64_t now = time_mono_ns();

	if (!unwinding_runs(u)) {
		if (now >= u->restart_ns)
			begin(u);
		return 1000;
	}
	if (!hear(u))
		give_up(u, "has died");
	else if (u->first && now > u->heard_ns + PATIENCE_NS)
		give_up(u, "does not answer");
	return u->first ? 1000 : -1;
}

void unwinding_finish(struct unwinding *u, uint64_t max_ns)
{
	const uint64_t end_ns = time_mono_ns() + max_ns;

	while (u->first && unwinding_runs(u)) {
		struct pollfd fds[CPI_UNWIND_NR_FDS];

		for (int i = 0; i < CPI_UNWIND_NR_FDS; i++)
			fds[i] = (struct pollfd){ u->child.fd[i], POLLIN, 0 };
		if (u->child.first)
			fds[CPI_UNWIND_WORK].events |= POLLOUT;
		if (time_mono_ns() >= end_ns)
			give_up(u, "does not answer in time");
		else if (poll(fds, CPI_UNWIND_NR_FDS, 1000) >= 0 || errno == EINTR)
			unwinding_run(u);
	}
}

uint64_t unwinding_oldest_ns(const struct unwinding *u)
{
	return u->first ? u->first->time_ns : UINT64_MAX;
}

/* Numbers are not given out again: the worker may still ask for one of these. */
void unwinding_forget_images(struct unwinding *u)
{
	for (size_t i = 0; i < u->nr_images; i++) {
		hmap_remove(&u->numbers, &u->image[i]->node);
		free(u->image[i]);
	}
	u->first_image += (uint32_t)u->nr_images;
	u->nr_images = u->nr_codes = 0;
	memset(u->slot, 0, sizeof(u->slot));
}

int unwinding_open(const struct unwinding_config *cfg, struct unwinding **out)
{
	struct unwinding *u = calloc(1, sizeof(*u));
	int err;

	if (!u)
		return -ENOMEM;
	u->cfg = *cfg;
	u->child.epoll_fd = cfg->epoll_fd;
	u->last = &u->first;
	u->first_image = u->next_id = 1;
	err = unwind_child_start(&u->child);
	if (!err)
		err = unwind_child_begin(&u->child);
	if (err) {
		log_err("unwinding: cannot start cpi-unwind: %s%s", err_str(err),
			err == -ENOENT ? "; builds without libunwind have none: "
					 "sample stacks by frame pointers"
				       : "");
		unwinding_close(u);
		return err;
	}
	*out = u;
	return 0;
}

void unwinding_close(struct unwinding *u)
{
	if (!u)
		return;
	unwind_child_stop(&u->child);
	while (u->first) {
		struct pending *p = u->first;

		u->first = p->next;
		free(p);
	}
	for (int i = 0; i < CPI_UNWIND_SLOTS; i++)
		unwindcodes_fini(&u->codes[i]);
	unwinding_forget_images(u);
	hmap_fini(&u->numbers);
	free(u->image);
	free(u);
}
