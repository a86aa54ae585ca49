/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "report/cache/symbolfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/image/symtab.h"
#include "base/err.h"
#include "base/hash.h"
#include "report/cache/cachefile.h"
#include "t/unit/unit.h"

#define MANY 300 /* entries */

static char folder[64];
static const struct image_desc desc = { .name = "/bin/program",
					.build_id = { 1, 2 },
					.build_id_size = 2 };
static const struct file_stamp origin[2] = { { 1, 2, 3, 4, 5 } };

static void make_folder(void)
{
	strcpy(folder, "/tmp/check_symbolfile.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	setenv("XDG_CACHE_HOME", folder, 1);
}

/* Finds the one file, and opens it. */
static int open_file(void)
{
	char cache[80];
	const struct dirent *e;
	int fd = -1;
	DIR *dir;

	snprintf(cache, sizeof(cache), "%s/cpi", folder);
	dir = opendir(cache);
	ck_assert_ptr_nonnull(dir);
	while ((e = readdir(dir)))
		if (e->d_name[0] != '.')
			fd = openat(dirfd(dir), e->d_name, O_RDWR);
	closedir(dir);
	ck_assert_int_ge(fd, 0);
	return fd;
}

static void remove_folder(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	ck_assert_int_eq(system(command), 0);
}

/* Entries that overlap, share starts, or have no size. */
static void fill_table(struct symtab *t, uint64_t *seed)
{
	for (int i = 0; i < MANY; i++) {
		const uint64_t start = unit_random(seed) % 4096;
		struct symtab_entry e = { .start = start,
					  .size = unit_random(seed) % 64,
					  .limit = start + 1 + unit_random(seed) % 256,
					  .binding = unit_random(seed) % 3,
					  .label = unit_random(seed) & 1 };
		char name[32];

		snprintf(name, sizeof(name), "%d", i);
		ck_assert_int_eq(symtab_add_named(t, &e, "_", "procedure_", name), 0);
	}
	ck_assert_int_eq(symtab_build(t), 0);
}

static void check_same(struct symtab *a, struct symtab *b)
{
	for (uint64_t at = 0; at < 5000; at++) {
		const struct symbol *x = symtab_at(a, at), *y = symtab_at(b, at);

		ck_assert_int_eq(!x, !y);
		if (!x)
			continue;
		ck_assert_uint_eq(x->start, y->start);
		ck_assert_uint_eq(x->end, y->end);
		ck_assert_str_eq(x->raw, y->raw);
		ck_assert_int_eq(symtab_is_local(a, x), symtab_is_local(b, y));
		for (size_t i = 0; i < 4; i++) {
			const char *p = symtab_alias(a, x, i),
				   *q = symtab_alias(b, y, i);

			ck_assert_int_eq(!p, !q);
			if (p)
				ck_assert_str_eq(p, q);
		}
	}
}

START_TEST(what_was_kept_is_what_was_read)
{
	struct symtab t = { 0 }, kept = { 0 };
	uint64_t seed = unit_seed() + _i;
	bool is_written = false;

	make_folder();
	fill_table(&t, &seed);
	symbolfile_keep(&is_written, &desc, origin, &t);
	ck_assert(is_written);
	ck_assert_int_eq(symbolfile_recall(NULL, &desc, origin, &kept), 0);
	ck_assert_int_eq(symtab_build(&kept), 0);
	check_same(&t, &kept);
	symtab_fini(&kept);
	symtab_fini(&t);
	remove_folder();
}
END_TEST

START_TEST(another_state_of_a_file_has_nothing_kept)
{
	struct file_stamp other[2] = { origin[0], origin[1] };
	struct symtab t = { 0 }, kept = { 0 };
	uint64_t seed = unit_seed();
	bool is_written;

	make_folder();
	fill_table(&t, &seed);
	symbolfile_keep(&is_written, &desc, origin, &t);
	((uint64_t *)other)[_i]++;
	ck_assert_int_eq(symbolfile_recall(NULL, &desc, other, &kept), -ENOENT);
	ck_assert_uint_eq(kept.nr_entries, 0);
	symtab_fini(&t);
	remove_folder();
}
END_TEST

/* Forges a part of the content, and makes the sum right again. */
static void forge(int fd, size_t content_size, uint64_t *seed)
{
	static uint8_t content[1 << 20];
	struct stat st;
	off_t begin;
	uint64_t sum;

	ck_assert_int_eq(fstat(fd, &st), 0);
	begin = st.st_size - (off_t)content_size;
	ck_assert_uint_le(content_size, sizeof(content));
	ck_assert_int_eq(pread(fd, content, content_size, begin), content_size);
	for (int i = 0; i < 4; i++)
		content[unit_random(seed) % content_size] = (uint8_t)unit_random(seed);
	sum = hash_bytes(0, content, content_size);
	ck_assert_int_eq(pwrite(fd, content, content_size, begin), content_size);
	ck_assert_int_eq(pwrite(fd, &sum, sizeof(sum), begin - (off_t)sizeof(sum)),
			 sizeof(sum));
}

START_TEST(forged_content_is_refused_or_is_a_table)
{
	struct symtab t = { 0 };
	uint64_t seed = unit_seed();
	size_t size = 2 * sizeof(uint64_t);
	int nr_taken = 0, nr_refused = 0;
	bool is_written;

	make_folder();
	fill_table(&t, &seed);
	for (size_t i = 0; i < t.nr_entries; i++)
		size += 32 + strlen(t.entry[i].raw) + 1;
	for (int i = 0; i < 500; i++) {
		struct symtab kept = { 0 };
		int fd, err;

		symbolfile_keep(&is_written, &desc, origin, &t);
		fd = open_file();
		forge(fd, size, &seed);
		close(fd);
		err = symbolfile_recall(NULL, &desc, origin, &kept);
		ck_assert(!err || err == -CPI_ECORRUPT || err == -ENOMEM);
		nr_taken += !err;
		nr_refused += err != 0;
		if (!err) {
			ck_assert_int_eq(symtab_build(&kept), 0);
			for (uint64_t at = 0; at < 5000; at++)
				symtab_at(&kept, at);
		}
		symtab_fini(&kept);
	}
	ck_assert_int_gt(nr_taken, 0);
	ck_assert_int_gt(nr_refused, 0);
	symtab_fini(&t);
	remove_folder();
}
END_TEST

/* The i-th file of OLD_SIZE bytes; name is room for its name. */
#define OLD_SIZE 1000

static struct cachefile old_file(int i, char name[32])
{
	snprintf(name, 32, "old-%d", i);
	return (struct cachefile){
		.name = name, .key = "k", .key_size = 1, .max_size = OLD_SIZE
	};
}

START_TEST(the_oldest_files_are_removed_above_the_limit)
{
	char name[32], bytes[OLD_SIZE] = "";
	struct buf out = { 0 };
	struct cachefile f;
	int nr = 0;

	make_folder();
	for (int i = 0; i < 20; i++) {
		f = old_file(i, name);
		ck_assert_int_eq(cachefile_save(&f, bytes, sizeof(bytes)), 0);
	}
	cachefile_limit("other-", 1);
	cachefile_limit("old-", 1 << 20);
	for (int limited = 0; limited < 2; limited++) {
		nr = 0;
		for (int i = 0; i < 20; i++) {
			f = old_file(i, name);
			nr += !cachefile_load(&f, &out);
		}
		ck_assert_int_eq(nr, limited ? 7 : 20);
		cachefile_limit("old-", 10 * (sizeof(bytes) + 312));
	}
	buf_fini(&out);
	remove_folder();
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("symbolfile");
	TCase *tc = tcase_create("symbolfile");

	tcase_add_loop_test(tc, what_was_kept_is_what_was_read, 0, 20);
	tcase_add_loop_test(tc, another_state_of_a_file_has_nothing_kept, 0,
			    2 * sizeof(struct file_stamp) / sizeof(uint64_t));
	tcase_add_test(tc, forged_content_is_refused_or_is_a_table);
	tcase_add_test(tc, the_oldest_files_are_removed_above_the_limit);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
