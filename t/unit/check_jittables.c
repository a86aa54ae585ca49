/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_jittables.c - unwind tables of code that a process made
 *
 * The process is the test's own, and writes a jitdump; the code is nowhere.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "analysis/unwind/unwindtables.h"
#include "base/err.h"
#include "base/file.h"
#include "base/times.h"
#include "daemon/jit/jitdump.h"
#include "daemon/jit/jitimage.h"
#include "daemon/os/arch.h"
#include "daemon/stacks/unwindcodes.h"
#include "t/unit/unit.h"
#include "t/unit/unit_images.h"

#define ROOM      0x1000000u /* of the code, in the process */
#define ROOM_SIZE 0x280000u
#define CODE_SIZE 1080

/* What Node.js 20 wrote for a function of CODE_SIZE bytes, header and all. */
static const uint8_t tables[] = {
	0x18, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x7a, 0x4c, 0x52,
	0x00, 0x01, 0x78, 0x10, 0x02, 0xff, 0x1b, 0x0c, 0x07, 0x08, 0x90, 0x01,
	0x00, 0x00, 0x00, 0x00, 0x28, 0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00,
	0xa4, 0xfb, 0xff, 0xff, 0x35, 0x04, 0x00, 0x00, 0x00, 0x4f, 0x0e, 0x10,
	0x86, 0x02, 0x43, 0x0d, 0x06, 0x03, 0x1b, 0x02, 0x0d, 0x07, 0x41, 0x0e,
	0x08, 0x52, 0x0c, 0x06, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x01, 0x1b, 0x03, 0x3b, 0xb0, 0xff, 0xff, 0xff,
	0x01, 0x00, 0x00, 0x00, 0x7c, 0xfb, 0xff, 0xff, 0xd0, 0xff, 0xff, 0xff,
};
#define HEADER_SIZE 20

static char path[64];
static int dump = -1;

static void remove_dump(void)
{
	unlink(path);
}

static void put(const void *data, size_t size)
{
	ck_assert_int_eq(file_write(dump, data, size), 0);
}

static void setup(void)
{
	uint32_t h[10] = { 0x4a695444, 1, 40, arch_native.elf_machine };

	snprintf(path, sizeof(path), "/tmp/jit-%d.dump", (int)getpid());
	remove_dump();
	atexit(remove_dump);
	dump = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	ck_assert_int_ge(dump, 0);
	put(h, sizeof(h));
}

static void teardown(void)
{
	close(dump);
	remove_dump();
}

struct unwinding {
	uint32_t id, total_size;
	uint64_t time_ns, size, header_size, mapped_size;
	uint8_t tables[sizeof(tables)];
};

static struct unwinding unwinding(void)
{
	struct unwinding u = { .id = 4,
			       .total_size = sizeof(u),
			       .size = sizeof(tables),
			       .header_size = HEADER_SIZE,
			       .mapped_size = sizeof(tables) };

	memcpy(u.tables, tables, sizeof(tables));
	return u;
}

static void tell_tables(void)
{
	const struct unwinding u = unwinding();

	put(&u, sizeof(u));
}

static void tell_load(uint64_t address, uint64_t time_ns)
{
	struct {
		uint32_t id, total_size;
		uint64_t time_ns;
		uint32_t pid, tid;
		uint64_t vma, address, size, index;
		char name[8];
		uint8_t code[CODE_SIZE];
	} l = { .total_size = sizeof(l),
		.time_ns = time_ns,
		.address = address,
		.size = CODE_SIZE,
		.name = "sevenby" };

	put(&l, sizeof(l));
}

static void tell_move(uint64_t from, uint64_t to, uint64_t time_ns)
{
	struct {
		uint32_t id, total_size;
		uint64_t time_ns;
		uint32_t pid, tid;
		uint64_t vma, from, to, size, index;
	} m = { .id = 1,
		.total_size = sizeof(m),
		.time_ns = time_ns,
		.from = from,
		.to = to,
		.size = CODE_SIZE };

	put(&m, sizeof(m));
}

