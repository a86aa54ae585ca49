/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_collect.c - the daemon's small parts: names, lists, files
 */
#include "config.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/times.h"
#include "daemon/attribute/tally.h"
#include "daemon/collect/event.h"
#include "daemon/mappings/procscan.h"
#include "daemon/os/cpus.h"
#include "daemon/os/perfev.h"
#include "daemon/os/procroot.h"
#include "daemon/procmap/kernel.h"
#include "decode/elfid.h"
#include "t/unit/unit.h"
#include "t/unit/unit_images.h"

static const struct {
	const char *list;
	int nr, highest; /* nr 0: refused */
} cpu_lists[] = {
	{ "0\n", 1, 0 },     { "0-3\n", 4, 3 },   { "0-1,4,6-7", 5, 7 },
	{ "5,5,5-5", 1, 5 }, { "4095", 1, 4095 }, { "", 0, 0 },
	{ "4096", 0, 0 },    { "3-1", 0, 0 },     { "0-", 0, 0 },
	{ "a", 0, 0 },       { "1 2", 0, 0 },     { "-1", 0, 0 },
};

START_TEST(cpu_lists_are_read)
{
	struct cpus cpus = { .nr = -1 };
	int err = cpus_parse(cpu_lists[_i].list, &cpus);

	if (!cpu_lists[_i].nr) {
		ck_assert_int_eq(err, -EINVAL);
		ck_assert_int_eq(cpus.nr, -1);
		return;
	}
	ck_assert_int_eq(err, 0);
	ck_assert_int_eq(cpus.nr, cpu_lists[_i].nr);
	ck_assert_int_eq(cpus.highest, cpu_lists[_i].highest);
}
END_TEST

static const struct {
	const char *spec;
	int err;
	uint32_t type;
	uint64_t config;
	bool no_user, no_kernel;
	uint64_t period_at_1khz;
} events[] = {
	{ "cpu-clock", 0, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false, false,
	  1000000 },
	{ "cycles", 0, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, false,
	  2000000 },
	{ "cycles:u", 0, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, true,
	  2000000 },
	{ "instructions:k", 0, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, true,
	  false, 2000000 },
	{ "page-faults@100", 0, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false,
	  false, 100 },
	{ "cs", 0, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, false, false,
	  100 },
	{ "r1b2:u@5000", 0, PERF_TYPE_RAW, 0x1b2, false, true, 5000 },
	{ "cpu-clock@", -EINVAL, 0, 0, false, false, 0 },
	{ "cpu-clock@0", -EINVAL, 0, 0, false, false, 0 },
	{ "cpu-clock@-5", -EINVAL, 0, 0, false, false, 0 },
	{ "cpu-clock@18446744073709551615", -EINVAL, 0, 0, false, false, 0 },
	{ "cpu-clock@18446744073709551616", -EINVAL, 0, 0, false, false, 0 },
	{ "r11112222333344445", -EINVAL, 0, 0, false, false, 0 },
	{ "r-5", -EINVAL, 0, 0, false, false, 0 },
	{ "cpu-clock:", -EINVAL, 0, 0, false, false, 0 },
	{ "cpu-clock:x", -EINVAL, 0, 0, false, false, 0 },
	{ "no-such-event", -EINVAL, 0, 0, false, false, 0 },
	{ "ticks:u", -EINVAL, 0, 0, false, false, 0 },
	{ "ticks@1000", -EINVAL, 0, 0, false, false, 0 },
	{ "ticks@", -EINVAL, 0, 0, false, false, 0 },
	{ "tick", -EINVAL, 0, 0, false, false, 0 },
	{ "", -EINVAL, 0, 0, false, false, 0 },
};

START_TEST(event_names_are_perfs)
{
	struct event e;

	ck_assert_int_eq(event_parse(events[_i].spec, 2000000000, &e), events[_i].err);
	if (events[_i].err)
		return;
	ck_assert_uint_eq(e.type, events[_i].type);
	ck_assert_uint_eq(e.config, events[_i].config);
	ck_assert_int_eq(e.exclude_user, events[_i].no_user);
	ck_assert_int_eq(e.exclude_kernel, events[_i].no_kernel);
	ck_assert_uint_eq(event_period(&e, 1000), events[_i].period_at_1khz);
}
END_TEST

