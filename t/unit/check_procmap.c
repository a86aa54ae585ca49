/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "abi/entry.h"
#include "daemon/procmap/processmaps.h"
#include "daemon/procmap/procmap_private.h"
#include "t/unit/unit.h"

static struct procmap *pm;
static struct images *images;

static void setup(void)
{
	pm = procmap_new();
	images = images_new(NULL);
}

static void teardown(void)
{
	procmap_free(pm);
	images_free(images);
}

static struct known_image *image(const char *name)
{
	static const struct image_source none;

	return images_get(images, name, &none);
}

static void map(uint32_t tgid, uint64_t start, uint64_t size, const char *name,
		uint64_t when)
{
	struct range r = { .start = start,
			   .end = start + size,
			   .bias = -start,
			   .since = when,
			   .value = image(name) };

	procmap_map(pm, tgid, &r);
}

/* The name of what held pc, or the result in capitals. */
static const char *lookup(uint32_t tgid, unsigned int generation, uint64_t pc,
			  uint64_t t0, uint64_t t1)
{
	static const char *const text[] = { "FOUND", "NO PROCESS", "NO MAPPING",
					    "AMBIGUOUS", "GAP" };
	struct procmap_hit hit = { 0 };
	enum procmap_result r = procmap_lookup(pm, tgid, generation, pc,
					       (struct time_span){ t0, t1 }, &hit);

	return r == PROCMAP_FOUND ? hit.image->desc.name : text[r];
}

static bool nobody_is_alive(uint32_t tgid)
{
	(void)tgid;
	return false;
}

START_TEST(exec_replaces_what_was_mapped)
{
	procmap_exec(pm, 7, "sh", 100);
	map(7, 0x1000, 0x1000, "/bin/sh", 110);
	procmap_exec(pm, 7, "ls", 200);
	map(7, 0x5000, 0x1000, "/bin/ls", 210);
	ck_assert_str_eq(lookup(7, 0, 0x1800, 120, 130), "/bin/sh");
	ck_assert_str_eq(lookup(7, 0, 0x5800, 220, 230), "/bin/ls");
	ck_assert_str_eq(lookup(7, 0, 0x1800, 220, 230), "NO MAPPING");
	ck_assert_str_eq(lookup(7, 0, 0x1800, 150, 230), "/bin/sh");
}
END_TEST

/* Non-PIE programs stand at equal addresses: time, or the generation, tells them apart.
 */
START_TEST(a_chain_of_execs_at_one_address_is_told_apart)
{
	static const char *const name[] = { "/bin/a", "/bin/b", "/bin/c" };

	for (int i = 0; i < 3; i++) {
		procmap_exec(pm, 9, "x", 100 * (i + 1));
		map(9, 0x400000, 0x1000, name[i], 100 * (i + 1) + 10);
	}
	for (int i = 0; i < 3; i++) {
		struct process *p = procmap_find(pm, 9, 0, 100 * (i + 1) + 50);

		ck_assert_str_eq(lookup(9, p->generation, 0x400800, 0, 1000), name[i]);
		ck_assert_str_eq(lookup(9, 0, 0x400800, 100 * (i + 1) + 20,
					100 * (i + 1) + 50),
				 name[i]);
	}
	ck_assert_str_eq(lookup(9, 0, 0x400800, 0, 1000), "AMBIGUOUS");
}
END_TEST

START_TEST(a_reused_number_is_another_process)
{
	struct process *first, *second;

	procmap_exec(pm, 5, "old", 10);
	map(5, 0x1000, 0x1000, "/bin/old", 11);
	procmap_exit(pm, 5, 50);
	procmap_exec(pm, 1, "init", 10);
	map(1, 0x9000, 0x1000, "/sbin/init", 11);
	procmap_fork(pm, 5, 1, 60);
	first = procmap_find(pm, 5, 0, 40);
	second = procmap_find(pm, 5, 0, 70);
	ck_assert_ptr_ne(first, second);
	ck_assert_int_ne(first->generation, second->generation);
	ck_assert_str_eq(second->comm, "init");
	ck_assert_str_eq(lookup(5, first->generation, 0x1800, 0, 100), "/bin/old");
	ck_assert_str_eq(lookup(5, second->generation, 0x1800, 0, 100), "NO MAPPING");
	ck_assert_str_eq(lookup(5, second->generation, 0x9800, 0, 100), "/sbin/init");
}
END_TEST

START_TEST(a_fork_copies_and_then_each_goes_its_way)
{
	procmap_exec(pm, 1, "p", 10);
	map(1, 0x1000, 0x1000, "/lib/old", 11);
	procmap_fork(pm, 2, 1, 20);
	map(1, 0x1000, 0x1000, "/lib/parent", 30);
	map(2, 0x1000, 0x1000, "/lib/child", 40);
	ck_assert_str_eq(lookup(1, 0, 0x1000, 35, 50), "/lib/parent");
	ck_assert_str_eq(lookup(2, 0, 0x1000, 45, 50), "/lib/child");
	ck_assert_str_eq(lookup(2, 0, 0x1000, 21, 39), "/lib/old");
	ck_assert_str_eq(lookup(1, 0, 0x1000, 12, 29), "/lib/old");
	ck_assert_str_eq(lookup(2, 0, 0x1000, 21, 50), "AMBIGUOUS");
}
END_TEST

/* What the parent replaced before the fork was never the child's. */
START_TEST(a_child_does_not_inherit_the_past)
{
	procmap_exec(pm, 1, "p", 10);
	map(1, 0x1000, 0x1000, "/lib/old", 11);
	map(1, 0x1000, 0x1000, "/lib/new", 20);
	procmap_fork(pm, 2, 1, 30);
	ck_assert_str_eq(lookup(2, 0, 0x1000, 5, 40), "/lib/new");
	ck_assert_str_eq(lookup(1, 0, 0x1000, 5, 40), "AMBIGUOUS");
}
END_TEST

/* A change while a child shares the mappings copies those of before, too. */
START_TEST(a_change_after_a_fork_keeps_the_past)
{
	procmap_exec(pm, 1, "p", 10);
	map(1, 0x1000, 0x1000, "/lib/old", 11);
	map(1, 0x1000, 0x1000, "/lib/new", 20);
	map(1, 0x5000, 0x1000, "/lib/gone", 20);
	procmap_unmap(pm, 1, 0x5000, 0x6000, 25);
	procmap_fork(pm, 2, 1, 30);
	map(1, 0x9000, 0x1000, "/lib/more", 40);
	ck_assert_str_eq(lookup(1, 0, 0x1000, 12, 15), "/lib/old");
	ck_assert_str_eq(lookup(1, 0, 0x1000, 12, 35), "AMBIGUOUS");
	ck_assert_str_eq(lookup(1, 0, 0x5000, 21, 35), "/lib/gone");
	map(2, 0x9000, 0x1000, "/lib/child", 50);
	ck_assert_str_eq(lookup(2, 0, 0x1000, 5, 60), "/lib/new");
	ck_assert_str_eq(lookup(2, 0, 0x5000, 5, 60), "NO MAPPING");
	procmap_exit(pm, 1, 70);
	procmap_exit(pm, 2, 70);
	procmap_forget(pm, 100, nobody_is_alive);
	ck_assert_uint_eq(procmap_nr_ranges(pm), 0);
}
END_TEST

START_TEST(the_same_mapping_twice_is_not_ambiguous)
{
	procmap_exec(pm, 1, "p", 10);
	map(1, 0x1000, 0x3000, "/lib/x", 11);
	map(1, 0x1000, 0x3000, "/lib/x", 20); /* as after mprotect */
	ck_assert_str_eq(lookup(1, 0, 0x2000, 0, 40), "/lib/x");
}
END_TEST

START_TEST(samples_after_the_exit_record_are_still_its_own)
{
	procmap_exec(pm, 1, "p", 10);
	map(1, 0x1000, 0x1000, "/bin/p", 11);
	procmap_exit(pm, 1, 50);
	ck_assert_str_eq(lookup(1, 0, 0x1000, 51, 60), "/bin/p");
	procmap_forget(pm, 40, nobody_is_alive);
	ck_assert_uint_eq(procmap_nr_processes(pm), 1);
	procmap_forget(pm, 60, nobody_is_alive);
	ck_assert_uint_eq(procmap_nr_processes(pm), 0);
	ck_assert_uint_eq(procmap_nr_ranges(pm), 0);
	ck_assert_str_eq(lookup(1, 0, 0x1000, 51, 60), "NO PROCESS");
}
END_TEST

/* Looks up page 0x1000 of tgid in [0, 100] by the exec id that its samples have. */
static const char *by_exec(uint32_t tgid, uint32_t id)
{
	return lookup(tgid, PROCMAP_BY_EXEC_ID | (id & CPI_MAX_GENERATION), 0x1000, 0,
		      100);
}

START_TEST(exec_ids_tell_incarnations_of_one_batch_apart)
{
	procmap_exec(pm, 1, "shell", 1);
	map(1, 0x1000, 0x1000, "/bin/sh", 2);
	procmap_set_exec_id(pm, 1, 1023, 5);
	procmap_fork(pm, 2, 1, 10);
	procmap_exec(pm, 2, "p", 20);
	map(2, 0x1000, 0x1000, "/bin/p", 21);
	procmap_exec(pm, 2, "q", 30);
	map(2, 0x1000, 0x1000, "/bin/q", 31);
	ck_assert_str_eq(lookup(2, 0, 0x1000, 0, 100), "AMBIGUOUS");
	ck_assert_str_eq(by_exec(2, 1023), "/bin/sh");
	ck_assert_str_eq(by_exec(2, 1024), "/bin/p");
	ck_assert_str_eq(by_exec(2, 1025), "/bin/q");
	ck_assert_str_eq(by_exec(2, 1026), "NO PROCESS");
	ck_assert_str_eq(by_exec(1, 1023), "/bin/sh");
}
END_TEST