static const struct {
	uint32_t total_size;
	uint64_t size, header_size, mapped_size;
	int err;
	uint32_t tables_size;
} records[] = {
	{ 136, 96, 20, 96, 0, 76 },
	{ 144, 96, 20, 96, 0, 76 }, /* padded */
	{ 136, 96, 20, 0, 0, 0 },   /* frame pointers */
	{ 64, 20, 20, 20, 0, 0 },   /* the header alone */
	{ 135, 96, 20, 96, -CPI_ECORRUPT, 0 },
	{ 136, 97, 20, 96, -CPI_ECORRUPT, 0 },
	{ 136, UINT64_MAX, 20, 96, -CPI_ECORRUPT, 0 },
	{ 136, 96, 97, 96, -CPI_ECORRUPT, 0 },
	{ 136, 96, UINT64_MAX, 96, -CPI_ECORRUPT, 0 },
	{ 39, 0, 0, 0, -CPI_ECORRUPT, 0 },
};

START_TEST(a_record_of_tables_is_read_or_refused)
{
	struct unwinding u = unwinding();
	struct jitdump_record r;

	u.total_size = records[_i].total_size;
	u.size = records[_i].size;
	u.header_size = records[_i].header_size;
	u.mapped_size = records[_i].mapped_size;
	ck_assert_int_eq(jitdump_record(&u, sizeof(u), &r), records[_i].err);
	if (records[_i].err)
		return;
	ck_assert_int_eq(r.kind, JITDUMP_TABLES);
	ck_assert_uint_eq(r.size, u.total_size);
	ck_assert_uint_eq(r.tables_at, offsetof(struct unwinding, tables));
	ck_assert_uint_eq(r.tables_size, records[_i].tables_size);
	for (size_t size = 0; size < offsetof(struct unwinding, tables); size++)
		ck_assert_int_eq(jitdump_record(&u, size, &r), -EAGAIN);
}
END_TEST

/* Whether the file says how to unwind CODE_SIZE bytes at the code's place. */
static void check_image(int fd)
{
	const struct unwindtables_entry *e;
	struct unwindtables *t;
	struct elffile *f;
	uint64_t address;
	size_t nr;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_lt(pwrite(fd, "x", 1, 0), 0); /* nobody changes it */
	ck_assert_int_eq(elffile_open_fd(fd, &f), 0);
	ck_assert_int_eq(unwindtables_open(f, &t), 0);
	e = unwindtables_entries(t, &nr);
	ck_assert_uint_eq(nr, 1);
	ck_assert(unwindtables_address_of(t, JITIMAGE_CODE_AT, &address));
	ck_assert_uint_eq(unwindtables_base(t) + (uint64_t)(int64_t)e->function,
			  address);
	ck_assert(
		unwindtables_address_of(t, JITIMAGE_CODE_AT + CODE_SIZE - 1, &address));
	unwindtables_close(t);
}

START_TEST(tables_become_a_file)
{
	struct jitimage *i = jitimage_new(CODE_SIZE, sizeof(tables) - HEADER_SIZE);

	ck_assert_ptr_nonnull(i);
	memcpy(jitimage_tables(i), tables, sizeof(tables) - HEADER_SIZE);
	check_image(jitimage_open(i));
	jitimage_free(i);
}
END_TEST

/* A process that has its dump mapped, and room for code. */
struct world {
	struct images *images;
	struct procmap *procmap;
	struct jit *jit;
	struct process *process;
	struct unwindcodes codes;
};

static void map(struct world *w, uint64_t start, uint64_t size, const char *name)
{
	static const struct image_source none;
	const struct range r = { .start = start,
				 .end = start + size,
				 .since = 1,
				 .value = images_get(w->images, name, &none) };

	procmap_map(w->procmap, getpid(), &r);
}

static struct world world_new(void)
{
	struct world w = { .images = unit_images(), .procmap = procmap_new() };

	w.jit = jit_new(w.images);
	procmap_exec(w.procmap, getpid(), "test", 1);
	map(&w, ROOM, ROOM_SIZE, "//anon");
	map(&w, 16 * ROOM, 4096, path);
	w.process = procmap_find(w.procmap, getpid(), 0, time_mono_ns());
	ck_assert_ptr_nonnull(w.process);
	return w;
}