/* Each becomes a sampling period, so an unknown clock rate must not make it 1. */
START_TEST(a_rate_without_a_known_clock_is_no_interrupt_per_event)
{
	static const char *const names[] = { "cycles", "instructions", "cpu-clock" };
	struct event e;

	ck_assert_int_eq(event_parse(names[_i], 0, &e), 0);
	ck_assert_uint_ge(event_period(&e, 1000), 10000);
}
END_TEST

/* No kernel has another CONFIG_HZ than these. */
START_TEST(ticks_come_at_the_kernels_rate_whatever_is_asked_for)
{
	static const uint64_t hz[] = { 24,  48,  64,  100,  128,  200, 250,
				       256, 300, 500, 1000, 1024, 1200 };
	struct event e;
	size_t i = 0;

	ck_assert_int_eq(event_parse("ticks", 2000000000, &e), 0);
	ck_assert(event_is_ticks(&e));
	ck_assert_int_eq(e.unit, EVENT_NS);
	ck_assert(!e.exclude_kernel && !e.exclude_user);
	ck_assert_uint_eq(event_period(&e, 10), event_period(&e, 10000));
	while (i < NR(hz) && (NSEC_PER_SEC + hz[i] / 2) / hz[i] != e.period)
		i++;
	ck_assert_msg(i < NR(hz), "a tick per %llu ns", (unsigned long long)e.period);
	ck_assert_int_eq(event_parse("cpu-clock", 0, &e), 0);
	ck_assert(!event_is_ticks(&e));
}
END_TEST

static const struct {
	const char *line;
	int err;
	uint64_t start, end, offset_of_start, inode;
	const char *name;
} maps_lines[] = {
	{ "55d0c0a00000-55d0c0a80000 r-xp 0002a000 fe:01 1234  /usr/bin/a b\n", 0,
	  0x55d0c0a00000, 0x55d0c0a80000, 0x2a000, 1234, "/usr/bin/a b" },
	{ "7fff1000-7fff2000 r-xp 00000000 00:00 0      [vdso]\n", 0, 0x7fff1000,
	  0x7fff2000, 0, 0, "[vdso]" },
	{ "1000-2000 rwxp 00000000 00:00 0 \n", 0, 0x1000, 0x2000, 0, 0, "" },
	{ "1000-2000 rw-p 00000000 00:00 0 [heap]\n", -ENOENT, 0, 0, 0, 0, NULL },
	{ "2000-1000 r-xp 00000000 00:00 0 x\n", -EINVAL, 0, 0, 0, 0, NULL },
	{ "rubbish\n", -EINVAL, 0, 0, 0, 0, NULL },
	{ "", -EINVAL, 0, 0, 0, 0, NULL },
};

START_TEST(lines_of_proc_maps_are_read)
{
	struct procscan_line l;
	char line[256];

	strcpy(line, maps_lines[_i].line);
	ck_assert_int_eq(procscan_parse(line, &l), maps_lines[_i].err);
	if (maps_lines[_i].err)
		return;
	ck_assert_uint_eq(l.range.start, maps_lines[_i].start);
	ck_assert_uint_eq(l.range.end, maps_lines[_i].end);
	ck_assert_uint_eq(l.range.start + l.range.bias, maps_lines[_i].offset_of_start);
	ck_assert_uint_eq(l.source.inode, maps_lines[_i].inode);
	ck_assert_str_eq(l.name, maps_lines[_i].name);
}
END_TEST

static const char kallsyms[] = "ffffffff81000000 T _stext\n"
			       "ffffffff81000000 T _text\n"
			       "ffffffff81000000 T startup_64\n"
			       "ffffffff81000100 t default_idle\n"
			       "ffffffff81000140 T __do_work\n"
			       "ffffffff81000140 T do_work\n"
			       "ffffffff81000200 D some_data\n"
			       "ffffffff81000300 t do_more\n"
			       "ffffffff81001000 T _etext\n"
			       "ffffffff82000000 T init_function\n"
			       "ffffffffc0000000 t bpf_prog_6deef7357e7b4530_x\t[bpf]\n"
			       "not a line\n";