START_TEST(records_that_the_kernels_word_includes_do_not_count_again)
{
	procmap_exec(pm, 1, "p", 10);
	map(1, 0x1000, 0x1000, "/bin/p", 11);
	procmap_set_exec_id(pm, 1, 8, 50); /* asked before the next ones were read */
	procmap_exec(pm, 1, "q", 20);
	map(1, 0x1000, 0x1000, "/bin/q", 21);
	procmap_exec(pm, 1, "r", 30);
	map(1, 0x1000, 0x1000, "/bin/r", 31);
	procmap_fork(pm, 2, 1, 40); /* perhaps 1 called exec between 40 and 50 */
	procmap_exec(pm, 1, "s", 60);
	map(1, 0x1000, 0x1000, "/bin/s", 61);
	ck_assert_str_eq(by_exec(1, 9),
			 "AMBIGUOUS"); /* s, or p and q, of unknown ids */
	procmap_forget(pm, 31, nobody_is_alive);
	ck_assert_str_eq(by_exec(1, 9), "/bin/s");
	ck_assert_str_eq(by_exec(1, 8), "/bin/r");
	ck_assert_str_eq(by_exec(2, 1), "/bin/r"); /* unknown: whatever it is */
}
END_TEST

START_TEST(after_a_gap_no_exec_id_is_known)
{
	procmap_exec(pm, 1, "p", 10);
	map(1, 0x1000, 0x1000, "/bin/p", 11);
	procmap_set_exec_id(pm, 1, 3, 12);
	ck_assert_str_eq(by_exec(1, 4), "NO PROCESS");
	procmap_add_gap(pm, 200, 210);
	ck_assert_str_eq(by_exec(1, 4), "/bin/p");
	procmap_set_exec_id(pm, 1, 4, 220);
	ck_assert_str_eq(by_exec(1, 4), "/bin/p");
	ck_assert_str_eq(by_exec(1, 3), "NO PROCESS");
}
END_TEST

START_TEST(a_gap_covers_all_but_verified_and_younger_processes)
{
	struct rangemap found = { 0 };
	struct range r = { .start = 0x1000,
			   .end = 0x2000,
			   .bias = -0x1000ULL,
			   .value = image("/bin/p") };

	procmap_exec(pm, 1, "p", 10);
	map(1, 0x1000, 0x1000, "/bin/p", 11);
	procmap_exec(pm, 2, "q", 10);
	map(2, 0x1000, 0x1000, "/bin/q", 11);
	procmap_add_gap(pm, 100, 200);
	ck_assert_str_eq(lookup(1, 0, 0x1000, 20, 30), "/bin/p"); /* before it */
	ck_assert_str_eq(lookup(1, 0, 0x1000, 150, 160), "GAP");
	ck_assert_str_eq(lookup(3, 0, 0x1000, 150, 160), "GAP");
	ck_assert_int_eq(rangemap_insert(&found, &r, NULL, NULL), 0);
	procmap_verify(pm, 1, "p", &found, 210);
	ck_assert_str_eq(lookup(1, 0, 0x1000, 150, 160), "/bin/p");
	procmap_verify(pm, 2, "q", &found, 210); /* it changed meanwhile */
	ck_assert_str_eq(lookup(2, 0, 0x1000, 150, 160), "GAP");
	ck_assert_str_eq(lookup(2, 0, 0x1000, 220, 230), "/bin/p");
	procmap_exec(pm, 4, "young", 220);
	map(4, 0x1000, 0x1000, "/bin/young", 221);
	ck_assert_str_eq(lookup(4, 0, 0x1000, 222, 230), "/bin/young");
	ck_assert_str_eq(lookup(4, 0, 0x1000, 190, 230), "/bin/young");
	rangemap_fini(&found);
}
END_TEST

/* What the oracle remembers: every mapping event, in order. */
struct past {
	uint32_t tgid;
	uint64_t when, page;
	int image; /* -1: exec, which clears all pages */
};

/* Which images held (tgid, page) in [t0, t1]: -1 none, -2 several. */
static int oracle(const struct past *past, int nr, uint32_t tgid, uint64_t page,
		  uint64_t t0, uint64_t t1)
{
	int holder = -1, seen = -1;

	for (int i = 0; i <= nr; i++) {
		uint64_t when = i < nr ? past[i].when : UINT64_MAX;

		if (i < nr && past[i].tgid != tgid)
			continue;
		/* holder held until `when` */
		if (holder >= 0 && when >= t0 && seen != holder)
			seen = seen == -1 ? holder : -2;
		if (i == nr || when > t1)
			break;
		if (past[i].image < 0)
			holder = -1;
		else if (past[i].page == page)
			holder = past[i].image;
	}
	return seen;
}

/* Between the reading of records and that of /proc a program began. */
START_TEST(what_was_seen_ahead_of_its_exec_record_is_one_incarnation)
{
	struct range r = { .start = 0x5000, .end = 0x6000, .bias = -0x5000 };
	struct rangemap found = { 0 };
	struct process *seen;

	procmap_exec(pm, 7, "sh", 100);
	map(7, 0x1000, 0x1000, "/bin/sh", 110);
	r.value = image("/bin/ls");
	ck_assert_int_eq(rangemap_insert(&found, &r, NULL, NULL), 0);
	procmap_verify(pm, 7, "ls", &found, 210);
	rangemap_fini(&found);
	seen = procmap_find(pm, 7, 0, 220);
	ck_assert_str_eq(lookup(7, 0, 0x5800, 215, 220), "/bin/ls");

	procmap_exec(pm, 7, "ls", 200);
	map(7, 0x5000, 0x1000, "/bin/ls", 205);
	map(7, 0x8000, 0x1000, "/lib/later.so", 300);
	ck_assert_ptr_eq(procmap_find(pm, 7, 0, 400), seen);
	ck_assert_ptr_eq(procmap_find(pm, 7, 0, 207), seen);
	ck_assert_ptr_ne(procmap_find(pm, 7, 0, 199), seen);
	ck_assert_str_eq(seen->comm, "ls");
	ck_assert_str_eq(lookup(7, 0, 0x1800, 120, 130), "/bin/sh");
	ck_assert_str_eq(lookup(7, 0, 0x1800, 202, 208), "NO MAPPING");
	ck_assert_str_eq(lookup(7, 0, 0x5800, 206, 400), "/bin/ls");
	ck_assert_str_eq(lookup(7, 0, 0x8800, 310, 400), "/lib/later.so");
	ck_assert_uint_eq(procmap_nr_processes(pm), 2);
}
END_TEST

START_TEST(lookups_agree_with_a_list_of_all_events)
{
	static const char *const name[] = { "/0", "/1", "/2" };
	uint64_t seed = unit_seed(), state = seed | 1;

	for (int round = 0; round < 100; round++) {
		struct past past[60];

		teardown();
		setup();
		for (int i = 0; i < 60; i++) {
			struct past *p = &past[i];

			p->tgid = 1 + unit_random(&state) % 2;
			p->when = 10 * (i + 1);
			p->page = 1 + unit_random(&state) % 4;
			p->image = i < 2 ? -1 : (int)(unit_random(&state) % 4) - 1;
			if (i < 2)
				p->tgid = i + 1;
			if (p->image < 0)
				procmap_exec(pm, p->tgid, "x", p->when);
			else
				map(p->tgid, p->page << 12, 0x1000, name[p->image],
				    p->when);
		}
		for (int i = 0; i < 300; i++) {
			uint32_t tgid = 1 + unit_random(&state) % 2;
			uint64_t page = 1 + unit_random(&state) % 4;
			uint64_t t0 = 25 + unit_random(&state) % 600;
			uint64_t t1 = t0 + unit_random(&state) % 60;
			int want = oracle(past, 60, tgid, page, t0, t1), want_moment;
			const char *got = lookup(tgid, 0, page << 12, t0, t1);
			struct process *p = procmap_find(pm, tgid, 0, t0);
			struct procmap_hit hit, last;
			enum procmap_result one;

			one = procmap_lookup(pm, tgid, 0, page << 12,
					     (struct time_span){ t0, t1 }, &hit);
			ck_assert_uint_gt(hit.end, page << 12);
			/* It holds to the end that it names. */
			ck_assert_int_eq(procmap_lookup(pm, tgid, 0, hit.end - 1,
							(struct time_span){ t0, t1 },
							&last),
					 one);
			ck_assert_uint_ge(last.end, hit.end);
			ck_assert(one != PROCMAP_FOUND || hit.image == last.image);
			want_moment = oracle(past, 60, tgid, page, t0, t0);
			one = procmap_lookup_in(pm, p, page << 12, t0, &hit);
			/* At the time of an event, either answer is right. */
			ck_assert(t0 % 10 == 0 ||
				  (one == PROCMAP_FOUND) == (want_moment >= 0));
			ck_assert_ptr_eq(hit.process, p);

			ck_assert_msg(!strcmp(got, want == -1   ? "NO MAPPING"
						   : want == -2 ? "AMBIGUOUS"
								: name[want]),
				      "seed %llu round %d: %s, not %d",
				      (unsigned long long)seed, round, got, want);
		}
	}
}
END_TEST

