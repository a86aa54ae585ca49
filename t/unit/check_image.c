/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/image/image.h"
#include "analysis/isa/isa.h"
#include "base/err.h"
#include "base/times.h"
#include "t/unit/elf_fixture.h"
#include "t/unit/unit.h"

static const char *const programs[] = {
	"x86-lazy",   "x86-now",       "x86-ibt",    "arm-lazy",
	"arm-bti",    "x86-minidebug", "x86-dwarf4", "x86-dwarf5",
	"arm-dwarf5", "x86-split",     "x86-link",
};

/* Of program.c. */
static const char *const procedures[] = {
	"via_puts",
	"via_strlen",
	"via_atoi",
	"local_function",
	"plain",
	"__underscored",
	"start",
	"outer",
	"inner",
	"no_size",
	"shape::area",
	"shape::name() const",
	"core::fmt::Write::write_fmt",
	"weak_name_that_is_long",
};

static const struct symbol *named(struct image *im, const char *name)
{
	const struct symbol *s = NULL;

	ck_assert_msg(image_symbol_named(im, name, &s) == 0, "%s: no %s",
		      image_desc(im)->name, name);
	return s;
}

START_TEST(every_procedure_of_the_source_is_found)
{
	struct image *im = fixture_open(programs[_i]);

	for (size_t i = 0; i < NR(procedures); i++) {
		const struct symbol *s = named(im, procedures[i]);

		ck_assert_uint_lt(s->start, s->end);
		ck_assert_ptr_eq(image_symbol_at(im, s->start), s);
		ck_assert_ptr_eq(image_symbol_at(im, s->end - 1), s);
	}
	ck_assert_str_eq(named(im, "__underscored")->name, "plain");
	image_close(im);
}
END_TEST

START_TEST(labels_and_noise_are_no_procedures)
{
	struct image *im = fixture_open(programs[_i]);
	const struct symbol *outer = named(im, "outer"), *inner = named(im, "inner"),
			    *s;

	ck_assert_int_eq(image_symbol_named(im, "label_inside", &s), -CPI_ENOSYMBOL);
	ck_assert_int_eq(image_symbol_named(im, "$x", &s), -CPI_ENOSYMBOL);
	ck_assert_int_eq(image_symbol_named(im, "pointer", &s), -CPI_ENOSYMBOL);
	ck_assert_ptr_eq(image_symbol_at(im, inner->start - 1), outer);
	ck_assert_ptr_eq(image_symbol_at(im, inner->end), outer);
	ck_assert_uint_eq(named(im, "no_size")->end, named(im, "shape::area")->start);
	image_close(im);
}
END_TEST

START_TEST(symbols_ascend_and_none_is_empty)
{
	struct image *im = fixture_open(programs[_i]);
	const struct symbol *const *s;
	size_t nr;

	s = image_symbols(im, &nr);
	ck_assert_uint_ge(nr, NR(procedures));
	for (size_t i = 0; i < nr; i++) {
		ck_assert_uint_lt(s[i]->start, s[i]->end);
		if (i)
			ck_assert_uint_lt(s[i - 1]->start, s[i]->start);
	}
	image_close(im);
}
END_TEST

/* The address that the first direct jump or call of s goes to, as an offset. */
static uint64_t first_target(struct image *im, const struct symbol *s)
{
	const uint64_t bias = image_address(im, s->start) - s->start;
	uint8_t code[256];
	size_t size = s->end - s->start;
	struct insn insn;
	struct isa *isa;
	uint64_t target = 0;

	ck_assert_uint_le(size, sizeof(code));
	ck_assert_int_eq(image_read(im, s->start, code, size), 0);
	ck_assert_int_eq(isa_open(image_machine(im), &isa), 0);
	for (size_t at = 0; at < size && !target; at += insn.size) {
		ck_assert_int_eq(isa_decode(isa, code + at, size - at,
					    image_address(im, s->start + at), &insn),
				 0);
		target = insn.target;
	}
	isa_close(isa);
	ck_assert_uint_ne(target, 0);
	return target - bias;
}

static void check_stub(struct image *im, const char *caller, const char *stub)
{
	const struct symbol *s;

	s = image_symbol_at(im, first_target(im, named(im, caller)));
	ck_assert_msg(s && strcmp(s->name, stub) == 0, "%s: %s calls %s",
		      image_desc(im)->name, caller, s ? s->name : "what has no name");
}