static const struct {
	uint64_t pc;
	const char *name; /* NULL: none */
	const char *image;
	uint64_t offset;
	bool idle;
} kernel_pcs[] = {
	{ 0xffffffff81000000, "startup_64", "[kernel]", 0, false },
	{ 0xffffffff810000ff, "startup_64", "[kernel]", 0xff, false },
	{ 0xffffffff81000100, "default_idle", "[kernel]", 0x100, true },
	{ 0xffffffff81000250, "do_work", "[kernel]", 0x250, false },
	{ 0xffffffff81000fff, "do_more", "[kernel]", 0xfff, false },
	{ 0xffffffff81001000, NULL, NULL, 0, false },
	{ 0xffffffff82000000, NULL, NULL, 0, false },
	{ 0xffffffffc0000010, "bpf_prog_6deef7357e7b4530_x",
	  "bpf_prog_6deef7357e7b4530_x", 0x10, false },
	{ 0xffff800000000000, NULL, NULL, 0, false },
#ifdef __x86_64__
	{ 0xffffffffff600400, "vsyscall_time", "[vsyscall]", 0x400, false },
	{ 0xffffffffff600fff, "vsyscall_getcpu", "[vsyscall]", 0xfff, false },
	{ 0xffffffffff601000, NULL, NULL, 0, false },
#endif
};

START_TEST(kernel_addresses_get_symbols)
{
	static const struct image_source none;
	struct images *im = images_new(NULL);
	struct kernel *k = kernel_new(im, &none);
	struct kernel_symbol s, captured;
	char *text = strdup(kallsyms);
	bool found;

	ck_assert_int_eq(kernel_parse(k, text), 0);
	found = kernel_find(k, kernel_pcs[_i].pc, &s);
	ck_assert_msg(!found == !kernel_pcs[_i].name, "%llx",
		      (unsigned long long)kernel_pcs[_i].pc);
	if (found) {
		const uint64_t offset = kernel_pcs[_i].offset;

		ck_assert_str_eq(s.name, kernel_pcs[_i].name);
		ck_assert_str_eq(s.image->desc.name, kernel_pcs[_i].image);
		ck_assert_uint_eq(kernel_pcs[_i].pc - s.base, offset);
		ck_assert_int_eq(s.idle, kernel_pcs[_i].idle);
		ck_assert_int_eq(kernel_capture(k, s.image, offset, &captured), 1);
		ck_assert_uint_eq(captured.start, s.start);
		ck_assert_uint_eq(captured.end, s.end);
		ck_assert_int_eq(kernel_capture(k, s.image, offset, &captured), 0);
	}
	ck_assert_uint_eq(kernel_address_of(k, "do_more"), 0xffffffff81000300);
	ck_assert_uint_eq(kernel_address_of(k, "do_less"), 0);
	/* not of the kernel itself */
	ck_assert_uint_eq(kernel_address_of(k, "bpf_prog_6deef7357e7b4530_x"), 0);
	kernel_close(k);
	images_free(im);
	free(text);
}
END_TEST

/* Without _text, and with marks of where code and data begin. */
START_TEST(kernel_symbols_of_aarch64_are_read)
{
	static const struct image_source none;
	struct images *im = images_new(NULL);
	struct kernel *k = kernel_new(im, &none);
	struct kernel_symbol s;
	char text[] = "ffffa00852a10000 T _stext\n"
		      "ffffa00852a10000 t $x\n"
		      "ffffa00852a10090 t do_work\n"
		      "ffffa00852a10098 t $d\n"
		      "ffffa00852a100a0 t $x\n"
		      "ffffa008535e0000 D _etext\n";

	ck_assert_int_eq(kernel_parse(k, text), 0);
	ck_assert_int_eq(kernel_find(k, 0xffffa00852a100a4, &s), 1);
	ck_assert_str_eq(s.name, "do_work");
	ck_assert_uint_eq(s.base, 0xffffa00852a10000);
	ck_assert_int_eq(kernel_find(k, 0xffffa00852a10000, &s), 1);
	ck_assert_str_eq(s.name, "_stext");
	kernel_close(k);
	images_free(im);
}
END_TEST

