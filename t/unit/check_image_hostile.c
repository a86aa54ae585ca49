/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Damaged files: whatever opens must also answer; sanitizers see the rest. */
#include "config.h"

#include <errno.h>
#include <gelf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/image/debugfile.h"
#include "analysis/image/elffile.h"
#include "analysis/image/image.h"
#include "base/err.h"
#include "t/unit/elf_fixture.h"
#include "t/unit/image_ask.h"
#include "t/unit/unit.h"

static const char *const victims[] = { "x86-lazy",   "x86-ibt",        "x86-static",
				       "arm-lazy",   "x86-minidebug",  "x86-dwarf4",
				       "x86-dwarf5", "x86-split.debug" };

/* Opens bytes and asks about everything. */
static void try(const void *bytes, size_t size)
{
	struct image *im;

	if (fixture_open_bytes(bytes, size, &im))
		return;
	ck_assert(image_ask(im, size));
	image_close(im);
}

/* The read of this number fails; 0: none. */
static int fail_at, nr_reads;

int __real_file_pread(int fd, void *data, size_t size, off_t off);
int __wrap_file_pread(int fd, void *data, size_t size, off_t off);

int __wrap_file_pread(int fd, void *data, size_t size, off_t off)
{
	return ++nr_reads == fail_at ? -EIO : __real_file_pread(fd, data, size, off);
}

/* The names and places of all procedures, and all landing pads. */
static struct buf said_by(struct image *im)
{
	struct buf b = { 0 };
	const struct symbol *const *s;
	const uint64_t *pads = NULL;
	size_t nr;
	int err;

	s = image_symbols(im, &nr);
	for (size_t i = 0; i < nr; i++)
		buf_printf(&b, "%s %llx %llx\n", s[i]->name,
			   (unsigned long long)s[i]->start,
			   (unsigned long long)s[i]->end);
	err = image_landing_pads(im, 0, UINT64_MAX, &pads, &nr);
	if (err)
		buf_fini(&b);
	for (size_t i = 0; !err && i < nr; i++)
		buf_printf(&b, "%llx\n", (unsigned long long)pads[i]);
	return b;
}

START_TEST(a_read_that_fails_is_an_error_and_no_gap)
{
	struct image_desc desc = { .kind = IMAGE_FILE, .name = fixture(victims[_i]) };
	struct image *im = fixture_open(victims[_i]);
	struct buf want = said_by(im), got;
	int nr_failed = 0;

	image_close(im);
	ck_assert(want.len || strstr(victims[_i], ".debug")); /* which has no code */
	for (fail_at = 1; fail_at < 1000; fail_at++) {
		nr_reads = 0;
		if (!image_open(&desc, NULL, &im)) {
			got = said_by(im);
			if (got.len)
				ck_assert_str_eq(buf_str(&got), buf_str(&want));
			nr_failed += !got.len;
			buf_fini(&got);
			image_close(im);
		} else {
			nr_failed++;
		}
		if (nr_reads < fail_at)
			break;
	}
	ck_assert_int_lt(fail_at, 1000);
	ck_assert_int_gt(nr_failed, 0);
	fail_at = 0;
	buf_fini(&want);
}
END_TEST

START_TEST(files_cut_anywhere_do_no_harm)
{
	struct buf b = fixture_bytes(victims[_i]);

	for (size_t size = 0; size < b.len; size += size < 512 ? 3 : 37)
		try(b.data, size);
	buf_fini(&b);
}
END_TEST

START_TEST(random_damage_does_no_harm)
{
	uint64_t seed = unit_seed(), state = seed | 1;
	struct buf b = fixture_bytes(victims[_i]);
	char *copy = malloc(b.len);

	ck_assert_ptr_nonnull(copy);
	printf("# seed %llu\n", (unsigned long long)seed);
	for (int round = 0; round < 150; round++) {
		int nr = 1 + (int)(unit_random(&state) % 16);

		memcpy(copy, b.data, b.len);
		while (nr--)
			copy[unit_random(&state) % b.len] ^=
				(char)(1 << unit_random(&state) % 8);
		try(copy, b.len);
	}
	free(copy);
	buf_fini(&b);
}
END_TEST