START_TEST(memory_goes_back_when_processes_go)
{
	for (uint64_t i = 0; i < 3000; i++) {
		uint32_t tgid = 100 + i % 50;

		procmap_fork(pm, tgid, 1, 10 * i);
		procmap_exec(pm, tgid, "cc1", 10 * i + 1);
		for (int m = 0; m < 20; m++)
			map(tgid, 0x400000 + 0x1000 * m, 0x1000, m & 1 ? "/a" : "/b",
			    10 * i + 2);
		procmap_exit(pm, tgid, 10 * i + 9);
		if (i % 100 == 99)
			procmap_forget(pm, 10 * i, nobody_is_alive);
	}
	procmap_forget(pm, UINT64_MAX, nobody_is_alive);
	ck_assert_uint_eq(procmap_nr_processes(pm), 0);
	ck_assert_uint_eq(procmap_nr_ranges(pm), 0);
	ck_assert_uint_eq(procmap_nr_failed(pm), 0);
}
END_TEST

START_TEST(generations_stay_in_their_bits)
{
	for (int i = 0; i < 3000; i++) {
		procmap_exec(pm, 1, "x", i);
		ck_assert_int_gt(procmap_find(pm, 1, 0, i)->generation, 0);
		ck_assert_int_le(procmap_find(pm, 1, 0, i)->generation,
				 CPI_MAX_GENERATION);
	}
}
END_TEST

START_TEST(generations_of_a_number_differ_whatever_other_processes_do)
{
	const struct process *first, *second;

	procmap_exec(pm, 1, "x", 0);
	for (uint32_t i = 1; i < CPI_MAX_GENERATION; i++)
		procmap_exec(pm, 1 + i, "other", i);
	procmap_exec(pm, 1, "y", CPI_MAX_GENERATION);
	first = procmap_find(pm, 1, 0, 0);
	second = procmap_find(pm, 1, 0, CPI_MAX_GENERATION);
	ck_assert_ptr_ne(first, second);
	ck_assert_int_ne(first->generation, second->generation);
}
END_TEST

START_TEST(a_life_for_which_there_is_no_room_is_a_gap)
{
	uint32_t tgid;

	for (tgid = 1; procmap_nr_processes(pm) < PROCMAP_MAX_PROCESSES; tgid++)
		procmap_exec(pm, tgid, "crowd", 10);
	map(1, 0x1000, 0x1000, "/bin/old", 20);
	map(2, 0x1000, 0x1000, "/bin/other", 20);
	procmap_exec(pm, 1, "new", 30);
	map(1, 0x1000, 0x1000, "/bin/new", 31);
	procmap_exec(pm, tgid, "late", 30);
	map(tgid, 0x1000, 0x1000, "/bin/late", 31);
	ck_assert_uint_eq(procmap_nr_processes(pm), PROCMAP_MAX_PROCESSES);
	procmap_verify(pm, tgid, "late", &(struct rangemap){ 0 }, 32);
	procmap_give_up(pm, tgid, 33);
	procmap_comm(pm, tgid, "late");
	ck_assert_uint_eq(procmap_nr_failed(pm), 6);
	ck_assert_str_eq(lookup(1, 0, 0x1000, 40, 50), "GAP");
	ck_assert_str_eq(lookup(2, 0, 0x1000, 40, 50), "/bin/other");
	ck_assert_str_eq(lookup(tgid, 0, 0x1000, 40, 50), "NO PROCESS");
	procmap_exit(pm, 3, 60);
	procmap_forget(pm, 100, nobody_is_alive);
	procmap_exec(pm, tgid, "late", 110); /* there is room again */
	map(tgid, 0x1000, 0x1000, "/bin/late", 111);
	ck_assert_str_eq(lookup(tgid, 0, 0x1000, 120, 130), "/bin/late");
}
END_TEST

START_TEST(a_process_has_so_many_mappings_and_the_others_do_not_mind)
{
	procmap_exec(pm, 7, "many", 100);
	procmap_exec(pm, 8, "few", 100);
	for (uint64_t i = 0; i < PROCMAP_MAX_OWN; i++)
		map(7, (2 * PROCMAP_MAX_OWN - i) * 0x1000, 0x1000,
		    i % 2 ? "/bin/odd" : "/bin/even", 110);
	ck_assert_str_eq(lookup(7, 0, 2 * PROCMAP_MAX_OWN * 0x1000, 120, 130),
			 "/bin/even");
	for (uint64_t i = 0; i < 3; i++)
		map(7, i * 0x1000, 0x1000, "/bin/more", 110);
	map(8, 0x1000, 0x1000, "/bin/few", 110);
	ck_assert_str_eq(lookup(7, 0, 2 * PROCMAP_MAX_OWN * 0x1000, 120, 130), "GAP");
	ck_assert_str_eq(lookup(8, 0, 0x1000, 120, 130), "/bin/few");
	ck_assert_uint_le(procmap_nr_ranges(pm), PROCMAP_MAX_OWN + 1);
	procmap_exec(pm, 7, "few", 200);
	map(7, 0x1000, 0x1000, "/bin/few", 210);
	ck_assert_str_eq(lookup(7, 0, 0x1000, 220, 230), "/bin/few");
}
END_TEST

/* ---- bounds ---- */

/* User 100 has the processes 100,000 to 199,999, and so on; root those below. */
static int owner_by_number(uint32_t tgid, uint32_t *uid)
{
	*uid = tgid / 100000 * 100;
	return 0;
}

/* Maps one page again and again, so that there is one mapping and n - 1 former ones. */
static void replace(uint32_t tgid, int n, uint64_t when)
{
	for (int i = 0; i < n; i++)
		map(tgid, 0x1000, 0x1000, i % 2 ? "/bin/odd" : "/bin/even", when);
}

START_TEST(former_mappings_count_for_their_process)
{
	procmap_exec(pm, 7, "flood", 100);
	procmap_exec(pm, 8, "calm", 100);
	map(8, 0x1000, 0x1000, "/bin/calm", 105);
	replace(7, 3 * PROCMAP_MAX_OWN, 110);
	ck_assert_uint_le(procmap_nr_ranges(pm), PROCMAP_MAX_OWN + 1);
	ck_assert_str_eq(lookup(7, 0, 0x1000, 120, 130), "GAP");
	ck_assert_str_eq(lookup(8, 0, 0x1000, 120, 130), "/bin/calm");
	ck_assert_uint_eq(procmap_nr_incomplete(pm), 1);
}
END_TEST

START_TEST(a_range_is_given_back_when_it_goes)
{
	procmap_exec(pm, 7, "busy", 100);
	for (uint64_t round = 1; round <= 20; round++) {
		replace(7, PROCMAP_MAX_OWN / 2, 100 * round + 10);
		procmap_forget(pm, 100 * round + 20, nobody_is_alive);
		ck_assert_uint_eq(procmap_nr_ranges(pm), 1);
	}
	ck_assert_str_eq(lookup(7, 0, 0x1000, 2050, 2060), "/bin/odd");
	ck_assert_uint_eq(procmap_nr_incomplete(pm), 0);
}
END_TEST

START_TEST(one_process_never_takes_the_room_of_others)
{
	procmap_exec(pm, 7, "flood", 100);
	replace(7, PROCMAP_MAX_RANGES + PROCMAP_MAX_OWN, 110);
	procmap_exec(pm, 8, "late", 200);
	map(8, 0x1000, 0x1000, "/bin/late", 210);
	ck_assert_str_eq(lookup(8, 0, 0x1000, 220, 230), "/bin/late");
}
END_TEST

START_TEST(processes_of_one_user_leave_room_for_the_others)
{
	procmap_set_owner(pm, owner_by_number);
	for (uint32_t i = 0; i < 300; i++) {
		procmap_exec(pm, 100000 + i, "flood", 100);
		replace(100000 + i, PROCMAP_MAX_OWN, 110);
	}
	/* Of the same user, and of another. */
	for (uint32_t user = 1; user <= 2; user++) {
		const uint32_t tgid = 100000 * user + 99999;

		procmap_exec(pm, tgid, "victim", 200);
		for (uint64_t page = 1; page <= 500; page++)
			map(tgid, page << 12, 0x1000, page % 2 ? "/bin/a" : "/bin/b",
			    210);
		ck_assert_str_eq(lookup(tgid, 0, 0x1000, 220, 230), "/bin/a");
	}
	ck_assert_uint_le(procmap_nr_ranges(pm), PROCMAP_MAX_RANGES);
}
END_TEST

/* Another user's former mappings take all the room that there is. */
static void take_all_room(uint32_t first)
{
	for (uint32_t tgid = first; procmap_nr_ranges(pm) < PROCMAP_MAX_RANGES;
	     tgid++) {
		size_t left = PROCMAP_MAX_RANGES - procmap_nr_ranges(pm);

		procmap_exec(pm, tgid, "flood", 100);
		replace(tgid, left < PROCMAP_MAX_OWN ? (int)left : PROCMAP_MAX_OWN,
			110);
	}
}