/* If there is no limit, what else the kernel refused is explained. */
START_TEST(a_refused_ring_is_explained_by_the_limit_that_it_reached)
{
	struct rlimit limit;
	struct buf why = { 0 };

	ck_assert_int_eq(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
	limit.rlim_cur = 0;
	ck_assert_int_eq(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	perfev_explain_ring(-EPERM, &why);
	ck_assert_ptr_nonnull(strstr(buf_str(&why), "RLIMIT_MEMLOCK"));
	buf_reset(&why);
	perfev_explain_ring(-EACCES, &why);
	ck_assert_ptr_nonnull(strstr(buf_str(&why), "perf_event_paranoid"));
	buf_reset(&why);
	limit = (struct rlimit){ RLIM_INFINITY, RLIM_INFINITY };
	if (!setrlimit(RLIMIT_MEMLOCK, &limit)) { /* as root, or without a hard limit */
		perfev_explain_ring(-EPERM, &why);
		ck_assert_ptr_null(strstr(buf_str(&why), "RLIMIT_MEMLOCK"));
		ck_assert_ptr_nonnull(strstr(buf_str(&why), "perf_event_paranoid"));
	}
	buf_fini(&why);
}
END_TEST

/* Of the running kernel; where kallsyms hides its addresses, all are 0. */
START_TEST(an_address_is_known_before_all_symbols_are_read)
{
	struct images *im = images_new(NULL);
	struct kernel_symbol s;
	struct kernel *k;
	uint64_t address;

	ck_assert_int_eq(kernel_open(im, &k), 0);
	address = kernel_address_of(k, "schedule_timeout");
	ck_assert_int_eq(address != 0, kernel_idle_image(k) != NULL);
	ck_assert_uint_eq(kernel_address_of(k, "there_is_no_such_function"), 0);
	ck_assert_int_eq(kernel_find(k, address, &s), 0);
	/* also if the machine was started just now */
	ck_assert_int_eq(kernel_note_miss(k, 1), address != 0);
	kernel_read_noted(k);
	ck_assert_int_eq(kernel_note_miss(k, 1), 0);
	ck_assert_uint_eq(kernel_address_of(k, "schedule_timeout"), address);
	ck_assert_int_eq(kernel_find(k, address, &s), address != 0);
	if (address)
		ck_assert_str_eq(s.name, "schedule_timeout");
	kernel_close(k);
	images_free(im);
}
END_TEST

/* As an unprivileged reader sees it. */
START_TEST(hidden_kernel_addresses_give_no_symbols)
{
	static const struct image_source none;
	struct images *im = images_new(NULL);
	struct kernel *k = kernel_new(im, &none);
	struct kernel_symbol s;
	char text[] = "0000000000000000 T _text\n0000000000000000 T _etext\n"
		      "0000000000000000 t do_work\n";

	ck_assert_int_eq(kernel_parse(k, text), 0);
	ck_assert_int_eq(kernel_find(k, 0xffffffff81000000, &s), 0);
	ck_assert_ptr_null(kernel_idle_image(k));
	kernel_close(k);
	images_free(im);
}
END_TEST

static bool is_named(const struct kernel *k, uint64_t pc, const char *name)
{
	struct kernel_symbol s;

	return kernel_find(k, pc, &s) && !strcmp(s.name, name);
}

START_TEST(new_text_has_no_name_of_earlier_text)
{
	static const struct image_source none;
	struct images *im = images_new(NULL);
	struct kernel *k = kernel_new(im, &none);
	struct kernel_symbol s;
	char text[] = "ffffffff81000000 T _text\nffffffff81001000 t do_work\n"
		      "ffffffff82000000 T _etext\n"
		      "ffffffffc0001000 t bpf_prog_1_a\t[bpf]\n"
		      "ffffffffc0001100 t bpf_prog_2_b\t[bpf]\n"
		      "ffffffffc0001200 t bpf_prog_3_c\t[bpf]\n"
		      "ffffffffc0001300 t bpf_prog_4_d\t[bpf]\n";

	ck_assert_int_eq(kernel_parse(k, text), 0);
	kernel_text_changed(k, 0xffffffffc0001000, 0, 1); /* that it ended */
	ck_assert(is_named(k, 0xffffffffc0001000, "bpf_prog_1_a"));
	kernel_text_changed(k, 0xffffffffc0001100, 0x101, 1);
	ck_assert(is_named(k, 0xffffffffc0001000, "bpf_prog_1_a"));
	ck_assert(!kernel_find(k, 0xffffffffc0001110, &s));
	ck_assert(!kernel_find(k, 0xffffffffc0001210, &s));
	ck_assert(is_named(k, 0xffffffffc0001310, "bpf_prog_4_d"));
	/* behind a symbol: kallsyms does not say where that ends */
	ck_assert(is_named(k, 0xffffffffc0001390, "bpf_prog_4_d"));
	kernel_text_changed(k, 0xffffffffc0001380, 0x40, 1);
	ck_assert(is_named(k, 0xffffffffc0001310, "bpf_prog_4_d"));
	ck_assert(!kernel_find(k, 0xffffffffc0001390, &s));
	kernel_text_changed(k, 0xffffffff81001000, 0x100, 1);
	ck_assert(is_named(k, 0xffffffff81001010, "do_work"));
	ck_assert_uint_eq(kernel_address_of(k, "do_work"), 0xffffffff81001000);
	kernel_close(k);
	images_free(im);
}
END_TEST

/* Ten minutes in which each sample is in text that is not known: 200 and 600 ms. */
START_TEST(readings_of_kallsyms_take_little_time)
{
	const uint64_t begun_ns = time_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	const uint64_t now_ns = time_mono_ns();
	struct images *im = images_new(NULL);
	uint64_t ns, last_ns = 0;
	struct kernel *k;
	int nr = 0;

	ck_assert_int_eq(kernel_open(im, &k), 0);
	for (uint64_t s = 0; s < 600; s += 10) {
		const uint64_t before_ns = time_clock_ns(CLOCK_THREAD_CPUTIME_ID);

		kernel_text_changed(k, 0, 0, now_ns);
		if (!kernel_note_miss(k, now_ns + s * NSEC_PER_SEC))
			continue;
		kernel_read_noted(k);
		last_ns = time_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
		nr++;
	}
	ns = time_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun_ns;
	printf("# %d readings, %.3f s\n", nr, (double)ns / NSEC_PER_SEC);
	ck_assert_uint_lt(ns, 800 * NSEC_PER_MSEC + 3 * last_ns);
	kernel_close(k);
	images_free(im);
}
END_TEST

/* One that never had a name, one that runs, and one that is no regular file. */
START_TEST(a_file_is_found_by_its_mapping)
{
	struct stat st, found;
	int memfd = memfd_create("x", MFD_CLOEXEC), fd;

	ck_assert_int_eq(stat("/proc/self/exe", &st), 0);
	fd = procroot_open_mapped(getpid(), st.st_dev, st.st_ino, &found);
	ck_assert_int_ge(fd, 0);
	ck_assert_uint_eq(found.st_ino, st.st_ino);
	close(fd);
	ck_assert_int_eq(procroot_open_mapped(getpid(), st.st_dev, 1, &found), -ENOENT);

	ck_assert_int_eq(ftruncate(memfd, 4096), 0);
	ck_assert_ptr_ne(mmap(NULL, 4096, PROT_READ, MAP_SHARED, memfd, 0), MAP_FAILED);
	ck_assert_int_eq(fstat(memfd, &st), 0);
	close(memfd);
	fd = procroot_open_mapped(getpid(), st.st_dev, st.st_ino, &found);
	if (fd == -EPERM)
		return; /* without CAP_CHECKPOINT_RESTORE */
	ck_assert_int_ge(fd, 0);
	ck_assert_uint_eq(found.st_ino, st.st_ino);
	close(fd);
}
END_TEST

START_TEST(a_programs_identity_is_read)
{
	struct elfid id, again;
	uint8_t byte;
	char path[] = "/tmp/check_collect.XXXXXX";
	struct buf whole = { 0 };
	int fd;

	fd = open("/proc/self/exe", O_RDONLY);
	ck_assert_int_eq(elfid_read(fd, &id), 0);
	close(fd);
	ck_assert_int_eq(file_read_all(AT_FDCWD, "/proc/self/exe", 1 << 28, &whole), 0);
	fd = mkstemp(path);
	ck_assert_int_eq(file_write(fd, whole.data, whole.len), 0);
	ck_assert_int_eq(elfid_read(fd, &again), 0);
	ck_assert_mem_eq(&id, &again, sizeof(id));
	/* one byte of code changed, build id as before: another content */
	{
		const Elf64_Ehdr *h = (const void *)whole.data;
		const Elf64_Phdr *ph = (const void *)(whole.data + h->e_phoff);
		int i = 0;

		while (ph[i].p_type != PT_LOAD || !(ph[i].p_flags & PF_X))
			i++;
		byte = whole.data[ph[i].p_offset + 100] ^ 1;
		ck_assert_int_eq(pwrite(fd, &byte, 1, ph[i].p_offset + 100), 1);
	}
	ck_assert_int_eq(elfid_read(fd, &again), 0);
	ck_assert_mem_eq(id.build_id, again.build_id, BUILD_ID_MAX);
	ck_assert_mem_ne(id.content, again.content, CONTENT_HASH_SIZE);
	/* cut anywhere: an error or an identity, never a crash */
	for (size_t n = 0; n < 4096; n += 61) {
		ck_assert_int_eq(ftruncate(fd, n), 0);
		elfid_read(fd, &again);
	}
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	ck_assert_int_lt(elfid_read(fd, &again), 0);
	close(fd);
	unlink(path);
	buf_fini(&whole);
}
END_TEST

static const struct {
	uint32_t namesz, descsz, type;
	const char *name;
	size_t bytes; /* of the whole note */
	int want;
} notes[] = {
	{ 4, 20, NT_GNU_BUILD_ID, "GNU", 36, 0 },
	{ 4, 20, NT_GNU_BUILD_ID, "GNU", 35, -ENOENT }, /* cut */
	{ 4, 21, NT_GNU_BUILD_ID, "GNU", 40, -ENOENT }, /* too long */
	{ 4, 0, NT_GNU_BUILD_ID, "GNU", 16, -ENOENT },  /* empty */
	{ 4, 20, NT_GNU_ABI_TAG, "GNU", 36, -ENOENT },  /* another note */
	{ 4, 20, NT_GNU_BUILD_ID, "XYZ", 36, -ENOENT }, /* another owner */
	{ 0xffffffff, 20, NT_GNU_BUILD_ID, "GNU", 36, -ENOENT },
	{ 4, 0xffffffff, NT_GNU_BUILD_ID, "GNU", 36, -ENOENT },
};

START_TEST(build_ids_are_found_in_notes)
{
	uint8_t note[64] = { 0 }, id[BUILD_ID_MAX], size = 0;

	memcpy(note, &notes[_i], 12);
	memcpy(note + 12, notes[_i].name, 4);
	memset(note + 16, 0xab, 20);
	ck_assert_int_eq(elfid_from_notes(note, notes[_i].bytes, id, &size),
			 notes[_i].want);
	ck_assert_uint_eq(size, notes[_i].want ? 0 : 20);
}
END_TEST

START_TEST(images_are_known_once)
{
	struct image_source a = { .inode = 1 }, b = { .inode = 2 };
	struct images *im = images_new(NULL);
	struct known_image *x = images_get(im, "/bin/x", &a);

	ck_assert_ptr_eq(images_get(im, "/bin/x", &a), x);
	ck_assert_ptr_ne(images_get(im, "/bin/x", &b), x); /* replaced meanwhile */
	ck_assert_ptr_eq(images_get(im, "//anon", &a), images_get(im, "", &b));
	ck_assert_int_eq(images_get(im, "//anon", &a)->unknown, SAMPLE_ANONYMOUS);
	ck_assert_int_eq(images_get(im, "[heap]", &a)->unknown, SAMPLE_ANONYMOUS);
	ck_assert_int_eq(images_get(im, "[vsyscall]", &a)->unknown, SAMPLE_SPECIAL);
	ck_assert_int_eq(images_get(im, "[vdso]", &a)->desc.kind, IMAGE_VDSO);
	images_clear_marks(im);
	x->marked = true;
	images_sweep(im);
	ck_assert_uint_eq(images_nr(im), 1);
	ck_assert_ptr_eq(images_get(im, "/bin/x", &a), x);
	images_free(im);
}
END_TEST

/* A file that is not the mapped one any more gives its name, and nothing else. */
START_TEST(a_replaced_file_is_not_believed)
{
	struct image_source wrong = { .device = 1, .inode = 1 };
	struct images *im = unit_images();
	struct known_image *x;
	char exe[512];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	exe[n] = '\0';
	x = images_get(im, exe, &wrong);
	ck_assert_ptr_eq(images_resolve(im, x, getpid(), 0), x);
	ck_assert(image_is_resolved(x));
	ck_assert(!x->desc.has_content);
	ck_assert_int_eq(images_wrap(im, x, 0), -ENOENT);
	unit_images_free(im);
}
END_TEST

/* Of which no more can be opened. */
static void limit_files(rlim_t n, struct rlimit *before)
{
	struct rlimit l;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &l), 0);
	*before = l;
	l.rlim_cur = n;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &l), 0);
}

