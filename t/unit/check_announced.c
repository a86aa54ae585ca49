/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that speaks is the test's own: its text, which /proc knows, is what it
 * tells of, rightly and wrongly.
 */
#include "config.h"

#include "daemon/mappings/announced.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/announce.h"
#include "base/hash.h"
#include "base/times.h"
#include "daemon/os/time_quota.h"
#include "t/unit/unit.h"
#include "t/unit/unit_images.h"

static struct procmap *pm;
static struct images *images;
static struct announced *announced;
static struct announced_source from;

/* One record. */
static struct {
	struct cpi_announce_head head;
	struct cpi_announce_record record;
	struct cpi_announce_segment segment;
	char rest[4];
} d;

/* The executable segment that this function is in. */
static int find_text(struct dl_phdr_info *info, size_t size, void *ctx)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD || (uint64_t)find_text - start >= p->p_filesz)
			continue;
		d.record.base = info->dlpi_addr;
		d.segment = (struct cpi_announce_segment){ p->p_vaddr, p->p_offset,
							   p->p_filesz };
		return 1;
	}
	return 0;
}

static void setup(void)
{
	pm = procmap_new();
	images = unit_images();
	announced = calloc(1, sizeof(*announced));
	announced->procmap = pm;
	announced->images = images;
	from = (struct announced_source){ .tgid = getpid(), .when_ns = time_mono_ns() };
	d.head = (struct cpi_announce_head){ CPI_ANNOUNCE_MAGIC, CPI_ANNOUNCE_VERSION,
					     0 };
	d.record = (struct cpi_announce_record){ .size = sizeof(d) - sizeof(d.head),
						 .what = CPI_ANNOUNCE_LOADED,
						 .nr_segments = 1 };
	ck_assert_int_eq(dl_iterate_phdr(find_text, NULL), 1);
}

static void teardown(void)
{
	procmap_free(pm);
	unit_images_free(images);
	free(announced);
}

/* Says it, and asserts what becomes of it. */
static void say(enum announced_fate wanted)
{
	uint64_t before[NR_ANNOUNCED_FATES];

	memcpy(before, announced->nr, sizeof(before));
	announced_take(announced, &from, &d, sizeof(d));
	for (int i = 0; i < NR_ANNOUNCED_FATES; i++)
		ck_assert_msg(announced->nr[i] - before[i] == (i == (int)wanted),
			      "%s: %llu", announced_fate_name(i),
			      (unsigned long long)(announced->nr[i] - before[i]));
}

/* On a busy machine, one look at /proc may use up the process's time quota. */
static void say_again(enum announced_fate wanted)
{
	memset(announced->by_process, 0, sizeof(announced->by_process));
	say(wanted);
}

static enum procmap_result look_up(uint64_t address, uint64_t when,
				   struct procmap_hit *hit)
{
	return procmap_lookup(pm, getpid(), 0, address,
			      (struct time_span){ when, when }, hit);
}

/* Something of another process, so that the map is not empty. */
static void know_the_process(void)
{
	procmap_exec(pm, getpid(), "check", from.when_ns - 1000);
}

START_TEST(what_is_true_is_as_if_the_kernel_had_said_it)
{
	struct procmap_hit hit = { 0 };
	uint64_t address = (uint64_t)find_text;

	know_the_process();
	ck_assert_int_eq(look_up(address, from.when_ns, &hit), PROCMAP_NO_MAPPING);
	say(ANNOUNCED_TAKEN);
	ck_assert_int_eq(look_up(address, from.when_ns, &hit), PROCMAP_FOUND);
	ck_assert_uint_eq(address + hit.bias,
			  address - d.record.base - d.segment.vaddr + d.segment.offset);
	ck_assert_ptr_nonnull(strstr(hit.image->desc.name, "check_announced"));
	ck_assert_int_eq(look_up(address, from.when_ns - 1, &hit), PROCMAP_NO_MAPPING);
	say_again(ANNOUNCED_KNOWN);
}
END_TEST

START_TEST(a_process_that_nobody_knew_is_known_with_all_that_it_has)
{
	struct procmap_hit hit = { 0 };

	say(ANNOUNCED_TAKEN);
	ck_assert_int_eq(look_up((uint64_t)find_text, from.when_ns, &hit),
			 PROCMAP_FOUND);
	ck_assert_int_eq(look_up((uint64_t)&memcpy, from.when_ns, &hit), PROCMAP_FOUND);
}
END_TEST

START_TEST(what_a_program_begins_with_replaces_what_was_before)
{
	static const struct image_source none;
	struct range old = { .start = 0x10000, .end = 0x20000 };
	struct procmap_hit hit = { 0 };

	know_the_process();
	old.since = from.when_ns - 500;
	old.value = images_get(images, "/bin/old", &none);
	procmap_map(pm, getpid(), &old);
	d.head.flags = CPI_ANNOUNCE_BEGIN;
	say(ANNOUNCED_TAKEN);
	ck_assert_int_eq(look_up(0x10000, from.when_ns - 100, &hit), PROCMAP_FOUND);
	ck_assert_int_eq(look_up(0x10000, from.when_ns + 100, &hit),
			 PROCMAP_NO_MAPPING);
	ck_assert_int_eq(look_up((uint64_t)find_text, from.when_ns + 100, &hit),
			 PROCMAP_FOUND);
}
END_TEST