START_TEST(calls_go_to_stubs_with_the_callees_names)
{
	struct image *im = fixture_open(programs[_i]);

	check_stub(im, "via_puts", "puts@plt");
	check_stub(im, "via_strlen", "strlen@plt");
	check_stub(im, "via_atoi", "atoi@plt");
	image_close(im);
}
END_TEST

START_TEST(a_stub_that_a_resolver_fills_has_its_name)
{
	struct image *im = fixture_open("x86-static");

	check_stub(im, "via_increment", "increment@plt");
	ck_assert_uint_eq(image_address(im, 0), 0x400000);
	image_close(im);
}
END_TEST

static const struct {
	const char *stripped, *whole;
} strips[] = { { "x86-stripped", "x86-lazy" }, { "arm-stripped", "arm-lazy" } };

START_TEST(stripped_files_have_procedures_named_by_offset)
{
	static const char *const kept[] = { "via_puts", "via_atoi", "plain", "start" };
	struct image *im = fixture_open(strips[_i].stripped);
	struct image *whole = fixture_open(strips[_i].whole);

	for (size_t i = 0; i < NR(kept); i++) {
		const struct symbol *want = named(whole, kept[i]);
		const struct symbol *s = image_symbol_at(im, want->start);
		char name[32];

		snprintf(name, sizeof(name), "[0x%llx]",
			 (unsigned long long)want->start);
		ck_assert_ptr_nonnull(s);
		ck_assert_str_eq(s->name, name);
		ck_assert_uint_eq(s->start, want->start);
		ck_assert_uint_eq(s->end, want->end);
	}
	/* Nothing speaks of code without a symbol and without a description. */
	ck_assert_ptr_null(image_symbol_at(im, named(whole, "no_size")->start));
	ck_assert_ptr_null(image_symbol_at(im, 0));
	image_close(im);
	image_close(whole);
}
END_TEST

START_TEST(without_section_headers_there_are_still_procedures)
{
	struct buf b = fixture_bytes("x86-stripped");
	struct image *whole = fixture_open("x86-lazy"), *im;
	const struct symbol *want = named(whole, "via_atoi"), *s;
	Elf64_Ehdr *ehdr = (Elf64_Ehdr *)b.data;

	ehdr->e_shoff = 0;
	ehdr->e_shnum = 0;
	ehdr->e_shstrndx = 0;
	ck_assert_int_eq(fixture_open_bytes(b.data, b.len, &im), 0);
	s = image_symbol_at(im, want->start);
	ck_assert_ptr_nonnull(s);
	ck_assert_uint_eq(s->start, want->start);
	ck_assert_uint_eq(s->end, want->end);
	image_close(im);
	image_close(whole);
	buf_fini(&b);
}
END_TEST

static const char *const with_lines[] = { "x86-dwarf4", "x86-dwarf5", "arm-dwarf5",
					  "x86-split", "x86-link" };

/* The number of the first line of program.c that contains text. */
static int line_of(const char *text)
{
	FILE *f = fopen(fixture("program.c"), "re");
	char line[256];
	int nr = 0;

	ck_assert_ptr_nonnull(f);
	do {
		nr++;
		ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
	} while (!strstr(line, text));
	fclose(f);
	return nr;
}

START_TEST(procedures_have_the_lines_of_the_source)
{
	struct image *im = fixture_open(with_lines[_i]);
	const struct symbol *s = named(im, "via_atoi");
	const int first = line_of("KEEP int via_atoi");
	bool seen[5] = { false };

	for (uint64_t at = s->start; at < s->end; at++) {
		struct line line = image_line_at(im, at);

		ck_assert_str_eq(line.file, "/src/program.c");
		ck_assert_int_ge(line.line, first);
		ck_assert_int_le(line.line, first + 4);
		seen[line.line - first] = true;
	}
	ck_assert(seen[1] && seen[2] && seen[3] && seen[4]);
	ck_assert_int_eq(image_line_at(im, named(im, "via_puts")->start).line,
			 line_of("KEEP int via_puts") + 1);
	ck_assert_ptr_null(image_line_at(im, named(im, "inner")->start).file);
	ck_assert_ptr_null(image_line_at(im, 0).file);
	ck_assert_ptr_null(image_line_at(im, UINT64_MAX).file);
	image_close(im);
}
END_TEST