/* Each child of a process with many mappings copies them when it maps one more. */
START_TEST(copies_for_children_are_charged_to_their_user)
{
	procmap_set_owner(pm, owner_by_number);
	for (uint32_t tgid = 199999; tgid <= 299999; tgid += 100000) {
		procmap_exec(pm, tgid, "small", 100);
		map(tgid, 0x1000, 0x1000, "/bin/small", 110);
	}
	procmap_exec(pm, 100000, "parent", 100);
	for (uint64_t page = 1; page < PROCMAP_MAX_OWN / 2; page++)
		map(100000, page << 13, 0x1000, "/bin/many", 110);
	for (uint32_t i = 1; i < 2000; i++) {
		procmap_fork(pm, 100000 + i, 100000, 120);
		map(100000 + i, 0x1000, 0x1000, "/bin/child", 130);
		procmap_exit(pm, 100000 + i, 140);
	}
	for (uint32_t tgid = 199999; tgid <= 299999; tgid += 100000)
		ck_assert_str_eq(lookup(tgid, 0, 0x1000, 150, 160), "/bin/small");
	ck_assert_uint_le(procmap_nr_ranges(pm), PROCMAP_MAX_RANGES);
	procmap_exit(pm, 100000, 200);
	procmap_forget(pm, 300, nobody_is_alive);
	ck_assert_uint_eq(procmap_nr_ranges(pm), 2);
}
END_TEST

START_TEST(processes_of_one_user_leave_places_for_others)
{
	procmap_set_owner(pm, owner_by_number);
	procmap_exec(pm, 100000, "bomb", 100);
	for (uint32_t i = 0; i < 2 * PROCMAP_MAX_PROCESSES; i++)
		procmap_exec(pm, 100000, "bomb", 101 + i); /* each is a life */
	ck_assert_uint_lt(procmap_nr_processes(pm), PROCMAP_MAX_PROCESSES);
	for (uint32_t i = 0; i < 1000; i++) {
		procmap_exec(pm, 200000 + i, "victim", 200);
		map(200000 + i, 0x1000, 0x1000, "/bin/victim", 210);
		ck_assert_str_eq(lookup(200000 + i, 0, 0x1000, 220, 230),
				 "/bin/victim");
	}
}
END_TEST

/* A user's processes stay in the account, whoever they say that they are. */
START_TEST(only_roots_processes_become_another_users)
{
	uint32_t uid[3];

	procmap_set_owner(pm, owner_by_number);
	procmap_exec(pm, 1, "sshd", 1);
	procmap_fork(pm, 100000, 1, 2);
	uid[0] = procmap_find(pm, 100000, 0, 3)->account->uid;
	procmap_exec(pm, 100000, "sh", 4);
	procmap_ask_owners(pm);
	uid[1] = procmap_find(pm, 100000, 0, 5)->account->uid;
	procmap_fork(pm, 200000, 100000, 6);
	procmap_exec(pm, 200000, "sudo", 7);
	procmap_ask_owners(pm);
	uid[2] = procmap_find(pm, 200000, 0, 8)->account->uid;
	ck_assert_uint_eq(uid[0], 0);
	ck_assert_uint_eq(uid[1], 100);
	ck_assert_uint_eq(uid[2], 100);
}
END_TEST

static int nr_asked;

static int count_owner(uint32_t tgid, uint32_t *uid)
{
	nr_asked++;
	return owner_by_number(tgid, uid);
}

START_TEST(only_processes_that_live_are_asked_for_their_user)
{
	procmap_set_owner(pm, count_owner);
	procmap_exec(pm, 1, "make", 1);
	procmap_ask_owners(pm);
	nr_asked = 0;
	for (uint32_t tgid = 10; tgid < 20; tgid++) {
		procmap_fork(pm, tgid, 1, 2);
		procmap_exec(pm, tgid, "cc", 3);
		procmap_exit(pm, tgid, 4);
	}
	procmap_ask_owners(pm);
	ck_assert_int_eq(nr_asked, 0);
	/* the child of one whose user is not known yet, which itself has ended */
	procmap_fork(pm, 20, 1, 5);
	procmap_exec(pm, 20, "su", 6);
	procmap_fork(pm, 100000, 20, 7);
	procmap_exit(pm, 20, 8);
	procmap_ask_owners(pm);
	ck_assert_int_eq(nr_asked, 1);
	ck_assert_uint_eq(procmap_find(pm, 100000, 0, 9)->account->uid, 100);
	ck_assert_uint_eq(procmap_find(pm, 1, 0, 9)->account->nr_processes, 23);
	procmap_ask_owners(pm);
	ck_assert_int_eq(nr_asked, 1);
}
END_TEST

/* As servers do that change their user, and go on. */
START_TEST(roots_process_that_is_another_users_by_now_is_charged_to_that_one)
{
	const struct process *p;

	procmap_set_owner(pm, owner_by_number);
	procmap_exec(pm, 1, "server", 1);
	procmap_fork(pm, 100000, 1, 2);
	replace(100000, 2000, 3);
	p = procmap_find(pm, 100000, 0, 4);
	ck_assert_uint_eq(p->account->uid, 100);
	ck_assert_uint_eq(p->account->nr_ranges, maps_nr(p->maps));
	ck_assert_uint_eq(p->account->nr_processes, 1);
	ck_assert_uint_eq(procmap_find(pm, 1, 0, 4)->account->nr_ranges, 0);
}
END_TEST

/* While a child has its parent's mappings, these stay in the parent's account. */
START_TEST(mappings_of_a_child_that_changes_its_user_stay_its_parents)
{
	const struct process *p;

	procmap_set_owner(pm, owner_by_number);
	procmap_exec(pm, 1, "init", 1);
	procmap_fork(pm, 2, 1, 2);
	procmap_exec(pm, 2, "login", 3); /* its user is not known yet */
	map(2, 0x1000, 0x1000, "/bin/login", 4);
	procmap_fork(pm, 100000, 2, 5);
	procmap_ask_owners(pm);
	p = procmap_find(pm, 100000, 0, 6);
	ck_assert_uint_eq(p->account->uid, 100);
	ck_assert_uint_eq(p->account->nr_processes, 1);
	ck_assert_uint_eq(p->account->nr_ranges, 0);
	ck_assert_uint_eq(procmap_find(pm, 2, 0, 6)->account->nr_ranges, 1);
}
END_TEST

START_TEST(a_process_waits_once_for_its_user_to_be_asked)
{
	procmap_set_owner(pm, count_owner);
	procmap_exec(pm, 1, "init", 1);
	procmap_ask_owners(pm);
	nr_asked = 0;
	for (int i = 0; i < 3; i++)
		procmap_exec(pm, 1, "again", 2 + i);
	procmap_fork(pm, 2, 1, 9);
	procmap_ask_later(pm, procmap_find(pm, 2, 0, 10));
	procmap_ask_later(pm, procmap_find(pm, 2, 0, 10));
	nr_asked = 0;
	ck_assert_uint_gt(pm->nr_unasked, 0);
	procmap_ask_owners(pm);
	ck_assert_uint_eq(pm->nr_unasked, 0);
	ck_assert_int_eq(nr_asked, 2); /* those that live, each once */
}
END_TEST

/* In a recording it lives until the first thread and all others have ended. */
START_TEST(a_process_ends_with_the_last_of_its_threads)
{
	procmap_exec(pm, 7, "threads", 1);
	map(7, 0x1000, 0x1000, "/bin/threads", 2);
	procmap_add_thread(pm, 7);
	procmap_add_thread(pm, 7);
	procmap_exit_thread(pm, 7, false, 10);
	procmap_exit_thread(pm, 7, true, 20);
	ck_assert(!procmap_find(pm, 7, 0, 21)->exited);
	procmap_exit_thread(pm, 7, false, 30);
	ck_assert(procmap_find(pm, 7, 0, 25)->exited);
	ck_assert_uint_eq(procmap_find(pm, 7, 0, 25)->end_ns, 30);

	/* More end than were seen to begin: the first thread decides. */
	procmap_exec(pm, 8, "late", 1);
	procmap_exit_thread(pm, 8, false, 5);
	ck_assert(!procmap_find(pm, 8, 0, 6)->exited);
	procmap_exit_thread(pm, 8, true, 7);
	ck_assert(procmap_find(pm, 8, 0, 6)->exited);

	procmap_add_thread(pm, 99); /* of no process that is known */
	procmap_exit_thread(pm, 99, true, 8);
	ck_assert_ptr_null(procmap_find(pm, 99, 0, 8));
}
END_TEST

START_TEST(a_process_is_incomplete_from_a_moment_on)
{
	procmap_exec(pm, 7, "flood", 100);
	map(7, 0x5000, 0x1000, "/bin/flood", 105);
	replace(7, PROCMAP_MAX_OWN + 10, 200);
	ck_assert_str_eq(lookup(7, 0, 0x5000, 110, 190), "/bin/flood");
	ck_assert_str_eq(lookup(7, 0, 0x5000, 110, 210), "GAP");
	procmap_exec(pm, 7, "next", 300);
	map(7, 0x5000, 0x1000, "/bin/next", 310);
	ck_assert_str_eq(lookup(7, 0, 0x5000, 320, 330), "/bin/next");
}
END_TEST

START_TEST(records_beyond_all_measure_are_skipped)
{
	procmap_exec(pm, 7, "flood", 100);
	procmap_exec(pm, 8, "calm", 100);
	for (uint32_t i = 0; i < PROCMAP_MAX_RECORDS; i++)
		ck_assert(!procmap_skip_map(pm, 7, 110));
	ck_assert(procmap_skip_map(pm, 7, 120));
	ck_assert(procmap_skip_map(pm, 7, 130));
	ck_assert(!procmap_skip_map(pm, 8, 130));
	ck_assert_uint_eq(procmap_nr_skipped(pm), 2);
	ck_assert_str_eq(lookup(7, 0, 0x1000, 110, 119), "NO MAPPING");
	ck_assert_str_eq(lookup(7, 0, 0x1000, 110, 125), "GAP");
}
END_TEST

static bool count_due(void *ctx, uint32_t tgid)
{
	ck_assert_uint_eq(tgid, 7);
	++*(int *)ctx;
	return true;
}