START_TEST(what_could_not_be_opened_for_a_shortage_is_tried_again)
{
	struct images *im = unit_images();
	struct image_source source = { 0 };
	struct rlimit before;
	struct known_image *x;
	char exe[512];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	struct stat st;

	exe[n] = '\0';
	ck_assert_int_eq(stat(exe, &st), 0);
	source.device = st.st_dev;
	source.inode = st.st_ino;
	x = images_get(im, exe, &source);
	limit_files(0, &before);
	ck_assert_ptr_eq(images_resolve(im, x, getpid(), 0), x);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert(!image_is_resolved(x));
	images_resolve(im, x, getpid(), 0); /* in the same round */
	ck_assert(!image_is_resolved(x));
	ck_assert_ptr_eq(images_find(im, x, getpid(), 0), x);
	images_next_round(im);
	images_resolve_noted(im); /* nobody who has it mapped is known yet */
	ck_assert(!image_is_resolved(x));
	ck_assert_ptr_eq(images_find(im, x, getpid(), 0), x);
	images_resolve_noted(im);
	ck_assert(image_is_resolved(x));
	ck_assert(x->desc.has_content);
	unit_images_free(im);
}
END_TEST

/* Copies this program to path, with one byte of its code changed by flip. */
static void write_program(const char *path, uint8_t flip)
{
	struct buf b = { 0 };
	const Elf64_Ehdr *h;
	const Elf64_Phdr *ph;
	int fd, i = 0;

	ck_assert_int_eq(file_read_all(AT_FDCWD, "/proc/self/exe", 1 << 28, &b), 0);
	h = (const void *)b.data;
	ph = (const void *)(b.data + h->e_phoff);
	while (ph[i].p_type != PT_LOAD || !(ph[i].p_flags & PF_X))
		i++;
	b.data[ph[i].p_offset + 64] ^= flip;
	fd = open(path, O_WRONLY | O_CREAT,
		  0700); /* in place: no O_TRUNC, same inode */
	ck_assert_int_eq(file_write(fd, b.data, b.len), 0);
	close(fd);
	buf_fini(&b);
}