START_TEST(without_debugging_information_there_are_no_lines)
{
	struct image *im = fixture_open("x86-lazy");

	ck_assert_ptr_null(image_line_at(im, named(im, "start")->start).file);
	image_close(im);
}
END_TEST

/* The system's own files, large enough to be a test of speed, too. */
static const char *const agreeing[] = { "x86-lazy", "arm-bti", "x86-dwarf5",
					"/lib/x86_64-linux-gnu/libc.so.6",
					"/proc/self/exe" };

struct truth {
	struct symbol s[65536];
	size_t nr;
};

static void read_truth(Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr,
		       struct truth *truth)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	GElf_Sym sym;

	for (int i = 0; gelf_getsym(data, i, &sym); i++) {
		int type = GELF_ST_TYPE(sym.st_info);

		if ((type == STT_FUNC || type == STT_GNU_IFUNC) && sym.st_size &&
		    sym.st_shndx != SHN_UNDEF && truth->nr < NR(truth->s))
			truth->s[truth->nr++] = (struct symbol){
				.start = sym.st_value,
				.end = sym.st_value + sym.st_size,
				.raw = elf_strptr(elf, shdr->sh_link, sym.st_name),
			};
	}
}

/* Every symbol around an address, one by one; with equal starts any will do. */
START_TEST(lookups_agree_with_a_scan_of_the_symbol_tables)
{
	const char *path = agreeing[_i][0] == '/' ? realpath(agreeing[_i], NULL)
						  : strdup(fixture(agreeing[_i]));
	struct image_desc desc = { .kind = IMAGE_FILE, .name = path };
	uint64_t seed = unit_seed(), state = seed | 1;
	struct truth *truth = calloc(1, sizeof(*truth));
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1, hits = 0;
	Elf_Scn *scn = NULL;
	struct image *im;
	GElf_Shdr shdr;
	Elf *elf;

	ck_assert_ptr_nonnull(truth);
	if (fd < 0) /* another distribution's layout */
		goto out;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	ck_assert_int_eq(image_open(&desc, NULL, &im), 0);
	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &shdr) &&
		    (shdr.sh_type == SHT_SYMTAB || shdr.sh_type == SHT_DYNSYM))
			read_truth(elf, scn, &shdr, truth);
	ck_assert_uint_gt(truth->nr, 0);
	for (int round = 0; round < 2000; round++) {
		const struct symbol *pick = &truth->s[unit_random(&state) % truth->nr],
				    *best = NULL;
		uint64_t at =
			pick->start + unit_random(&state) % (pick->end - pick->start);
		const struct symbol *s = NULL;
		uint64_t bias = 0;
		bool ends = false;

		for (size_t i = 0; i < truth->nr; i++)
			if (at >= truth->s[i].start && at < truth->s[i].end &&
			    (!best || truth->s[i].start > best->start))
				best = &truth->s[i];
		for (uint64_t offset = at; !s && bias < 0x1000000; bias += 0x1000)
			if (image_address(im, offset - bias) == at)
				s = image_symbol_at(im, offset - bias);
		ck_assert_msg(s && image_address(im, s->start) == best->start,
			      "seed %llu: %s at 0x%llx is %s", (unsigned long long)seed,
			      best->raw, (unsigned long long)at,
			      s ? s->name : "nothing");
		for (size_t i = 0; i < truth->nr; i++)
			ends |= truth->s[i].start == best->start &&
				truth->s[i].end - truth->s[i].start ==
					s->end - s->start;
		ck_assert(ends);
		hits++;
	}
	ck_assert_int_gt(hits, 0);
	image_close(im);
	elf_end(elf);
	close(fd);
out:
	free(truth);
	free((char *)path);
}
END_TEST

static struct image_desc identity_of(const char *name)
{
	struct image_desc desc = { .kind = IMAGE_FILE, .name = fixture(name) };
	struct stat st;

	ck_assert_int_eq(stat(desc.name, &st), 0);
	desc.size = (uint64_t)st.st_size;
	desc.mtime_ns = (uint64_t)st.st_mtim.tv_sec * NSEC_PER_SEC +
			(uint64_t)st.st_mtim.tv_nsec;
	return desc;
}