static int nr_due(uint64_t now)
{
	int nr = 0;

	ck_assert(procmap_for_each_incomplete(pm, now, count_due, &nr));
	return nr;
}

static void find_page(struct rangemap *found, uint64_t start, const char *name)
{
	struct range r = { .start = start,
			   .end = start + 0x1000,
			   .bias = -start,
			   .value = image(name) };

	ck_assert_int_eq(rangemap_insert(found, &r, NULL, NULL), 0);
}

START_TEST(what_was_incomplete_is_whole_when_it_was_read_anew)
{
	const uint64_t second = PROCMAP_MEND_NS;
	struct rangemap found = { 0 };

	find_page(&found, 0x5000, "/bin/flood");
	procmap_exec(pm, 7, "flood", 100);
	procmap_set_exec_id(pm, 7, 3, 101);
	replace(7, PROCMAP_MAX_OWN + 10, 200);
	ck_assert_int_eq(nr_due(second), 0); /* not yet */
	for (int i = 0; i <= PROCMAP_MEND_BELOW; i++)
		ck_assert(procmap_skip_map(pm, 7, 300));
	ck_assert_int_eq(nr_due(2 * second), 0); /* it goes on */
	procmap_forget(pm, 2 * second, nobody_is_alive);
	ck_assert_uint_eq(procmap_nr_ranges(pm), 0);
	ck_assert_int_eq(nr_due(2 * second), 1);
	procmap_verify(pm, 7, "flood", &found, 2 * second);
	ck_assert_str_eq(lookup(7, 0, 0x5000, 2 * second + 1, 3 * second),
			 "/bin/flood");
	ck_assert_str_eq(lookup(7, 0, 0x5000, 1000, 2 * second), "GAP");
	ck_assert_str_eq(lookup(7, PROCMAP_BY_EXEC_ID | 3, 0x5000, 2 * second + 1,
				3 * second),
			 "/bin/flood");
	ck_assert_uint_eq(procmap_nr_incomplete(pm), 0);
	ck_assert_int_eq(nr_due(UINT64_MAX), 0);
	rangemap_fini(&found);
}
END_TEST

/* Each time it is incomplete again as soon as it was read. */
START_TEST(what_stays_incomplete_is_read_anew_ever_less_often)
{
	uint64_t now = 0, last = 0, between = 0;
	struct rangemap found = { 0 };

	find_page(&found, 0x5000, "/bin/flood");
	procmap_exec(pm, 7, "flood", 1);
	for (int i = 0; i < 12; i++) {
		replace(7, PROCMAP_MAX_OWN + 10, now + 10);
		while (!nr_due(now))
			now += PROCMAP_MEND_NS / 4;
		ck_assert_uint_ge(now - last, i ? between : 0);
		between = now - last;
		last = now;
		procmap_verify(pm, 7, "flood", &found, now);
	}
	ck_assert_uint_ge(between, PROCMAP_MEND_NS << PROCMAP_MEND_DOUBLINGS);
	ck_assert_uint_le(between, (PROCMAP_MEND_NS << PROCMAP_MEND_DOUBLINGS) +
					   PROCMAP_MEND_NS);
	/* It is calm for long, and then at its bound again. */
	now += PROCMAP_MEND_NS << 12;
	replace(7, PROCMAP_MAX_OWN + 10, now);
	ck_assert_int_eq(nr_due(now + PROCMAP_MEND_NS), 1);
	rangemap_fini(&found);
}
END_TEST

START_TEST(what_could_not_be_read_anew_is_tried_again)
{
	procmap_exec(pm, 7, "flood", 1);
	replace(7, PROCMAP_MAX_OWN + 10, 10);
	ck_assert_int_eq(nr_due(10 + PROCMAP_MEND_NS), 1);
	ck_assert_int_eq(nr_due(10 + 2 * PROCMAP_MEND_NS), 0);
	ck_assert_int_eq(nr_due(10 + 3 * PROCMAP_MEND_NS), 1);
	procmap_exit(pm, 7, 20 + 3 * PROCMAP_MEND_NS);
	ck_assert_int_eq(nr_due(UINT64_MAX), 0);
}
END_TEST

/* There may be more of it than is known. */
START_TEST(a_process_without_a_place_is_incomplete_when_it_is_met_again)
{
	uint32_t tgid;

	for (tgid = 1; procmap_nr_processes(pm) < PROCMAP_MAX_PROCESSES; tgid++)
		procmap_exec(pm, tgid, "crowd", 10);
	procmap_fork(pm, tgid, 1, 20);
	procmap_exit(pm, 3, 30);
	procmap_forget(pm, 40, nobody_is_alive);
	map(tgid, 0x1000, 0x1000, "/lib/late", 50);
	ck_assert_str_eq(lookup(tgid, 0, 0x1000, 60, 70), "GAP");
	ck_assert_uint_eq(procmap_nr_incomplete(pm), 1);
}
END_TEST

/* What all processes together hold, by looking at each: the newest comes first. */
static void recount(const struct process *p, const struct account *a, size_t *nr_ranges,
		    size_t *nr_processes)
{
	*nr_ranges = *nr_processes = 0;
	for (; p; p = p->next) {
		const struct process *q = p->next;

		*nr_processes += p->account == a;
		while (q && q->maps != p->maps)
			q = q->next;
		if (!q && p->maps && p->maps->account == a)
			*nr_ranges += maps_nr(p->maps);
	}
}

START_TEST(accounts_have_what_their_processes_hold)
{
	uint64_t seed = unit_seed(), state = seed | 1;
	const struct process *last;
	size_t nr_ranges, nr_processes;

	procmap_set_owner(pm, owner_by_number);
	for (uint64_t i = 0; i < 4000; i++) {
		const uint32_t user = 1 + unit_random(&state) % 3;
		const uint32_t tgid = 100000 * user + unit_random(&state) % 5;
		const uint32_t other = 100000 * user + unit_random(&state) % 5;
		const uint64_t page = 1 + unit_random(&state) % 8, when = 10 * i;

		switch (unit_random(&state) % 8) {
		case 0:
			procmap_exec(pm, tgid, "x", when);
			break;
		case 1:
			procmap_fork(pm, tgid, other, when);
			break;
		case 2:
			procmap_exit(pm, tgid, when);
			break;
		case 3:
			procmap_unmap(pm, tgid, page << 12, (page + 1) << 12, when);
			break;
		case 4:
			if (when > 500)
				procmap_forget(pm, when - 500, nobody_is_alive);
			break;
		default:
			map(tgid, page << 12, 0x1000 + (page % 2 << 12),
			    page % 3 ? "/a" : "/b", when);
		}
		if (i % 50 != 49)
			continue;
		procmap_exec(pm, 100000, "last", when + 1);
		last = procmap_find(pm, 100000, 0, when + 1);
		recount(last, last->account, &nr_ranges, &nr_processes);
		ck_assert_msg(
			last->account->nr_ranges == nr_ranges &&
				last->account->nr_processes == nr_processes,
			"seed %llu step %llu: %zu ranges, not %zu; %zu processes, "
			"not %zu",
			(unsigned long long)seed, (unsigned long long)i,
			last->account->nr_ranges, nr_ranges,
			last->account->nr_processes, nr_processes);
	}
	for (uint32_t i = 0; i < 400000; i++)
		procmap_exit(pm, i, 50000);
	procmap_forget(pm, UINT64_MAX, nobody_is_alive);
	ck_assert_uint_eq(procmap_nr_ranges(pm), 0);
	ck_assert_uint_eq(procmap_nr_processes(pm), 0);
}
END_TEST

/* The name of what held page 0x1000 of process 1 at a moment. */
static const char *at(uint64_t when)
{
	return lookup(1, 0, 0x1000, when, when);
}

START_TEST(gaps_that_overlap_are_one_until_the_horizon_passes_its_end)
{
	procmap_exec(pm, 1, "p", 10);
	map(1, 0x1000, 0x1000, "/bin/p", 11);
	procmap_add_gap(pm, 100, 200);
	procmap_add_gap(pm, 300, 400);
	procmap_add_gap(pm, 350, 500); /* longer than the last one */
	procmap_add_gap(pm, 290, 450); /* begins earlier */
	procmap_add_gap(pm, 500, 510); /* touches it */
	ck_assert_str_eq(at(99), "/bin/p");
	ck_assert_str_eq(at(100), "GAP");
	ck_assert_str_eq(at(200), "GAP");
	ck_assert_str_eq(at(201), "/bin/p");
	ck_assert_str_eq(at(289), "/bin/p");
	ck_assert_str_eq(at(290), "GAP");
	ck_assert_str_eq(at(475), "GAP");
	ck_assert_str_eq(at(510), "GAP");
	ck_assert_str_eq(at(511), "/bin/p");
	procmap_forget(pm, 200, nobody_is_alive);
	ck_assert_str_eq(at(150), "GAP");
	procmap_forget(pm, 201, nobody_is_alive);
	ck_assert_str_eq(at(150), "/bin/p");
	ck_assert_str_eq(at(290), "GAP");
	procmap_forget(pm, 511, nobody_is_alive);
	ck_assert_str_eq(at(290), "/bin/p");
}
END_TEST