/* Same inode, same path: what was mapped before and after are two images. */
START_TEST(a_file_written_over_in_place_is_another_image)
{
	char dir[] = "/tmp/check_collect.XXXXXX", path[64];
	struct image_source source = { 0 };
	struct images *im = unit_images();
	struct known_image *old, *now;
	uint64_t before, after;
	struct stat st;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/program", dir);
	write_program(path, 0);
	ck_assert_int_eq(stat(path, &st), 0);
	source.device = st.st_dev;
	source.inode = st.st_ino;
	old = images_get(im, path, &source);
	before = time_mono_ns();
	ck_assert_ptr_eq(images_resolve(im, old, getpid(), before), old);
	ck_assert(old->desc.has_content);

	while (time_mono_ns() < before + 20 * NSEC_PER_MSEC)
		; /* file systems stamp by the tick */
	write_program(path, 1);
	while (time_mono_ns() < before + 40 * NSEC_PER_MSEC)
		;
	after = time_mono_ns();
	images_next_round(im);
	images_get(im, path, &source); /* it was mapped anew: samples may follow */
	images_resolve_noted(im);
	ck_assert_ptr_eq(images_find(im, old, getpid(), before), old);
	now = images_find(im, old, getpid(), after);
	ck_assert_ptr_ne(now, old);
	images_resolve_noted(im);
	ck_assert(now->desc.has_content);
	ck_assert_mem_eq(now->desc.build_id, old->desc.build_id, BUILD_ID_MAX);
	ck_assert_mem_ne(now->desc.content, old->desc.content, CONTENT_HASH_SIZE);
	ck_assert_ptr_eq(images_get(im, path, &source), now);
	ck_assert_int_eq(images_wrap(im, old, 0), -ESTALE);

	images_clear_marks(im);
	old->marked = true;
	images_sweep(im);
	ck_assert_uint_eq(images_nr(im),
			  2); /* a successor stays with what it succeeds */
	unlink(path);
	rmdir(dir);
	unit_images_free(im);
}
END_TEST

