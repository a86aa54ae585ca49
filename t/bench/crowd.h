/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * crowd.h - a machine's worth of processes and images, and samples of them
 *
 * As recorded on busy machines: few processes have most samples, few mappings of
 * each, few addresses of each mapping; two of five samples are the kernel's.
 */
#ifndef CPI_T_BENCH_CROWD_H
#define CPI_T_BENCH_CROWD_H

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "daemon/attribute/attribute.h"
#include "daemon/collect/entries.h"

#define CROWD_MAPPINGS 10 /* of a process */
#define CROWD_SYMBOLS  20000
#define CROWD_BASE     0x7f0000000000ULL
#define CROWD_STRIDE   0x100000ULL /* from mapping to mapping */
#define CROWD_SIZE     0x80000ULL  /* of each */
#define CROWD_KERNEL   0xffffffff81000000ULL
#define CROWD_NOW      1000000000ULL

struct crowd {
	struct attribution a;
	uint32_t nr_processes; /* tgids from 1 */
	uint32_t nr_images;
	uint64_t random;
};

static inline uint64_t crowd_random(struct crowd *c)
{
	c->random ^= c->random >> 12;
	c->random ^= c->random << 25;
	c->random ^= c->random >> 27;
	return c->random * 0x2545f4914f6cdd1dULL;
}

/* Below n, the small ones more often. */
static inline uint64_t crowd_skewed(struct crowd *c, uint64_t n)
{
	double u = (double)(crowd_random(c) >> 11) / (double)(1ULL << 53);

	return (uint64_t)(u * u * u * n);
}

static inline struct known_image *crowd_image(struct crowd *c, uint32_t number)
{
	const struct image_source source = { .device = 1, .inode = number + 1 };
	char name[64];

	snprintf(name, sizeof(name), "/nonexistent/lib/image%u.so", number);
	return images_get(c->a.images, name, &source);
}

/* Neighbours in number share most images, as programs share libraries. */
static inline void crowd_add_process(struct crowd *c, uint32_t tgid)
{
	char comm[PROCMAP_COMM_SIZE];

	snprintf(comm, sizeof(comm), "comm%u", tgid % 300);
	procmap_exec(c->a.procmap, tgid, comm, tgid);
	for (uint32_t i = 0; i < CROWD_MAPPINGS; i++) {
		uint32_t number = (uint64_t)tgid * c->nr_images / c->nr_processes + i;
		struct range r = { .start = CROWD_BASE + i * CROWD_STRIDE,
				   .since = tgid };

		r.end = r.start + CROWD_SIZE;
		r.bias = -r.start;
		r.value = crowd_image(c, number % c->nr_images);
		if (!r.value)
			abort();
		procmap_map(c->a.procmap, tgid, &r);
	}
}

static inline struct kernel *crowd_kernel(struct images *im)
{
	static const struct image_source none;
	struct kernel *k = kernel_new(im, &none);
	struct buf text = { 0 };

	buf_printf(&text, "%llx T _text\n", CROWD_KERNEL);
	for (unsigned int i = 0; i < CROWD_SYMBOLS; i++)
		buf_printf(&text, "%llx T symbol%u\n", CROWD_KERNEL + i * 256ULL, i);
	buf_printf(&text, "%llx T _etext\n", CROWD_KERNEL + CROWD_SYMBOLS * 256ULL);
	if (!k || text.err || kernel_parse(k, (char *)text.data))
		abort();
	buf_fini(&text);
	return k;
}

static inline void crowd_open(struct crowd *c, uint32_t nr_processes,
			      uint32_t nr_images, uint64_t seed)
{
	*c = (struct crowd){ .nr_processes = nr_processes,
			     .nr_images = nr_images,
			     .random = seed | 1 };
	c->a.images = images_new(NULL);
	c->a.procmap = procmap_new();
	c->a.tally = tally_new();
	c->a.kernel = crowd_kernel(c->a.images);
	for (uint32_t i = 1; i <= nr_processes; i++)
		crowd_add_process(c, i);
}

static inline void crowd_close(struct crowd *c)
{
	tally_free(c->a.tally);
	kernel_close(c->a.kernel);
	procmap_free(c->a.procmap);
	images_free(c->a.images);
}

/*
 * Makes samples, as one drain of one CPU has them; spare has room for as many. Returns
 * how many entries they are.
 */
static inline size_t crowd_sample(struct crowd *c, struct cpi_entry *e,
				  struct cpi_entry *spare, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint32_t tgid = 1 + crowd_skewed(c, c->nr_processes);
		uint64_t pc = CROWD_KERNEL + crowd_skewed(c, CROWD_SYMBOLS) * 256 +
			      crowd_skewed(c, 64) * 4;

		if (crowd_random(c) % 5 >= 2)
			pc = CROWD_BASE +
			     crowd_skewed(c, CROWD_MAPPINGS) * CROWD_STRIDE +
			     crowd_skewed(c, CROWD_SIZE / 256) * 4;
		e[i].word0 = cpi_entry_word0(pc, 0, crowd_random(c) % 8 ? 0 : 1);
		e[i].word1 = cpi_entry_who(tgid, 0) | 1ULL << CPI_COUNT_SHIFT;
	}
	return entries_sort(e, spare, nr);
}

static inline struct batch crowd_batch(const struct cpi_entry *e, size_t nr)
{
	return (struct batch){
		.from_ns = CROWD_NOW, .to_ns = 2 * CROWD_NOW, .entries = e, .nr = nr
	};
}

#endif