START_TEST(children_inherit_cgroup_and_label_and_execs_keep_them)
{
	const struct process *p;

	procmap_set_cgroup(pm, 1, "/none", 1); /* nobody knows process 1 yet */
	procmap_set_label(pm, 1, "none");
	ck_assert_uint_eq(procmap_nr_processes(pm), 0);
	procmap_exec(pm, 1, "p", 10);
	procmap_set_cgroup(pm, 1, "/a", 77);
	procmap_set_label(pm, 1, "x");
	procmap_fork(pm, 2, 1, 20);
	procmap_exec(pm, 2, "q", 30);
	p = procmap_find(pm, 2, 0, 40);
	ck_assert_str_eq(p->cgroup->text, "/a");
	ck_assert_uint_eq(p->cgroup_id, 77);
	ck_assert_str_eq(p->label->text, "x");
	ck_assert_uint_eq(p->parent, 1);
	ck_assert(p->by_exec);
	procmap_fork(pm, 3, 2, 50);
	ck_assert(!procmap_find(pm, 3, 0, 60)->by_exec);
	ck_assert_uint_eq(procmap_find(pm, 3, 0, 60)->parent, 2);
	procmap_set_label(pm, 2, "y");
	ck_assert_str_eq(p->label->text, "y");
	ck_assert_str_eq(procmap_find(pm, 1, 0, 60)->label->text, "x");
	ck_assert_str_eq(procmap_find(pm, 3, 0, 60)->label->text, "x");
	procmap_set_label(pm, 2, NULL);
	procmap_set_cgroup(pm, 2, NULL, 0);
	ck_assert_ptr_null(p->label);
	ck_assert_ptr_null(p->cgroup);
	ck_assert_uint_eq(procmap_nr_failed(pm), 0);
}
END_TEST

START_TEST(a_name_for_which_there_is_no_room_is_not_known)
{
	char *text = malloc(NAMES_MAX_BYTES + 1);

	memset(text, 'x', NAMES_MAX_BYTES);
	text[NAMES_MAX_BYTES] = 0;
	procmap_exec(pm, 1, "p", 10);
	procmap_set_label(pm, 1, "short");
	procmap_set_label(pm, 1, text);
	ck_assert_ptr_null(procmap_find(pm, 1, 0, 20)->label);
	ck_assert_uint_eq(procmap_nr_failed(pm), 1);
	free(text);
}
END_TEST

START_TEST(a_child_of_an_incomplete_process_is_incomplete)
{
	procmap_exec(pm, 2, "p", 10);
	procmap_give_up(pm, 2, 50);
	procmap_fork(pm, 1, 2, 60);
	ck_assert_str_eq(at(70), "GAP");
	ck_assert_uint_eq(procmap_nr_incomplete(pm), 2);
	ck_assert_uint_eq(procmap_nr_failed(pm), 2);
	procmap_exit(pm, 2, 80);
	ck_assert_uint_eq(procmap_nr_incomplete(pm), 1);
	procmap_give_up(pm, 9,
			90); /* not known: added, and incomplete from its start */
	ck_assert_str_eq(lookup(9, 0, 0x1000, 5, 5), "GAP");
	ck_assert_uint_eq(procmap_nr_incomplete(pm), 2);
}
END_TEST

static bool is_b(const char *name)
{
	return !strcmp(name, "/b");
}

static void note_start(void *ctx, const struct range *r)
{
	uint64_t *sum = ctx;

	*sum = *sum * 16 + (r->start >> 12);
}

static void note_tgid(void *ctx, uint32_t tgid)
{
	*(uint32_t *)ctx += tgid;
}

START_TEST(the_live_mappings_of_a_process_are_listed)
{
	const struct process *p;
	uint32_t tgids = 0;
	uint64_t starts = 0;
	size_t nr;

	procmap_exec(pm, 1, "p", 10);
	p = procmap_find(pm, 1, 0, 20);
	ck_assert_ptr_null(procmap_find_image(p, is_b));
	ck_assert_ptr_null(procmap_ranges(p, &nr));
	ck_assert_uint_eq(nr, 0);
	procmap_for_each_range(p, note_start, &starts);
	ck_assert_uint_eq(starts, 0);
	ck_assert_ptr_null(procmap_live(pm, 1, 0x1000));
	map(1, 0x1000, 0x1000, "/b", 11);
	ck_assert_ptr_eq(procmap_find_image(p, is_b), image("/b"));
	map(1, 0x3000, 0x1000, "/c", 12);
	map(1, 0x2000, 0x1000, "/a", 13);
	procmap_for_each_range(p, note_start, &starts);
	ck_assert_uint_eq(starts, 0x123);
	ck_assert_uint_eq(procmap_ranges(p, &nr)->start, 0x1000);
	ck_assert_uint_eq(nr, 3);
	ck_assert_uint_eq(procmap_live(pm, 1, 0x2fff)->start, 0x2000);
	ck_assert_ptr_null(procmap_live(pm, 1, 0x4000));
	procmap_unmap(pm, 1, 0x1000, 0x2000, 20);
	ck_assert_ptr_null(procmap_find_image(p, is_b));
	procmap_exec(pm, 2, "q", 10);
	procmap_exec(pm, 2, "r", 20);
	procmap_exec(pm, 4, "s", 20);
	procmap_exit(pm, 4, 30);
	procmap_for_each(pm, note_tgid, &tgids);
	ck_assert_uint_eq(tgids, 3);
}
END_TEST

START_TEST(a_mapping_that_grows_keeps_its_time)
{
	struct procmap_hit hit;

	procmap_exec(pm, 1, "p", 10);
	map(1, 0x1000, 0x1000, "/bin/p", 11);
	map(1, 0x1000, 0x3000, "/bin/p", 20);
	ck_assert_int_eq(procmap_lookup(pm, 1, 0, 0x3000, (struct time_span){ 15, 15 },
					&hit),
			 PROCMAP_FOUND);
	ck_assert_uint_eq(hit.since_ns, 11);
	ck_assert_uint_eq(hit.end, 0x4000);
	ck_assert_uint_eq(hit.bias, -0x1000ULL);
	map(1, 0x1000, 0x1000, "/bin/p", 30); /* known already */
	ck_assert_int_eq(procmap_lookup(pm, 1, 0, 0x3000, (struct time_span){ 40, 40 },
					&hit),
			 PROCMAP_FOUND);
	ck_assert_uint_eq(hit.since_ns, 11);
}
END_TEST

START_TEST(a_scan_ends_processes_that_it_does_not_find)
{
	static const struct rangemap none;

	for (uint32_t tgid = 1; tgid <= 2; tgid++)
		procmap_exec(pm, tgid, "p", 10);
	procmap_exec(pm, 3, "young", 100);
	procmap_exec(pm, 4, "gone", 10);
	procmap_exit(pm, 4, 50);
	procmap_exec(pm, 5, "q", 10);
	procmap_give_up(pm, 5, 100);
	procmap_verify(pm, 1, "renamed", &none, 100);
	procmap_end_unseen(pm, 100);
	ck_assert(!procmap_find(pm, 1, 0, 200)->exited);
	ck_assert_str_eq(procmap_find(pm, 1, 0, 200)->comm, "renamed");
	ck_assert(procmap_find(pm, 2, 0, 200)->exited);
	ck_assert_uint_eq(procmap_find(pm, 2, 0, 200)->end_ns, 100);
	ck_assert(!procmap_find(pm, 3, 0, 200)->exited);
	ck_assert_uint_eq(procmap_find(pm, 4, 0, 200)->end_ns, 50);
	ck_assert(!procmap_find(pm, 5, 0, 200)->exited);
}
END_TEST

START_TEST(an_exec_seen_ahead_of_its_record_has_the_next_exec_id)
{
	struct rangemap found = { 0 };
	const struct process *p;

	find_page(&found, 0x5000, "/bin/ls");
	procmap_exec(pm, 7, "sh", 100);
	procmap_set_exec_id(pm, 7, 5, 150);
	procmap_verify(pm, 7, "ls", &found, 210);
	p = procmap_find(pm, 7, 0, 300);
	ck_assert(!p->exec_id_known);
	ck_assert(!p->by_exec);
	procmap_give_up(pm, 7, 220);
	procmap_exec(pm, 7, "ls", 200);
	ck_assert(p->exec_id_known);
	ck_assert_uint_eq(p->exec_id, 6);
	ck_assert(p->by_exec);
	ck_assert(!p->incomplete);
	ck_assert_uint_eq(p->start_ns, 200);
	ck_assert_uint_eq(procmap_find(pm, 7, 0, 199)->end_ns, 200);
	ck_assert_uint_eq(procmap_nr_incomplete(pm), 0);
	rangemap_fini(&found);
}
END_TEST

/* User 1 has three quarters of the records, so three quarters of the time. */
START_TEST(a_user_takes_time_by_the_number_of_records)
{
	procmap_set_owner(pm, owner_by_number);
	procmap_exec(pm, 100000, "busy", 10);
	procmap_fork(pm, 100001, 100000, 11);
	procmap_exec(pm, 200000, "calm", 12);
	for (int i = 0; i < 28; i++)
		procmap_skip_map(pm, 100000, 20);
	for (int i = 0; i < 9; i++)
		procmap_skip_map(pm, 200000, 20);
	ck_assert_uint_eq(procmap_take_excess(pm, 4000, 2000), 1000);
	ck_assert_uint_eq(procmap_take_excess(pm, 4000, 2000), 0);
}
END_TEST

START_TEST(images_that_are_or_were_mapped_are_marked)
{
	struct known_image *live = image("/live"), *former = image("/former");
	struct known_image *other = image("/other");

	procmap_exec(pm, 1, "p", 10);
	procmap_exec(pm, 2, "q", 10);
	map(1, 0x1000, 0x1000, "/former", 20);
	map(1, 0x1000, 0x1000, "/live", 30);
	images_clear_marks(images);
	procmap_mark_images(pm);
	ck_assert(live->marked);
	ck_assert(former->marked);
	ck_assert(!other->marked);
}
END_TEST