START_TEST(more_images_than_are_kept_are_unknown_by_name)
{
	char name[5000];
	struct images *im = images_new(NULL);
	struct known_image *image, *last;
	size_t nr = 0;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	if (!_i)
		strcpy(name, "/bin/x");
	do {
		struct image_source source = { .device = 1, .inode = ++nr };

		image = images_get(im, name, &source);
		ck_assert_ptr_nonnull(image);
	} while (image->unknown == SAMPLE_KEPT);
	ck_assert_int_eq(image->unknown, SAMPLE_IMAGE_LIMIT);
	ck_assert_uint_eq(images_nr(im), nr);
	ck_assert_uint_gt(nr, _i ? IMAGES_MAX / 8 : IMAGES_MAX);
	ck_assert_uint_le(nr, IMAGES_MAX + 1);
	ck_assert_uint_le(nr * (sizeof(*image) + strlen(name)),
			  IMAGES_MAX_BYTES + (64 << 10));
	last = images_get(im, "/bin/another", &(struct image_source){ 0 });
	ck_assert_ptr_eq(last, image);
	ck_assert_int_eq(images_get(im, "//anon", &(struct image_source){ 0 })->unknown,
			 SAMPLE_ANONYMOUS);
	images_clear_marks(im);
	images_sweep(im);
	ck_assert_int_eq(
		images_get(im, "/bin/another", &(struct image_source){ 0 })->unknown,
		SAMPLE_KEPT);
	images_free(im);
}
END_TEST