/* The build id is what "readelf -n" says; here: the last 20 bytes of the note. */
static void read_build_id(const char *name, struct image_desc *desc)
{
	static const char note[] = "\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU";
	struct buf b = fixture_bytes(name);
	char *at = memmem(b.data, b.len, note, sizeof(note));

	ck_assert_ptr_nonnull(at);
	memcpy(desc->build_id, at + sizeof(note), 20);
	desc->build_id_size = 20;
	buf_fini(&b);
}

START_TEST(only_the_file_that_was_profiled_is_opened)
{
	struct image_desc desc = identity_of("x86-lazy");
	struct image *im = NULL;

	ck_assert_int_eq(image_open(&desc, NULL, &im), 0);
	image_close(im);
	im = NULL;
	desc.mtime_ns++;
	ck_assert_int_eq(image_open(&desc, NULL, &im), -CPI_EMISMATCH);
	read_build_id("x86-lazy", &desc); /* counts for more than the time */
	ck_assert_int_eq(image_open(&desc, NULL, &im), 0);
	image_close(im);
	im = NULL;
	desc.build_id[19] ^= 1;
	ck_assert_int_eq(image_open(&desc, NULL, &im), -CPI_EMISMATCH);
	desc.build_id[19] ^= 1;
	desc.build_id_size = 19;
	ck_assert_int_eq(image_open(&desc, NULL, &im), -CPI_EMISMATCH);
	ck_assert_ptr_null(im);
}
END_TEST

START_TEST(what_is_no_elf_file_is_refused)
{
	char dir[] = "/tmp/cpi-image-XXXXXX", path[64];
	struct image_desc desc = { .kind = IMAGE_FILE, .name = path };
	struct image *im = NULL;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/x", dir);
	ck_assert_int_eq(image_open(&desc, NULL, &im), -ENOENT);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(image_open(&desc, NULL, &im), -ENODEV);
	unlink(path);
	ck_assert_int_eq(symlink(fixture("x86-lazy"), path), 0);
	ck_assert_int_eq(image_open(&desc, NULL, &im), -ELOOP);
	unlink(path);
	ck_assert_int_eq(image_open(&desc, dir, &im), -ENODEV);
	ck_assert_int_eq(image_open(&desc, fixture("README.md"), &im), -CPI_EFORMAT);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	ck_assert_int_eq(image_open(&desc, NULL, &im), -CPI_EFORMAT);
	unlink(path);
	rmdir(dir);
	ck_assert_int_eq(fixture_open_bytes(ELFMAG, SELFMAG, &im), -CPI_ECORRUPT);
	ck_assert_ptr_null(im);
}
END_TEST

START_TEST(code_is_read_as_it_is_in_the_file)
{
	struct image *im = fixture_open("x86-lazy");
	struct buf b = fixture_bytes("x86-lazy");
	uint8_t code[16];

	ck_assert_int_eq(image_read(im, 0x400, code, 16), 0);
	ck_assert_mem_eq(code, b.data + 0x400, 16);
	ck_assert_int_eq(image_read(im, b.len - 8, code, 16), -CPI_ENOCODE);
	ck_assert_int_eq(image_read(im, UINT64_MAX - 4, code, 16), -CPI_ENOCODE);
	ck_assert_uint_eq(image_address(im, UINT64_MAX), UINT64_MAX);
	ck_assert_int_eq(image_machine(im), MACHINE_X86_64);
	image_close(im);
	buf_fini(&b);
}
END_TEST

START_TEST(a_captured_kernel_has_its_symbols_and_pieces_of_code)
{
	static const struct capture_symbol symbols[] = {
		{ 0x20, 0x10, "do_syscall_64" },
		{ 0x30, 0, "without_size" },
		{ 0x40, 0x10, "last" },
	};
	static const struct capture_code codes[] = {
		{ 0x20, 4, (const uint8_t *)"\1\2\3\4" },
		{ 0x24, 4, (const uint8_t *)"\5\6\7\10" },
	};
	struct image_desc desc = { .kind = IMAGE_KERNEL, .name = "[kernel]" };
	uint8_t code[8];
	struct image *im;

	ck_assert_int_eq(image_open_capture(&desc, MACHINE_X86_64, symbols, 3, codes, 2,
					    &im),
			 0);
	ck_assert_str_eq(image_symbol_at(im, 0x2f)->name, "do_syscall_64");
	ck_assert_str_eq(image_symbol_at(im, 0x3f)->name, "without_size");
	ck_assert_ptr_null(image_symbol_at(im, 0x50));
	ck_assert_uint_eq(named(im, "last")->end, 0x50);
	ck_assert_int_eq(image_read(im, 0x20, code, 8), 0);
	ck_assert_mem_eq(code, "\1\2\3\4\5\6\7\10", 8);
	ck_assert_int_eq(image_read(im, 0x21, code, 8), -CPI_ENOCODE);
	ck_assert_int_eq(image_read(im, 0x1f, code, 2), -CPI_ENOCODE);
	ck_assert_uint_eq(image_address(im, 0x20), 0x20);
	ck_assert_ptr_null(image_line_at(im, 0x20).file);
	ck_assert_int_eq(image_machine(im), MACHINE_X86_64);
	ck_assert_str_eq(image_desc(im)->name, "[kernel]");
	image_close(im);
}
END_TEST