START_TEST(a_name_is_known_without_an_exec_and_cut)
{
	procmap_comm(pm, 1, "a-name-of-many-letters");
	ck_assert_str_eq(procmap_find(pm, 1, 0, 0)->comm, "a-name-of-many-");
	procmap_exec(pm, 1, "p", 10);
	ck_assert_uint_eq(procmap_find(pm, 1, 0, 0)->end_ns, 10);
	procmap_comm(pm, 1, "q");
	ck_assert_str_eq(procmap_find(pm, 1, 0, 20)->comm, "q");
	procmap_fork(pm, 2, 1, 30);
	ck_assert_str_eq(procmap_find(pm, 2, 0, 40)->comm, "q");
}
END_TEST

START_TEST(each_change_of_mappings_is_counted)
{
	const struct process *p;
	uint32_t before;

	procmap_exec(pm, 1, "p", 10);
	p = procmap_find(pm, 1, 0, 20);
	before = p->nr_changes;
	procmap_unmap(pm, 1, 0x1000, 0x2000, 20); /* nothing is mapped */
	ck_assert_uint_eq(p->nr_changes, before);
	map(1, 0x1000, 0x2000, "/bin/p", 20);
	map(1, 0x1000, 0x2000, "/bin/p", 20);
	ck_assert_uint_eq(p->nr_changes, before + 1);
	procmap_unmap(pm, 1, 0x1000, 0x2000, 30);
	ck_assert_uint_eq(p->nr_changes, before + 2);
	procmap_give_up(pm, 1, 40);
	procmap_give_up(pm, 1, 50);
	ck_assert_uint_eq(p->nr_changes, before + 3);
	ck_assert_uint_eq(p->incomplete_ns, 40);
}
END_TEST

static void fork_and_exec_by(uint32_t tgid, uint64_t exec_ns)
{
	procmap_fork(pm, tgid, 1, exec_ns + 100);
	procmap_exec(pm, tgid, "late", exec_ns);
}

START_TEST(an_exec_before_the_fork_that_is_known_moves_the_beginning)
{
	const struct process *p;

	fork_and_exec_by(7, 200);
	p = procmap_find(pm, 7, 0, 200);
	ck_assert_uint_eq(p->start_ns, 200);
	ck_assert(p->by_exec);
	ck_assert_uint_eq(procmap_nr_processes(pm), 1);
	/* Of two earlier incarnations, the one that ended then. */
	procmap_exec(pm, 8, "first", 10);
	procmap_exec(pm, 8, "second", 100);
	procmap_set_exec_id(pm, 8, 4, 150);
	fork_and_exec_by(8, 300);
	ck_assert_uint_eq(procmap_find(pm, 8, 0, 50)->end_ns, 100);
	ck_assert_uint_eq(procmap_find(pm, 8, 0, 200)->end_ns, 300);
	ck_assert_uint_eq(procmap_find(pm, 8, 0, 300)->exec_id, 5);
	procmap_exec(pm, 9, "first", 10);
	procmap_set_exec_id(pm, 9, 4, 20);
	procmap_fork(pm, 9, 1, 400);
	procmap_set_exec_id(pm, 9, 8, 410); /* which counts the exec */
	procmap_exec(pm, 9, "late", 300);
	ck_assert_uint_eq(procmap_find(pm, 9, 0, 300)->exec_id, 8);
	ck_assert_ptr_null(procmap_find(pm, 9, 999, 300));
	ck_assert_str_eq(procmap_find(pm, 9, 1, 300)->comm, "first");
}
END_TEST

START_TEST(an_exec_id_that_the_kernel_told_later_is_the_new_processes)
{
	procmap_exec(pm, 1, "parent", 1);
	procmap_set_exec_id(pm, 1, 3, 2);
	procmap_exec(pm, 2, "old", 10);
	procmap_set_exec_id(pm, 2, 9, 100);
	procmap_exit(pm, 2, 40);
	procmap_fork(pm, 2, 1, 50);
	ck_assert_uint_eq(procmap_find(pm, 2, 0, 60)->exec_id, 9);
	ck_assert(!procmap_find(pm, 2, 0, 20)->exec_id_known);
	procmap_set_exec_id(pm, 1, 4, 300);
	procmap_fork(pm, 3, 1, 200); /* before the kernel told */
	ck_assert(!procmap_find(pm, 3, 0, 200)->exec_id_known);
	procmap_fork(pm, 4, 1, 300);
	ck_assert_uint_eq(procmap_find(pm, 4, 0, 300)->exec_id, 4);
}
END_TEST

START_TEST(a_process_that_is_not_known_has_nothing)
{
	procmap_free(NULL);
	procmap_exit(pm, 7, 10);
	procmap_set_exec_id(pm, 7, 1, 10);
	procmap_unmap(pm, 7, 0, 0x1000, 10);
	ck_assert(!procmap_skip_map(pm, 7, 10));
	ck_assert_ptr_null(procmap_live(pm, 7, 0x1000));
	ck_assert_ptr_null(procmap_find(pm, 7, 0, 100));
	ck_assert_uint_eq(procmap_nr_processes(pm), 0);
	ck_assert_int_eq(nr_due(UINT64_MAX), 0);
	ck_assert_int_eq(procmap_lookup_in(pm, NULL, 0x1000, 10,
					   &(struct procmap_hit){ 0 }),
			 PROCMAP_NO_PROCESS);
}
END_TEST

START_TEST(one_image_at_two_offsets_is_ambiguous)
{
	struct range r = { .start = 0x1000, .end = 0x2000, .value = image("/lib/x") };

	procmap_exec(pm, 1, "p", 10);
	for (r.since = 20; r.since <= 30; r.since += 10) {
		r.bias = -r.since * 0x1000;
		procmap_map(pm, 1, &r);
	}
	ck_assert_str_eq(lookup(1, 0, 0x1000, 15, 40), "AMBIGUOUS");
	ck_assert_str_eq(lookup(1, 0, 0x1000, 31, 40), "/lib/x");
}
END_TEST

/* What a scan finds of a process with /bin/p at 0x1000: the same, or something else. */
static const struct {
	uint64_t start, size, bias;
	const char *name;
	bool is_same;
} scans[] = {
	{ 0x1000, 0x1000, 0, "/bin/p", true },
	{ 0x1000, 0x0800, 0, "/bin/p", true }, /* a part of it */
	{ 0x1000, 0x2000, 0, "/bin/p", false },
	{ 0x1000, 0x1000, 0x1000, "/bin/p", false },
	{ 0x1000, 0x1000, 0, "/bin/q", false },
	{ 0x5000, 0x1000, 0, "/bin/p", false },
};

START_TEST(a_scan_that_finds_something_else_begins_an_incarnation)
{
	struct rangemap found = { 0 };
	struct range r = { .start = scans[_i].start,
			   .end = scans[_i].start + scans[_i].size,
			   .bias = -0x1000ULL + scans[_i].bias,
			   .value = image(scans[_i].name) };

	procmap_exec(pm, 1, "p", 10);
	procmap_set_label(pm, 1, "x");
	map(1, 0x1000, 0x1000, "/bin/p", 11);
	ck_assert_int_eq(rangemap_insert(&found, &r, NULL, NULL), 0);
	procmap_verify(pm, 1, "p", &found, 100);
	ck_assert_uint_eq(procmap_nr_processes(pm), scans[_i].is_same ? 1 : 2);
	ck_assert_uint_eq(procmap_find(pm, 1, 0, 100)->start_ns,
			  scans[_i].is_same ? 10 : 100);
	ck_assert_str_eq(procmap_find(pm, 1, 0, 100)->label->text, "x");
	rangemap_fini(&found);
}
END_TEST

START_TEST(a_scan_finds_processes_that_were_not_known_or_had_ended)
{
	struct rangemap found = { 0 };

	find_page(&found, 0x1000, "/bin/p");
	procmap_verify(pm, 1, "p", &found, 100);
	ck_assert_str_eq(at(5), "/bin/p"); /* it began before all samples */
	procmap_set_label(pm, 1, "x");
	procmap_set_exec_id(pm, 1, 4, 110);
	procmap_give_up(pm, 1, 120);
	procmap_exit(pm, 1, 150);
	procmap_verify(pm, 1, "p", &found, 200);
	ck_assert_str_eq(at(210), "/bin/p");
	ck_assert_ptr_null(procmap_find(pm, 1, 0, 200)->label);
	ck_assert(!procmap_find(pm, 1, 0, 200)->exec_id_known);
	procmap_set_exec_id(pm, 1, 6, 500);
	procmap_give_up(pm, 1, 300);
	procmap_verify(pm, 1, "p", &found, 400); /* the id is the new incarnation's */
	ck_assert_uint_eq(procmap_find(pm, 1, 0, 400)->exec_id, 6);
	ck_assert(!procmap_find(pm, 1, 0, 399)->exec_id_known);
	rangemap_fini(&found);
}
END_TEST

static bool stop(void *ctx, uint32_t tgid)
{
	(void)tgid;
	++*(int *)ctx;
	return false;
}

static bool is_seven(uint32_t tgid)
{
	return tgid == 7;
}