static const uint64_t lies[] = { 0, 7, 0xffff, 0x7fffffff, UINT64_MAX - 7, UINT64_MAX };

/* Every field of size bytes in a table of entries gets every lie, one at a time. */
static void lie_in_table(struct buf *b, uint64_t table, uint64_t size)
{
	char saved[8];

	ck_assert_uint_le(table + size, b->len);
	for (uint64_t at = table; at + 4 <= table + size; at += 4) {
		size_t n = b->len - at < 8 ? b->len - at : 8;

		for (size_t i = 0; i < NR(lies); i++) {
			memcpy(saved, b->data + at, n);
			memcpy(b->data + at, &lies[i], n);
			try(b->data, b->len);
			memcpy(b->data + at, saved, n);
		}
	}
}

START_TEST(headers_that_lie_do_no_harm)
{
	struct buf b = fixture_bytes(victims[_i]);
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)b.data;
	uint64_t sections = ehdr->e_shoff, nr = ehdr->e_shnum;

	lie_in_table(&b, 0, sizeof(*ehdr));
	lie_in_table(&b, ehdr->e_phoff, ehdr->e_phnum * sizeof(Elf64_Phdr));
	lie_in_table(&b, sections, nr * sizeof(Elf64_Shdr));
	buf_fini(&b);
}
END_TEST

START_TEST(tables_that_lie_do_no_harm)
{
	static const char *const tables[] = { ".symtab",        ".dynsym",
					      ".rela.plt",      ".eh_frame",
					      ".gnu_debuglink", ".note.gnu.build-id" };
	struct buf b = fixture_bytes(victims[_i]);
	struct elffile *f;
	GElf_Shdr shdr;
	int fd;

	for (size_t i = 0; i < NR(tables); i++) {
		fd = open(fixture(victims[_i]), O_RDONLY | O_CLOEXEC);
		ck_assert_int_eq(elffile_open_fd(fd, &f), 0);
		if (elffile_section(f, tables[i], &shdr) && shdr.sh_type != SHT_NOBITS)
			lie_in_table(&b, shdr.sh_offset,
				     shdr.sh_size < 256 ? shdr.sh_size : 256);
		elffile_close(f);
	}
	buf_fini(&b);
}
END_TEST

/* A file of any size can be made of nothing. */
START_TEST(a_sparse_file_of_a_terabyte_is_opened_in_little_memory)
{
	struct image_desc desc = { .kind = IMAGE_FILE, .name = "sparse" };
	struct buf b = fixture_bytes("x86-dwarf5");
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)b.data;
	Elf64_Shdr *shdr = (Elf64_Shdr *)(b.data + ehdr->e_shoff);
	struct image *im;
	int fd;

	for (int i = 1; i < ehdr->e_shnum; i++)
		if (shdr[i].sh_type != SHT_NOBITS)
			shdr[i].sh_size = 1ULL << 39;
	fd = memfd_create("sparse", MFD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(file_write(fd, b.data, b.len), 0);
	ck_assert_int_eq(ftruncate(fd, 1LL << 40), 0);
	ck_assert_int_eq(image_open_fd(&desc, fd, NULL, &im), 0);
	ck_assert_ptr_null(image_line_at(im, 0x400).file);
	image_close(im);
	buf_fini(&b);
}
END_TEST

START_TEST(extended_numbering_is_refused)
{
	struct buf b = fixture_bytes("x86-lazy");
	Elf64_Ehdr *ehdr = (Elf64_Ehdr *)b.data;
	struct image *im = NULL;

	ehdr->e_shnum = 0;
	ck_assert_int_eq(fixture_open_bytes(b.data, b.len, &im), -CPI_EFORMAT);
	ehdr->e_shnum = 1;
	ehdr->e_phnum = PN_XNUM;
	ck_assert_int_eq(fixture_open_bytes(b.data, b.len, &im), -CPI_EFORMAT);
	ehdr->e_phnum = 1;
	ehdr->e_type = ET_REL;
	ck_assert_int_eq(fixture_open_bytes(b.data, b.len, &im), -CPI_EFORMAT);
	ck_assert_ptr_null(im);
	buf_fini(&b);
}
END_TEST

static struct elffile *elffile_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elffile *f;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(elffile_open_fd(fd, &f), 0);
	return f;
}