START_TEST(a_captured_vdso_is_a_whole_file)
{
	struct buf b = fixture_bytes("x86-vdso");
	struct capture_code code = { 0, b.len, (const uint8_t *)b.data };
	struct capture_symbol symbol = { 8, 4, "captured_too" };
	struct image_desc desc = { .kind = IMAGE_VDSO, .name = "[vdso]" };
	uint8_t bytes[4];
	struct image *im;

	ck_assert_int_eq(image_open_capture(&desc, MACHINE_X86_64, &symbol, 1, &code, 1,
					    &im),
			 0);
	ck_assert_ptr_eq(image_symbol_at(im, named(im, "via_increment")->start),
			 named(im, "via_increment"));
	ck_assert_str_eq(image_symbol_at(im, 8)->name, "captured_too");
	ck_assert_int_eq(image_read(im, 0, bytes, 4), 0);
	ck_assert_mem_eq(bytes, ELFMAG, 4);
	image_close(im);
	/* A piece that is none is read as a piece. */
	code.size = 10;
	ck_assert_int_eq(
		image_open_capture(&desc, MACHINE_X86_64, NULL, 0, &code, 1, &im), 0);
	ck_assert_int_eq(image_read(im, 0, bytes, 4), 0);
	ck_assert_ptr_null(image_symbol_at(im, 0));
	image_close(im);
	buf_fini(&b);
}
END_TEST

START_TEST(machines_have_the_names_that_uname_gives)
{
	ck_assert_int_eq(machine_of("x86_64"), MACHINE_X86_64);
	ck_assert_int_eq(machine_of("aarch64"), MACHINE_AARCH64);
	ck_assert_int_eq(machine_of("riscv64"), MACHINE_UNKNOWN);
	image_close(NULL);
}
END_TEST

static Suite *image_suite(void)
{
	Suite *s = suite_create("image");
	TCase *tc = tcase_create("image");

	tcase_set_timeout(tc, 600);
	tcase_add_loop_test(tc, every_procedure_of_the_source_is_found, 0,
			    NR(programs));
	tcase_add_loop_test(tc, labels_and_noise_are_no_procedures, 0, NR(programs));
	tcase_add_loop_test(tc, symbols_ascend_and_none_is_empty, 0, NR(programs));
	tcase_add_loop_test(tc, calls_go_to_stubs_with_the_callees_names, 0,
			    NR(programs));
	tcase_add_test(tc, a_stub_that_a_resolver_fills_has_its_name);
	tcase_add_loop_test(tc, stripped_files_have_procedures_named_by_offset, 0,
			    NR(strips));
	tcase_add_test(tc, without_section_headers_there_are_still_procedures);
	tcase_add_loop_test(tc, procedures_have_the_lines_of_the_source, 0,
			    NR(with_lines));
	tcase_add_test(tc, without_debugging_information_there_are_no_lines);
	tcase_add_loop_test(tc, lookups_agree_with_a_scan_of_the_symbol_tables, 0,
			    NR(agreeing));
	tcase_add_test(tc, only_the_file_that_was_profiled_is_opened);
	tcase_add_test(tc, what_is_no_elf_file_is_refused);
	tcase_add_test(tc, code_is_read_as_it_is_in_the_file);
	tcase_add_test(tc, a_captured_kernel_has_its_symbols_and_pieces_of_code);
	tcase_add_test(tc, a_captured_vdso_is_a_whole_file);
	tcase_add_test(tc, machines_have_the_names_that_uname_gives);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(image_suite)