START_TEST(who_is_alive_is_kept_and_a_walk_can_be_stopped)
{
	int nr = 0;

	for (uint32_t tgid = 6; tgid <= 8; tgid++) {
		procmap_exec(pm, tgid, "p", 10);
		map(tgid, 0x1000, 0x1000, "/bin/p", 11);
		procmap_give_up(pm, tgid, 50);
	}
	procmap_exec(pm, 9, "superseded", 10);
	procmap_exec(pm, 9, "p", 20);
	procmap_end_unseen(pm, 20);
	ck_assert_uint_eq(procmap_find(pm, 9, 0, 15)->end_ns, 20);
	procmap_exit(pm, 9, 30);
	procmap_forget(pm, 31, nobody_is_alive);
	ck_assert(!procmap_for_each_incomplete(pm, UINT64_MAX, stop, &nr));
	ck_assert_int_eq(nr, 1);
	procmap_forget(pm, 50, is_seven); /* not yet: samples before 50 may come */
	ck_assert_str_eq(lookup(8, 0, 0x1000, 20, 30), "/bin/p");
	procmap_forget(pm, 51, is_seven);
	ck_assert_uint_eq(procmap_nr_ranges(pm), 0);
	for (uint32_t tgid = 6; tgid <= 8; tgid++)
		procmap_exit(pm, tgid, 60);
	procmap_forget(pm, 61, is_seven);
	ck_assert_uint_eq(procmap_nr_processes(pm), 1);
	ck_assert_ptr_nonnull(procmap_find(pm, 7, 0, 100));
}
END_TEST

static int owner_is_gone(uint32_t tgid, uint32_t *uid)
{
	(void)tgid;
	*uid = 1;
	return -1;
}

START_TEST(without_an_owner_there_is_no_account)
{
	procmap_set_owner(pm, owner_is_gone);
	procmap_exec(pm, 1, "p", 10);
	ck_assert_ptr_null(procmap_find(pm, 1, 0, 20)->account);
}
END_TEST

/* Unmapping, copies and scans need room as well: another user's mappings are dropped.
 */
START_TEST(each_change_finds_room_like_a_mapping)
{
	struct rangemap found = { 0 };

	find_page(&found, 0x1000, "/bin/found");
	procmap_set_owner(pm, owner_by_number);
	procmap_exec(pm, 200000, "victim", 100);
	map(200000, 0x1000, 0x3000, "/bin/victim", 110);
	for (uint32_t tgid = 200001; tgid <= 200002; tgid++)
		procmap_fork(pm, tgid, 200000, 120);
	take_all_room(100000);
	ck_assert_uint_eq(procmap_nr_ranges(pm), PROCMAP_MAX_RANGES);
	procmap_unmap(pm, 200000, 0x2000, 0x3000, 200);
	ck_assert_str_eq(lookup(200000, 0, 0x1000, 210, 220), "/bin/victim");
	ck_assert_str_eq(lookup(200000, 0, 0x2000, 120, 130), "/bin/victim");
	ck_assert_str_eq(lookup(200000, 0, 0x2000, 210, 220), "NO MAPPING");
	ck_assert_uint_lt(procmap_nr_ranges(pm), PROCMAP_MAX_RANGES);
	take_all_room(110000);
	map(200001, 0x5000, 0x1000, "/bin/child", 130);
	ck_assert_str_eq(lookup(200001, 0, 0x5000, 140, 150), "/bin/child");
	ck_assert_str_eq(lookup(200001, 0, 0x1000, 140, 150), "/bin/victim");
	take_all_room(120000);
	procmap_unmap(pm, 200002, 0x1000, 0x2000, 130);
	ck_assert_str_eq(lookup(200002, 0, 0x1000, 140, 150), "NO MAPPING");
	ck_assert_str_eq(lookup(200002, 0, 0x2000, 140, 150), "/bin/victim");
	take_all_room(140000);
	procmap_verify(pm, 200003, "new", &found, 130);
	ck_assert_str_eq(lookup(200003, 0, 0x1000, 140, 150), "/bin/found");
	ck_assert_uint_le(procmap_nr_ranges(pm), PROCMAP_MAX_RANGES);
	rangemap_fini(&found);
}
END_TEST

/* Nobody has more than others, so nobody loses mappings, and the process is a gap. */
START_TEST(without_accounts_a_mapping_without_room_is_a_gap)
{
	procmap_exec(pm, 500, "first", 100);
	map(500, 0x1000, 0x1000, "/bin/first", 110);
	take_all_room(1000);
	procmap_exec(pm, 600, "last", 100);
	map(600, 0x1000, 0x1000, "/bin/last", 110);
	ck_assert_str_eq(lookup(600, 0, 0x1000, 120, 130), "GAP");
	ck_assert_str_eq(lookup(500, 0, 0x1000, 120, 130), "/bin/first");
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("procmap");
	TCase *tc = tcase_create("procmap");

	tcase_set_timeout(tc, 600); /* sanitizers, and memory to its bounds */
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, exec_replaces_what_was_mapped);
	tcase_add_test(tc, a_chain_of_execs_at_one_address_is_told_apart);
	tcase_add_test(tc, a_reused_number_is_another_process);
	tcase_add_test(tc, a_fork_copies_and_then_each_goes_its_way);
	tcase_add_test(tc, a_child_does_not_inherit_the_past);
	tcase_add_test(tc, a_change_after_a_fork_keeps_the_past);
	tcase_add_test(tc, the_same_mapping_twice_is_not_ambiguous);
	tcase_add_test(tc, samples_after_the_exit_record_are_still_its_own);
	tcase_add_test(tc, exec_ids_tell_incarnations_of_one_batch_apart);
	tcase_add_test(tc, records_that_the_kernels_word_includes_do_not_count_again);
	tcase_add_test(tc, after_a_gap_no_exec_id_is_known);
	tcase_add_test(tc, a_gap_covers_all_but_verified_and_younger_processes);
	tcase_add_test(tc, what_was_seen_ahead_of_its_exec_record_is_one_incarnation);
	tcase_add_test(tc, lookups_agree_with_a_list_of_all_events);
	tcase_add_test(tc, memory_goes_back_when_processes_go);
	tcase_add_test(tc, generations_stay_in_their_bits);
	tcase_add_test(tc, generations_of_a_number_differ_whatever_other_processes_do);
	tcase_add_test(tc, a_life_for_which_there_is_no_room_is_a_gap);
	tcase_add_test(tc, a_process_has_so_many_mappings_and_the_others_do_not_mind);
	tcase_add_test(tc, former_mappings_count_for_their_process);
	tcase_add_test(tc, a_range_is_given_back_when_it_goes);
	tcase_add_test(tc, one_process_never_takes_the_room_of_others);
	tcase_add_test(tc, processes_of_one_user_leave_room_for_the_others);
	tcase_add_test(tc, copies_for_children_are_charged_to_their_user);
	tcase_add_test(tc, processes_of_one_user_leave_places_for_others);
	tcase_add_test(tc, only_roots_processes_become_another_users);
	tcase_add_test(tc, only_processes_that_live_are_asked_for_their_user);
	tcase_add_test(
		tc, roots_process_that_is_another_users_by_now_is_charged_to_that_one);
	tcase_add_test(tc, a_process_is_incomplete_from_a_moment_on);
	tcase_add_test(tc, records_beyond_all_measure_are_skipped);
	tcase_add_test(tc, what_was_incomplete_is_whole_when_it_was_read_anew);
	tcase_add_test(tc, what_stays_incomplete_is_read_anew_ever_less_often);
	tcase_add_test(tc, what_could_not_be_read_anew_is_tried_again);
	tcase_add_test(tc,
		       a_process_without_a_place_is_incomplete_when_it_is_met_again);
	tcase_add_test(tc, accounts_have_what_their_processes_hold);
	tcase_add_test(tc, gaps_that_overlap_are_one_until_the_horizon_passes_its_end);
	tcase_add_test(tc, children_inherit_cgroup_and_label_and_execs_keep_them);
	tcase_add_test(tc, a_name_for_which_there_is_no_room_is_not_known);
	tcase_add_test(tc, a_child_of_an_incomplete_process_is_incomplete);
	tcase_add_test(tc, the_live_mappings_of_a_process_are_listed);
	tcase_add_test(tc, a_mapping_that_grows_keeps_its_time);
	tcase_add_test(tc, a_scan_ends_processes_that_it_does_not_find);
	tcase_add_test(tc, an_exec_seen_ahead_of_its_record_has_the_next_exec_id);
	tcase_add_test(tc, a_user_takes_time_by_the_number_of_records);
	tcase_add_test(tc, images_that_are_or_were_mapped_are_marked);
	tcase_add_test(tc, a_name_is_known_without_an_exec_and_cut);
	tcase_add_test(tc, each_change_of_mappings_is_counted);
	tcase_add_test(tc, an_exec_before_the_fork_that_is_known_moves_the_beginning);
	tcase_add_test(tc, an_exec_id_that_the_kernel_told_later_is_the_new_processes);
	tcase_add_test(tc, a_process_that_is_not_known_has_nothing);
	tcase_add_test(tc, one_image_at_two_offsets_is_ambiguous);
	tcase_add_loop_test(tc, a_scan_that_finds_something_else_begins_an_incarnation,
			    0, NR(scans));
	tcase_add_test(tc, a_scan_finds_processes_that_were_not_known_or_had_ended);
	tcase_add_test(tc, who_is_alive_is_kept_and_a_walk_can_be_stopped);
	tcase_add_test(tc, mappings_of_a_child_that_changes_its_user_stay_its_parents);
	tcase_add_test(tc, a_process_waits_once_for_its_user_to_be_asked);
	tcase_add_test(tc, a_process_ends_with_the_last_of_its_threads);
	tcase_add_test(tc, without_an_owner_there_is_no_account);
	tcase_add_test(tc, each_change_finds_room_like_a_mapping);
	tcase_add_test(tc, without_accounts_a_mapping_without_room_is_a_gap);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