static void copy_to(const char *path, const struct buf *b)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(file_write(fd, b->data, b->len), 0);
	close(fd);
}

/* Flips one bit: of f's build id, or of the last byte where f has none. */
static void spoil(const struct elffile *f, struct buf *b)
{
	uint8_t id[BUILD_ID_MAX];
	size_t size = elffile_build_id(f, id);
	char *at = size ? memmem(b->data, b->len, id, size) : b->data + b->len - 1;

	ck_assert_ptr_nonnull(at);
	*at ^= 1;
}

START_TEST(a_debug_file_must_prove_itself)
{
	static const char *const names[][2] = { { "x86-split", "x86-split.debug" },
						{ "x86-link", "x86-link.debug" } };
	char dir[] = "/tmp/cpi-debug-XXXXXX", program[64], path[80];
	struct elffile *f = elffile_of(fixture(names[_i][0])), *debug = NULL;
	struct buf b = fixture_bytes(names[_i][1]);

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(program, sizeof(program), "%s/program", dir);
	snprintf(path, sizeof(path), "%s/%s", dir, names[_i][1]);
	ck_assert_int_eq(debugfile_find(f, program, dir, &debug), -ENOENT);
	copy_to(path, &b);
	ck_assert_int_eq(debugfile_find(f, program, dir, &debug), 0);
	elffile_close(debug);
	debug = NULL;
	spoil(f, &b);
	copy_to(path, &b);
	ck_assert_int_eq(debugfile_find(f, program, dir, &debug), -ENOENT);
	/* A FIFO where it should be: nobody waits for its writer. */
	unlink(path);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(debugfile_find(f, program, dir, &debug), -ENOENT);
	ck_assert_ptr_null(debug);
	unlink(path);
	rmdir(dir);
	buf_fini(&b);
	elffile_close(f);
}
END_TEST

START_TEST(a_debug_file_is_found_by_build_id)
{
	char dir[] = "/tmp/cpi-debug-XXXXXX", path[256];
	struct elffile *f = elffile_of(fixture("x86-split")), *debug = NULL;
	struct buf b = fixture_bytes("x86-split.debug");
	uint8_t id[BUILD_ID_MAX];
	size_t len;

	ck_assert_uint_eq(elffile_build_id(f, id), 20);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	len = (size_t)snprintf(path, sizeof(path), "%s/.build-id", dir);
	mkdir(path, 0700);
	len += (size_t)snprintf(path + len, sizeof(path) - len, "/%02x", id[0]);
	mkdir(path, 0700);
	len += (size_t)snprintf(path + len, sizeof(path) - len, "/");
	for (int i = 1; i < 20; i++)
		len += (size_t)snprintf(path + len, sizeof(path) - len, "%02x", id[i]);
	snprintf(path + len, sizeof(path) - len, ".debug");
	copy_to(path, &b);
	ck_assert_int_eq(debugfile_find(f, "/nowhere/program", dir, &debug), 0);
	elffile_close(debug);
	for (int up = 0; up < 4; up++) {
		remove(path);
		*strrchr(path, '/') = '\0';
	}
	buf_fini(&b);
	elffile_close(f);
}
END_TEST

static Suite *hostile_suite(void)
{
	Suite *s = suite_create("image_hostile");
	TCase *tc = tcase_create("hostile");

	tcase_set_timeout(tc, 600);
	tcase_add_loop_test(tc, a_read_that_fails_is_an_error_and_no_gap, 0,
			    NR(victims));
	tcase_add_loop_test(tc, files_cut_anywhere_do_no_harm, 0, NR(victims));
	tcase_add_loop_test(tc, random_damage_does_no_harm, 0, NR(victims));
	tcase_add_loop_test(tc, headers_that_lie_do_no_harm, 0, NR(victims));
	tcase_add_loop_test(tc, tables_that_lie_do_no_harm, 0, NR(victims));
	tcase_add_test(tc, a_sparse_file_of_a_terabyte_is_opened_in_little_memory);
	tcase_add_test(tc, extended_numbering_is_refused);
	tcase_add_loop_test(tc, a_debug_file_must_prove_itself, 0, 2);
	tcase_add_test(tc, a_debug_file_is_found_by_build_id);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(hostile_suite)