static void world_free(struct world *w)
{
	unwindcodes_fini(&w->codes);
	jit_free(w->jit);
	procmap_free(w->procmap);
	unit_images_free(w->images);
}

/* A sample whose stack has these words. */
static void meet(struct world *w, const uint64_t *words, size_t size)
{
	const uint64_t regs[64] = { 0 };
	const struct chain_sample s = { .time_ns = time_mono_ns(),
					.tgid = getpid(),
					.regs = regs,
					.stack = words,
					.stack_size = size };

	unwindcodes_meet(&w->codes, w->jit, w->process, &s);
}

START_TEST(code_that_a_stack_points_into_has_its_tables)
{
	const uint64_t words[] = { 7,
				   ROOM + 0x2010,
				   ROOM + 0x1010,
				   ROOM + 0x1020,
				   ROOM + 0x3000,
				   ROOM + 0x4001,
				   16 * ROOM };
	struct world w = world_new();
	uint64_t now = time_mono_ns();

	tell_tables();
	tell_load(ROOM + 0x1000, now);
	tell_load(ROOM + 0x2000, now); /* they are of the one before alone */
	tell_tables();
	tell_load(ROOM + 0x3000, now);
	tell_move(ROOM + 0x3000, ROOM + 0x4000, now);
	tell_tables();
	tell_load(ROOM + 0x5000, now); /* nothing points there */
	meet(&w, words, sizeof(words) - 3);
	ck_assert_uint_eq(w.codes.nr, 3);
	for (size_t i = 0; i < 3; i++) {
		static const uint64_t start[] = { 0x1000, 0x3000, 0x4000 };

		ck_assert_uint_eq(w.codes.code[i].start, ROOM + start[i]);
		check_image(jit_open_tables(w.jit, w.process, &w.codes.code[i]));
	}
	world_free(&w);
}
END_TEST

START_TEST(code_that_was_replaced_loses_its_tables)
{
	const uint64_t words[] = { ROOM + 0x1010, ROOM + 0x3010 };
	struct world w = world_new();

	tell_tables();
	tell_load(ROOM + 0x1000, time_mono_ns());
	tell_tables();
	tell_load(ROOM + 0x3000, time_mono_ns());
	meet(&w, words, sizeof(words));
	ck_assert_uint_eq(w.codes.nr, 2);
	tell_load(ROOM + 0x1000 - 64, time_mono_ns());
	tell_tables();
	tell_load(ROOM + 0x3010, time_mono_ns());
	meet(&w, words, sizeof(words));
	ck_assert_uint_eq(w.codes.nr, 1);
	ck_assert_uint_eq(w.codes.code[0].start, ROOM + 0x3010);
	world_free(&w);
}
END_TEST

START_TEST(only_so_much_code_is_known_at_once)
{
	const size_t step = 2048, nr = ROOM_SIZE / step;
	struct world w = world_new();
	uint64_t words[200];
	size_t most = 0;

	ck_assert_uint_gt(nr, UNWINDCODES_MAX);
	for (size_t i = 0; i < nr; i++) {
		tell_tables();
		tell_load(ROOM + i * step, time_mono_ns());
	}
	for (size_t at = 0; at < nr; at += NR(words)) {
		for (size_t i = 0; i < NR(words); i++)
			words[i] = ROOM + (at + i) * step;
		meet(&w, words, sizeof(words));
		ck_assert_uint_gt(w.codes.nr, 0);
		ck_assert_uint_le(w.codes.nr, UNWINDCODES_MAX);
		most = w.codes.nr > most ? w.codes.nr : most;
	}
	ck_assert_uint_ge(most, UNWINDCODES_MAX - NR(words));
	world_free(&w);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("jittables");
	TCase *tc = tcase_create("jittables");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, a_record_of_tables_is_read_or_refused, 0, NR(records));
	tcase_add_test(tc, tables_become_a_file);
	tcase_add_test(tc, code_that_a_stack_points_into_has_its_tables);
	tcase_add_test(tc, code_that_was_replaced_loses_its_tables);
	tcase_add_test(tc, only_so_much_code_is_known_at_once);
	tcase_set_timeout(tc, 600);
	suite_add_tcase(suite, tc);
	return suite;
}

UNIT_MAIN(make_suite)