START_TEST(a_tally_keeps_every_sample)
{
	uint64_t seed = unit_seed(), state = seed | 1, added = 0;
	struct image_source none = { 0 };
	struct images *im = images_new(NULL);
	struct known_image *image = images_get(im, "/bin/x", &none);
	struct tally *t = tally_new();

	for (int i = 0; i < 20000; i++) {
		uint64_t n = 1 + unit_random(&state) % 5;
		struct cpi_entry e = {
			cpi_entry_word0(unit_random(&state) % 500, i % 3,
					unit_random(&state) % 4),
			n << CPI_COUNT_SHIFT,
		};
		char comm[16];
		const char *contexts[NR_CONTEXT_KINDS] = { [CONTEXT_COMM] = comm };
		struct tally_run run = {
			.event = i % 3,
			.image = image,
			.comm = comm,
			.contexts = i % 2 ? contexts : NULL,
		};

		snprintf(comm, sizeof(comm), "c%d", i);
		added += n;
		if (i % 7)
			tally_add(t, &run, &e, 1);
		else
			tally_lose(t, i % 3, i % NR_LOSSES, n, comm);
	}
	ck_assert_uint_eq(tally_total(t), added);
	ck_assert_uint_le(t->comms.nr, TALLY_COMMS + 8);
	ck_assert_uint_eq(t->contexts.nr, TALLY_CONTEXTS + 1);
	ck_assert_uint_gt(t->crowded, 0);
	tally_drop(t, SAMPLE_NO_SPACE);
	ck_assert_uint_eq(tally_total(t), added);
	ck_assert_uint_eq(t->profiles.nr, 0);
	ck_assert_uint_gt(t->comms.nr, 0); /* of the losses that have commands */
	tally_free(t);
	images_free(im);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("collect");
	TCase *tc = tcase_create("collect");

	tcase_set_timeout(tc, 600); /* sanitizers, and memory to its bounds */
	tcase_add_loop_test(tc, cpu_lists_are_read, 0, NR(cpu_lists));
	tcase_add_test(tc, ticks_come_at_the_kernels_rate_whatever_is_asked_for);
	tcase_add_loop_test(tc, a_rate_without_a_known_clock_is_no_interrupt_per_event,
			    0, 3);
	tcase_add_loop_test(tc, event_names_are_perfs, 0, NR(events));
	tcase_add_loop_test(tc, lines_of_proc_maps_are_read, 0, NR(maps_lines));
	tcase_add_loop_test(tc, kernel_addresses_get_symbols, 0, NR(kernel_pcs));
	tcase_add_test(tc, kernel_symbols_of_aarch64_are_read);
	tcase_add_test(tc, an_address_is_known_before_all_symbols_are_read);
	tcase_add_test(tc, hidden_kernel_addresses_give_no_symbols);
	tcase_add_test(tc, new_text_has_no_name_of_earlier_text);
	tcase_add_test(tc, readings_of_kallsyms_take_little_time);
	tcase_add_test(tc, a_refused_ring_is_explained_by_the_limit_that_it_reached);
	tcase_add_test(tc, a_file_is_found_by_its_mapping);
	tcase_add_test(tc, a_programs_identity_is_read);
	tcase_add_loop_test(tc, build_ids_are_found_in_notes, 0, NR(notes));
	tcase_add_test(tc, images_are_known_once);
	tcase_add_test(tc, a_replaced_file_is_not_believed);
	tcase_add_test(tc, what_could_not_be_opened_for_a_shortage_is_tried_again);
	tcase_add_test(tc, a_file_written_over_in_place_is_another_image);
	tcase_add_loop_test(tc, more_images_than_are_kept_are_unknown_by_name, 0, 2);
	tcase_add_test(tc, a_tally_keeps_every_sample);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