START_TEST(in_a_gap_what_is_known_is_looked_at_again)
{
	know_the_process();
	say(ANNOUNCED_TAKEN);
	from.in_gap = true;
	say_again(ANNOUNCED_TAKEN);
}
END_TEST

static void forge_base(void)
{
	d.record.base += 0x1000;
}

static void forge_offset(void)
{
	d.segment.offset += 0x1000;
}

static void claim_data(void)
{
	d.record.base = (uint64_t)&d & ~0xfffULL;
	d.segment.vaddr = 0;
}

static void claim_the_kernel(void)
{
	d.record.base = 0xffffffff81000000;
}

static void speak_of_the_past(void)
{
	from.when_ns -= 2000;
}

static void be_gone(void)
{
	from.tgid = 1u << 30;
}

static void make_no_sense(void)
{
	d.record.size = 1;
}

static const struct {
	void (*forge)(void);
	enum announced_fate fate;
} forgeries[] = {
	{ forge_base, ANNOUNCED_NOT_MAPPED },
	{ forge_offset, ANNOUNCED_NOT_MAPPED },
	{ claim_data, ANNOUNCED_NOT_MAPPED },
	{ claim_the_kernel, ANNOUNCED_NOT_MAPPED },
	{ speak_of_the_past, ANNOUNCED_STALE },
	{ be_gone, ANNOUNCED_GONE },
	{ make_no_sense, ANNOUNCED_MALFORMED },
};

START_TEST(what_is_not_true_changes_nothing)
{
	size_t nr;

	know_the_process();
	nr = procmap_nr_ranges(pm);
	forgeries[_i].forge();
	say(forgeries[_i].fate);
	ck_assert_uint_eq(procmap_nr_ranges(pm), nr);
	ck_assert_uint_eq(procmap_nr_processes(pm), 1);
}
END_TEST

START_TEST(an_unloading_ends_what_is_mapped_no_more_and_nothing_else)
{
	size_t page = sysconf(_SC_PAGESIZE);
	struct procmap_hit hit = { 0 };
	uint64_t gone_ns = from.when_ns + 1000;
	void *copy;
	int fd;

	know_the_process();
	fd = memfd_create("code", 0);
	ck_assert_int_eq(ftruncate(fd, page), 0);
	copy = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(copy, MAP_FAILED);
	d.record.base = (uint64_t)copy;
	d.segment = (struct cpi_announce_segment){ 0, 0, page };
	say(ANNOUNCED_TAKEN);
	d.record.what = CPI_ANNOUNCE_UNLOADED;
	say_again(ANNOUNCED_STILL_MAPPED);
	munmap(copy, page);
	close(fd);
	from.when_ns = gone_ns;
	say_again(ANNOUNCED_TAKEN);
	ck_assert_int_eq(look_up((uint64_t)copy, gone_ns - 10, &hit), PROCMAP_FOUND);
	ck_assert_int_eq(look_up((uint64_t)copy, gone_ns + 10, &hit),
			 PROCMAP_NO_MAPPING);
	say_again(ANNOUNCED_KNOWN);
}
END_TEST

START_TEST(a_flood_is_rationed_and_the_others_are_not)
{
	know_the_process();
	forge_base();
	while (!announced->nr[ANNOUNCED_RATE]) {
		ck_assert_uint_lt(announced->nr[ANNOUNCED_NOT_MAPPED], 1000000);
		announced_take(announced, &from, &d, sizeof(d));
	}
	/* Another's share, whoever that is: few processes have one together. */
	while (hash_u64(from.tgid) % ANNOUNCED_SLOTS ==
	       hash_u64(getpid()) % ANNOUNCED_SLOTS)
		from.tgid++;
	d.record.size = 1;
	say(ANNOUNCED_MALFORMED);
}
END_TEST

START_TEST(a_ration_is_the_share_of_the_time_in_the_long_run)
{
	static const struct time_quota_limit limit = { 10, 1000000 };
	uint64_t seed = unit_seed(), now = 1000000, spent = 0, begun = now;
	uint64_t most_piece = 5000000;
	struct time_quota r = { .as_of_ns = now };

	for (int i = 0; i < 100000; i++) {
		now += unit_random(&seed) % 10000000;
		if (time_quota_has(&r, &limit, now)) {
			uint64_t piece = unit_random(&seed) % most_piece;

			time_quota_spend(&r, piece);
			spent += piece;
		}
		ck_assert_uint_le(spent,
				  (now - begun) / 100 + limit.most_ns + most_piece);
	}
	ck_assert_uint_ge(spent, (now - begun) / 100 * 9 / 10);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("announced");
	TCase *tc = tcase_create("announced");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, what_is_true_is_as_if_the_kernel_had_said_it);
	tcase_add_test(tc, a_process_that_nobody_knew_is_known_with_all_that_it_has);
	tcase_add_test(tc, what_a_program_begins_with_replaces_what_was_before);
	tcase_add_test(tc, in_a_gap_what_is_known_is_looked_at_again);
	tcase_add_loop_test(tc, what_is_not_true_changes_nothing, 0, NR(forgeries));
	tcase_add_test(tc, an_unloading_ends_what_is_mapped_no_more_and_nothing_else);
	tcase_add_test(tc, a_flood_is_rationed_and_the_others_are_not);
	tcase_add_test(tc, a_ration_is_the_share_of_the_time_in_the_long_run);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
