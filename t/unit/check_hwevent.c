/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_hwevent.c - events of PMUs, on machines as sysfs describes them
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "daemon/collect/event.h"
#include "daemon/collect/eventperiod.h"
#include "daemon/collect/hwevent.h"
#include "daemon/collect/pmu.h"
#include "t/unit/unit.h"

#define CLOCK_HZ 2000000000

/* ---- sysfs of a machine ---- */

static char sysfs[64];

static void make_file(const char *path, const char *value)
{
	char file[256];
	int fd;

	snprintf(file, sizeof(file), "%s/bus/event_source/devices/%s", sysfs, path);
	for (char *slash = file + strlen(sysfs) + 1; (slash = strchr(slash, '/'));
	     slash++) {
		*slash = '\0';
		mkdir(file, 0755);
		*slash = '/';
	}
	fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(file_write(fd, value, strlen(value)), 0);
	close(fd);
}

static void make_machine(const char *name)
{
	const char *folder = getenv("srcdir");
	struct buf text = { 0 };
	char file[512], *line, *rest;

	strcpy(sysfs, "/tmp/check_hwevent.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(sysfs));
	if (!name)
		return;
	snprintf(file, sizeof(file), "%s/t/fixtures/sysfs/%s.txt",
		 folder ? folder : ".", name);
	ck_assert_int_eq(file_read_all(AT_FDCWD, file, 65536, &text), 0);
	buf_putc(&text, '\0');
	for (rest = text.data; (line = strsep(&rest, "\n")) && *line;) {
		char *path = strsep(&line, " ");

		make_file(path, line);
	}
	buf_fini(&text);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	return remove(path);
}

static void remove_machine(void)
{
	ck_assert_int_eq(nftw(sysfs, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* ---- events ---- */

#define BIT(n) (1ULL << (n))

static const struct {
	const char *machine, *spec;
	uint32_t type;
	uint64_t config, config1, config2;
	int precise;
	enum event_record record;
	uint64_t period; /* at 1 kHz */
} events[] = {
	{ "amd-zen4", "ibs_op", 11, 0, 0, 0, 0, EVENT_RECORDS_IBS_OP, 2000000 },
	{ "amd-zen4", "ibs_op/cnt_ctl=1/", 11, BIT(19), 0, 0, 0, EVENT_RECORDS_IBS_OP,
	  2000000 },
	{ "amd-zen4", "ibs_op/cnt_ctl=1,l3missonly/u@100007", 11, BIT(19) | BIT(16), 0,
	  1, 0, EVENT_RECORDS_IBS_OP, 100000 }, /* a multiple of 16 */
	{ "amd-zen4", "ibs_op:k@1", 11, 0, 0, 1, 0, EVENT_RECORDS_IBS_OP, 0x90 },
	{ "amd-zen4", "ibs_fetch", 10, BIT(57), 0, 0, 0, EVENT_RECORDS_IBS_FETCH,
	  2000000 },
	{ "amd-zen4", "ibs_fetch/rand_en=0/", 10, 0, 0, 0, 0, EVENT_RECORDS_IBS_FETCH,
	  2000000 },
	{ "amd-zen4", "cycles:pp", 11, 0, 0, 0, 0, EVENT_RECORDS_IBS_OP, 2000000 },
	{ "amd-zen4", "r0c1:p", 11, BIT(19), 0, 0, 0, EVENT_RECORDS_IBS_OP, 2000000 },
	{ "amd-zen4", "cpu/event=0x1c2,umask=0xff/", 4, 0x10000ffc2, 0, 0, 0,
	  EVENT_RECORDS_NOTHING, 100000 },
	{ "amd-zen3", "ibs_op", 10, 0, 0, 0, 0, EVENT_RECORDS_IBS_OP, 2000000 },
	{ "neoverse-n1", "arm_spe", 8, BIT(0) | BIT(16), 0, 0, 0, EVENT_RECORDS_SPE,
	  2000000 },
	{ "neoverse-n1", "arm_spe@5", 8, BIT(0) | BIT(16), 0, 0, 0, EVENT_RECORDS_SPE,
	  1024 },
	{ "neoverse-n1", "arm_spe_1@5", 9, 0, 0, 0, 0, EVENT_RECORDS_SPE, 256 },
	{ "neoverse-n1",
	  "arm_spe/jitter=0,load_filter,min_latency=100,event_filter=2/u", 8,
	  BIT(0) | BIT(33), 2, 100, 0, EVENT_RECORDS_SPE, 2000000 },
	{ "intel-spr", "cycles:ppp", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, 0,
	  3, EVENT_RECORDS_PEBS, 2000000 },
	{ "intel-spr", "cpu/mem-loads,ldlat=30/pp", 4, 0x1cd, 30, 0, 2,
	  EVENT_RECORDS_PEBS, 100000 },
	{ "intel-spr", "cpu/mem-loads/", 4, 0x1cd, 3, 0, 0, EVENT_RECORDS_NOTHING,
	  100000 },
	{ "intel-spr", "cycles+branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES,
	  0, 0, 0, EVENT_RECORDS_NOTHING, 2000000 },
	{ "intel-spr", "cycles:pp+branches@100003", PERF_TYPE_HARDWARE,
	  PERF_COUNT_HW_CPU_CYCLES, 0, 0, 2, EVENT_RECORDS_PEBS, 100003 },
	{ "intel-spr", "r1c4:u+branches", PERF_TYPE_RAW, 0x1c4, 0, 0, 0,
	  EVENT_RECORDS_NOTHING, 100000 },
};

START_TEST(events_are_what_the_machines_sysfs_says)
{
	struct perf_event_attr attr = { .type = 0 };
	struct event e;

	make_machine(events[_i].machine);
	ck_assert_int_eq(event_parse_in(sysfs, events[_i].spec, CLOCK_HZ, &e), 0);
	remove_machine();
	event_attr(&e, &attr);
	ck_assert_uint_eq(attr.type, events[_i].type);
	ck_assert_uint_eq(attr.config, events[_i].config);
	ck_assert_uint_eq(attr.config1, events[_i].config1);
	ck_assert_uint_eq(attr.config2, events[_i].config2);
	ck_assert_uint_eq(attr.precise_ip, events[_i].precise);
	ck_assert_int_eq(e.record, events[_i].record);
	ck_assert_int_eq(e.branches, strstr(events[_i].spec, "+branches") != NULL);
	ck_assert_uint_eq(attr.branch_sample_type,
			  e.branches ? PERF_SAMPLE_BRANCH_ANY : 0);
	ck_assert_ptr_null(strchr(e.name, '+'));
	ck_assert_int_eq(e.landing, e.record ? LANDING_PRECISE : LANDING_AFTER_GROUP);
	ck_assert_uint_eq(event_period(&e, 1000), events[_i].period);
	/* what tags at dispatch measures no time */
	if (e.record && e.record != EVENT_RECORDS_PEBS)
		ck_assert_int_eq(e.unit, EVENT_EVENTS);
}
END_TEST

/* Such as a filter by mode of a kernel that has none. */
static const struct {
	const char *machine, *spec;
} refused[] = {
	{ "amd-zen4", "instructions:p" },
	{ "amd-zen4", "ibs_op/cnt_ctl=2/" },
	{ "amd-zen4", "ibs_op/cnt_ctl=x/" },
	{ "amd-zen4", "ibs_op/cnt_ctl=/" },
	{ "amd-zen4", "ibs_op/rand_en=1/" },
	{ "amd-zen4", "ibs_op/cnt_ctl=1" },
	{ "amd-zen4", "ibs_op/../cpu/" },
	{ "amd-zen4", "../ibs_op/cnt_ctl/" },
	{ "amd-zen4", "arm_spe" },
	{ "amd-zen3", "ibs_op:u" },
	{ "amd-zen3", "cycles:pu" },
	{ "neoverse-n1", "arm_spe/min_latency=4096/" },
	{ "neoverse-n1", "ibs_op" },
	{ "intel-spr", "cpu/event=0xcd,mem-nothing/" },
	{ "intel-spr", "cpu-clock:p" },
	{ "intel-spr", "ticks:p" },
	{ "intel-spr", "ibs_fetch" },
	{ "intel-spr", "cpu-clock+branches" },
	{ "intel-spr", "ticks+branches" },
	{ "intel-spr", "cycles+branch" },
	{ "amd-zen4", "cycles+branches" },
	{ "amd-zen4", "ibs_op+branches" },
	{ "neoverse-n1", "arm_spe+branches" },
	{ NULL, "cycles+branches" },
	{ NULL, "ibs_op" },
	{ NULL, "arm_spe_0/ts_enable=1/" },
};

START_TEST(events_that_a_machine_does_not_have_are_refused)
{
	struct event e = { .type = 12345 };

	make_machine(refused[_i].machine);
	ck_assert_int_eq(event_parse_in(sysfs, refused[_i].spec, CLOCK_HZ, &e),
			 -EINVAL);
	remove_machine();
	ck_assert_uint_eq(e.type, 12345);
}
END_TEST

START_TEST(whatever_period_is_drawn_the_hardware_takes_it)
{
	struct event e;

	make_machine("amd-zen4");
	ck_assert_int_eq(event_parse_in(sysfs, "ibs_op", 0, &e), 0);
	remove_machine();
	for (uint64_t period = 0; period < 100000; period += 7) {
		uint64_t rounded = event_round_period(&e, period);

		ck_assert_uint_eq(rounded % 16, 0);
		ck_assert_uint_ge(rounded, 0x90);
		ck_assert(rounded == 0x90 ||
			  (rounded <= period + 8 && period <= rounded + 8));
	}
	ck_assert_uint_ge(event_round_period(&e, UINT64_MAX), UINT64_MAX - 15);
	ck_assert_uint_ge(event_period(&e, 1e-300), EVENT_MAX_PERIOD - 15);
	ck_assert_uint_le(event_period(&e, 1e-300), EVENT_MAX_PERIOD + 15);
}
END_TEST

/* ---- formats, which are other people's text ---- */

static const struct {
	const char *format;
	uint64_t value;
	int err;
	uint64_t config[PMU_CONFIGS];
} formats[] = {
	{ "config:0-7\n", 0xab, 0, { 0xab } },
	{ "config:4-7,32-35", 0xab, 0, { 0xa000000b0 } },
	{ "config1:0-63", UINT64_MAX, 0, { 0, UINT64_MAX } },
	{ "config2:63", 1, 0, { 0, 0, BIT(63) } },
	{ "config:0-7", 0x100, -ERANGE, { 0 } },
	{ "config3:0", 1, -EBADMSG, { 0 } },
	{ "config:64", 1, -EBADMSG, { 0 } },
	{ "config:7-0", 1, -EBADMSG, { 0 } },
	{ "config:0-64", 1, -EBADMSG, { 0 } },
	{ "config:", 1, -EBADMSG, { 0 } },
	{ "config:1,", 1, -EBADMSG, { 0 } },
	{ "config:1;2", 1, -EBADMSG, { 0 } },
	{ "config", 1, -EBADMSG, { 0 } },
	{ "configx:1", 1, -EBADMSG, { 0 } },
	{ "", 1, -EBADMSG, { 0 } },
	{ "config:99999999999999999999", 1, -EBADMSG, { 0 } },
};

START_TEST(a_format_places_bits_or_is_refused)
{
	uint64_t config[PMU_CONFIGS] = { 0 };
	struct pmu p;

	make_machine(NULL);
	make_file("x/type", "7\n");
	make_file("x/format/term", formats[_i].format);
	ck_assert_int_eq(pmu_find(sysfs, "x", &p), 0);
	ck_assert_int_eq(pmu_set_term(&p, "term", formats[_i].value, config),
			 formats[_i].err);
	for (int i = 0; i < PMU_CONFIGS; i++)
		ck_assert_uint_eq(config[i], formats[_i].config[i]);
	remove_machine();
}
END_TEST

START_TEST(a_pmu_without_a_number_for_a_type_is_refused)
{
	struct pmu p = { .type = 1 };

	make_machine(NULL);
	ck_assert_int_eq(pmu_find(sysfs, "x", &p), -ENOENT);
	make_file("x/type", "seven\n");
	ck_assert_int_eq(pmu_find(sysfs, "x", &p), -EBADMSG);
	make_file("x/type", "4294967296\n");
	ck_assert_int_eq(pmu_find(sysfs, "x", &p), -EBADMSG);
	ck_assert_uint_eq(p.type, 1);
	make_file("y_10/type", "10");
	make_file("y_9/type", "9");
	make_file("y_z/type", "11");
	ck_assert_int_eq(pmu_find(sysfs, "y", &p), 0);
	ck_assert_uint_eq(p.type, 9);
	remove_machine();
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("hwevent");
	TCase *tc = tcase_create("hwevent");

	tcase_add_loop_test(tc, events_are_what_the_machines_sysfs_says, 0, NR(events));
	tcase_add_loop_test(tc, events_that_a_machine_does_not_have_are_refused, 0,
			    NR(refused));
	tcase_add_test(tc, whatever_period_is_drawn_the_hardware_takes_it);
	tcase_add_loop_test(tc, a_format_places_bits_or_is_refused, 0, NR(formats));
	tcase_add_test(tc, a_pmu_without_a_number_for_a_type_is_refused);
	suite_add_tcase(suite, tc);
	return suite;
}

UNIT_MAIN(make_suite)
