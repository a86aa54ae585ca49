/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whom processes belong to: cgroups and labels, told, read and handed down. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/mappings/cgroupevents.h"
#include "daemon/mappings/cgroups.h"
#include "daemon/mappings/labels.h"
#include "db/profile/context.h"
#include "t/unit/unit.h"
#include "t/unit/unit_images.h"

static struct procmap *pm;

static void setup(void)
{
	pm = procmap_new();
}

static void teardown(void)
{
	procmap_free(pm);
}

/* ---- the kinds ---- */

static const struct {
	const char *text;
	unsigned int kinds; /* 0: refused */
} kinds[] = {
	{ "comm", 1u << CONTEXT_COMM },
	{ "process,label", 1u << CONTEXT_PROCESS | 1u << CONTEXT_LABEL },
	{ "cgroup,cgroup", 1u << CONTEXT_CGROUP },
	{ "comm,none", 0 },
	{ "", 0 },
	{ ",", 0 },
	{ "comm,", 0 },
	{ "Comm", 0 },
	{ "com", 0 },
	{ "comm label", 0 },
};

START_TEST(kinds_are_words_with_commas)
{
	unsigned int got = 0;

	ck_assert_int_eq(context_parse_kinds(kinds[_i].text, &got),
			 kinds[_i].kinds ? 0 : -EINVAL);
	ck_assert_uint_eq(got, kinds[_i].kinds);
}
END_TEST

START_TEST(none_is_no_kind)
{
	unsigned int got = 7;

	ck_assert_int_eq(context_parse_kinds("none", &got), 0);
	ck_assert_uint_eq(got, 0);
}
END_TEST

static const struct {
	const char *name;
	enum context_kind kind;
	const char *value;
} values[] = {
	{ "comm=a=b", CONTEXT_COMM, "a=b" }, /* of an older database */
	{ "comm=a", CONTEXT_LABEL, NULL },
	{ "command=a", CONTEXT_COMM, NULL },
	{ "", CONTEXT_COMM, NULL },
	{ "comm=a\ncgroup=/b\n", CONTEXT_COMM, "a" },
	{ "comm=a\ncgroup=/b\n", CONTEXT_CGROUP, "/b" },
	{ "comm=a\ncgroup=/b\n", CONTEXT_PROCESS, NULL },
	{ "comm=cgroup=/b\n", CONTEXT_CGROUP, NULL },
	{ "comm=\nlabel=x\n", CONTEXT_COMM, "" },
	{ "comm=\nlabel=x\n", CONTEXT_LABEL, "x" },
	{ "\n\n", CONTEXT_COMM, NULL },
	{ "comm", CONTEXT_COMM, NULL },
};

START_TEST(a_name_has_a_value_of_each_of_its_kinds)
{
	char got[CONTEXT_VALUE_MAX + 1];

	ck_assert_pstr_eq(context_value(values[_i].name, values[_i].kind, got),
			  values[_i].value);
	ck_assert_int_eq(!!(context_kinds(values[_i].name) & 1u << values[_i].kind),
			 values[_i].value != NULL);
	ck_assert_int_eq(context_is_whole(values[_i].name),
			 strchr(values[_i].name, '\n') != NULL);
}
END_TEST

START_TEST(a_long_value_of_a_hostile_name_is_cut)
{
	char name[2 * CONTEXT_VALUE_MAX] = "comm=", got[CONTEXT_VALUE_MAX + 1];

	memset(name + 5, 'x', sizeof(name) - 6);
	name[sizeof(name) - 1] = '\0';
	ck_assert_ptr_nonnull(context_value(name, CONTEXT_COMM, got));
	ck_assert_uint_eq(strlen(got), CONTEXT_VALUE_MAX);
}
END_TEST

/* Random values come back, whatever bytes they have: a newline as a space. */
START_TEST(names_give_their_values_back)
{
	uint64_t seed = unit_seed(), state = seed | 1;

	for (int i = 0; i < 10000; i++) {
		char value[NR_CONTEXT_KINDS][24], name[CONTEXT_NAME_SIZE];
		const char *in[NR_CONTEXT_KINDS] = { NULL };
		char out[CONTEXT_VALUE_MAX + 1];

		for (int k = 0; k < NR_CONTEXT_KINDS; k++) {
			const size_t len = unit_random(&state) % sizeof(value[k]);

			for (size_t c = 0; c < len; c++)
				value[k][c] = "=\n/ac"[unit_random(&state) % 5];
			value[k][len] = '\0';
			in[k] = unit_random(&state) % 3 ? value[k] : NULL;
		}
		ck_assert_uint_eq(context_make(in, name), strlen(name));
		for (int k = 0; k < NR_CONTEXT_KINDS; k++) {
			for (char *c = value[k]; (c = strchr(c, '\n')); c++)
				*c = ' ';
			ck_assert_msg(in[k] ? context_value(name, k, out) &&
						      !strcmp(out, in[k])
					    : !context_value(name, k, out),
				      "SEED=%" PRIu64 ": %s", seed, name);
		}
	}
}
END_TEST

static const struct {
	const char *values[NR_CONTEXT_KINDS];
	const char *tries[CONTEXT_TRIES];
} rests[] = {
	{ { [CONTEXT_COMM] = "a", [CONTEXT_CGROUP] = "/b" },
	  { "comm=a\ncgroup=/b\n", "comm=[other]\ncgroup=/b\n",
	    "comm=[other]\ncgroup=[other]\n" } },
	{ { [CONTEXT_LABEL] = "l", [CONTEXT_PROCESS] = "a:1" },
	  { "label=l\nprocess=a:1\n", "label=l\nprocess=[other]\n",
	    "label=[other]\nprocess=[other]\n" } },
	{ { [CONTEXT_CGROUP] = "/b" },
	  { "cgroup=/b\n", "cgroup=[other]\n", "cgroup=[other]\n" } },
};

START_TEST(what_processes_choose_is_left_out_first)
{
	char name[CONTEXT_NAME_SIZE];

	for (int try = 0; try < CONTEXT_TRIES; try++) {
		context_make_try(rests[_i].values, try, name);
		ck_assert_str_eq(name, rests[_i].tries[try]);
	}
}
END_TEST

START_TEST(a_value_that_is_too_long_is_another)
{
	char value[CONTEXT_VALUE_MAX + 2], name[CONTEXT_NAME_SIZE];
	const char *const in[NR_CONTEXT_KINDS] = { [CONTEXT_CGROUP] = value };

	memset(value, 'x', sizeof(value));
	value[CONTEXT_VALUE_MAX + 1] = '\0';
	context_make(in, name);
	ck_assert_str_eq(name, "cgroup=[other]\n");
	value[CONTEXT_VALUE_MAX] = '\0';
	ck_assert_uint_eq(context_make(in, name), 8 + CONTEXT_VALUE_MAX);
}
END_TEST

/* ---- /proc/PID/cgroup ---- */

static const struct {
	const char *text, *path;
	bool perf_in_v1;
} files[] = {
	{ "0::/system.slice/a.service\n", "/system.slice/a.service", false },
	{ "0::/\n", "/", false },
	{ "9:name=systemd:/a\n4:memory:/b\n0::/c\n", "/c", false },
	{ "9:name=systemd:/a\n4:memory:/b\n0::/\n", "/a", false },
	{ "9:name=systemd:/\n4:memory:/b\n0::/\n", "/", false },
	{ "4:perf_event:/b\n1:name=systemd:/docker/x\n", "/docker/x", true },
	{ "4:cpu,perf_event,x:/b\n0::/c\n", "/c", true },
	{ "4:perf_events:/b\n0::/c\n", "/c", false },
	{ "0::/gone (deleted)\n", "/gone", false },
	{ "0::/a:b::/c\n", "/a:b::/c", false },
	{ "4:memory:/b\n", NULL, false },
	{ "0::relative\n", NULL, false },
	{ "1:name=systemd:\n", NULL, false },
	{ "1\n:\n::\n:::\n", NULL, false },
	{ "", NULL, false },
	{ "0::/no newline", "/no newline", false },
};

START_TEST(a_processs_cgroup_is_found)
{
	struct cgroups_paths paths;
	char text[128];

	strcpy(text, files[_i].text);
	cgroups_parse(text, &paths);
	ck_assert_pstr_eq(cgroups_choose(&paths), files[_i].path);
	ck_assert_int_eq(paths.perf_in_v1, files[_i].perf_in_v1);
}
END_TEST

/* ---- the tracepoints ---- */

static const char moved[] =
	"name: cgroup_attach_task\nID: 538\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:int dst_root;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:u64 dst_id;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:int pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:__data_loc char[] dst_path;\toffset:28;\tsize:4;\tsigned:0;\n";
static const char executed[] = "name: sched_process_exec\nID: 365\nformat:\n";

static struct cgroupevents parse_formats(void)
{
	struct cgroupevents ce;

	ck_assert_int_eq(cgroupevents_parse(moved, executed, &ce), 0);
	return ce;
}

START_TEST(the_tracepoints_fields_are_found)
{
	struct cgroupevents ce = parse_formats();
	char *cut = strdup(moved);

	ck_assert_uint_eq(ce.moved, 538);
	ck_assert_uint_eq(ce.executed, 365);
	ck_assert_uint_eq(ce.hierarchy.offset, 8);
	ck_assert_uint_eq(ce.id.offset, 16);
	ck_assert_uint_eq(ce.pid.offset, 24);
	ck_assert_uint_eq(ce.path.offset, 28);
	ck_assert_int_eq(cgroupevents_parse(moved, "", &ce), -EINVAL);
	for (size_t len = strlen(moved) - 12; len--;) {
		cut[len] = '\0';
		ck_assert_int_eq(cgroupevents_parse(cut, executed, &ce), -EINVAL);
	}
	free(cut);
}
END_TEST

/* A sample as the kernel writes it. */
struct sample {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t raw_size;
	uint32_t raw[9]; /* dst_root at 2, dst_id at 4, pid at 6, path at 7: below */
	char path[24];
	uint32_t id[2]; /* of the cgroup */
};

static struct sample make_move(uint32_t hierarchy, uint32_t pid, const char *path)
{
	struct sample m = { .header = { PERF_RECORD_SAMPLE, 0, sizeof(m) },
			    .time = 99,
			    .raw_size = sizeof(m.raw) + sizeof(m.path) };

	m.raw[0] = 538;
	m.raw[2] = hierarchy;
	m.raw[4] = 77;
	m.raw[6] = pid;
	m.raw[7] = (uint32_t)sizeof(m.path) << 16 | sizeof(m.raw);
	strcpy(m.path, path);
	return m;
}

START_TEST(a_move_tells_process_and_path)
{
	const struct cgroupevents ce = parse_formats();
	struct sample m = make_move(4, 12, "/a");
	struct cgroupevent e;
	uint64_t time;

	ck_assert(cgroupevents_time(&m.header, &time));
	ck_assert_uint_eq(time, 99);
	ck_assert(cgroupevents_read(&ce, &m.header, &e));
	ck_assert_uint_eq(e.tgid, 12);
	ck_assert_uint_eq(e.hierarchy, 4);
	ck_assert_uint_eq(e.id, 77);
	ck_assert_str_eq(e.path, "/a");
}
END_TEST

START_TEST(an_exec_tells_process_and_id)
{
	const struct cgroupevents ce = parse_formats();
	struct sample m = make_move(0, 12, "program");
	struct cgroupevent e;

	m.raw[0] = 365;
	m.pid = 34;
	m.id[0] = 5;
	m.id[1] = 1;
	ck_assert(cgroupevents_read(&ce, &m.header, &e));
	ck_assert_uint_eq(e.tgid, 34);
	ck_assert_uint_eq(e.id, 1ULL << 32 | 5);
	ck_assert_ptr_null(e.path);
	m.raw[0] = 1;
	ck_assert(!cgroupevents_read(&ce, &m.header, &e));
}
END_TEST

START_TEST(a_damaged_sample_is_not_believed)
{
	const struct cgroupevents ce = parse_formats();
	const struct sample good = make_move(0, 12, "/a");
	struct sample *bad = malloc(sizeof(*bad));
	uint64_t time, state = unit_seed() | 1;
	struct cgroupevent e;

	for (uint16_t size = 0; size < sizeof(good); size++) {
		*bad = good;
		bad->header.size = size;
		ck_assert(!cgroupevents_time(&bad->header, &time));
		ck_assert(!cgroupevents_read(&ce, &bad->header, &e));
	}
	for (int i = 0; i < 10000; i++) {
		*bad = good;
		bad->raw[7] = (uint32_t)unit_random(&state);
		if (i & 1)
			bad->raw_size = unit_random(&state) % sizeof(good);
		if (i & 2)
			memset(bad->path, '/', sizeof(bad->path)); /* without an end */
		if (cgroupevents_read(&ce, &bad->header, &e) && e.path)
			ck_assert_uint_lt(strlen(e.path), sizeof(good));
	}
	free(bad);
}
END_TEST

static const char *cgroup_of(uint32_t tgid)
{
	const struct process *p = procmap_find(pm, tgid, 0, UINT64_MAX);

	return p && p->cgroup ? p->cgroup->text : NULL;
}

static const char *label_of(uint32_t tgid)
{
	const struct process *p = procmap_find(pm, tgid, 0, UINT64_MAX);

	return p && p->label ? p->label->text : NULL;
}

#define NOBODY 4194300u /* no process that /proc could be asked about */

/* ---- handing down ---- */

START_TEST(children_and_programs_have_what_their_process_had)
{
	procmap_exec(pm, 10, "sh", 1);
	procmap_set_cgroup(pm, 10, "/a", 7);
	procmap_set_label(pm, 10, "outer");
	procmap_fork(pm, 11, 10, 2);
	procmap_exec(pm, 11, "make", 3);
	procmap_set_label(pm, 11, "inner");
	procmap_fork(pm, 12, 11, 4);
	procmap_fork(pm, 13, 10, 5);
	procmap_set_cgroup(pm, 10, "/b", 8);
	ck_assert_pstr_eq(cgroup_of(11), "/a");
	ck_assert_pstr_eq(label_of(11), "inner");
	ck_assert_pstr_eq(cgroup_of(12), "/a");
	ck_assert_pstr_eq(label_of(12), "inner");
	ck_assert_pstr_eq(label_of(13), "outer");
	ck_assert_pstr_eq(cgroup_of(10), "/b");
	procmap_set_label(pm, 12, NULL);
	ck_assert_ptr_null(label_of(12));
}
END_TEST

START_TEST(a_number_that_is_used_again_has_nothing_of_the_one_before)
{
	procmap_exec(pm, 1, "init", 1);
	procmap_exec(pm, 10, "old", 1);
	procmap_set_cgroup(pm, 10, "/a", 7);
	procmap_set_label(pm, 10, "old");
	procmap_exit(pm, 10, 5);
	procmap_fork(pm, 10, 1, 6);
	procmap_exec(pm, 10, "new", 7);
	ck_assert_ptr_null(label_of(10));
	ck_assert_ptr_null(cgroup_of(10));
	ck_assert_str_eq(procmap_find(pm, 10, 0, 3)->label->text, "old");
	ck_assert_str_eq(procmap_find(pm, 10, 0, 3)->cgroup->text, "/a");
}
END_TEST

START_TEST(what_a_scan_finds_changed_is_the_process_that_was_there_if_it_lives)
{
	const struct rangemap nothing = { 0 };
	struct images *im = images_new(NULL);
	struct range r = { .start = 0x1000, .end = 0x2000 };
	struct rangemap found = { 0 };

	r.value = images_get(im, "/bin/x", &(struct image_source){ 0 });
	ck_assert_int_eq(rangemap_insert(&found, &r, NULL, NULL), 0);
	for (uint32_t tgid = 10; tgid <= 11; tgid++) {
		procmap_verify(pm, tgid, "x", &nothing, 1);
		procmap_set_label(pm, tgid, "l");
	}
	procmap_exit(pm, 11, 2);
	procmap_verify(pm, 10, "x", &found, 3);
	procmap_verify(pm, 11, "x", &found, 3);
	ck_assert_pstr_eq(label_of(10), "l");
	ck_assert_ptr_null(label_of(11));
	rangemap_fini(&found);
	procmap_free(pm);
	pm = procmap_new();
	images_free(im);
}
END_TEST

START_TEST(names_are_shared_and_go_with_their_last_user)
{
	struct names names = { 0 };
	struct name *a = names_get(&names, "a"), *b = names_get(&names, "b");

	ck_assert_ptr_eq(names_get(&names, "a"), a);
	ck_assert_ptr_ne(a, b);
	name_put(a);
	ck_assert_uint_eq(names.by_text.nr, 2);
	name_put(a);
	name_put(b);
	name_put(NULL);
	ck_assert_uint_eq(names.by_text.nr, 0);
	ck_assert_uint_eq(names.bytes, 0);
	names_fini(&names);
}
END_TEST

START_TEST(names_are_bounded)
{
	struct name *name[NAMES_MAX_BYTES / 4096 + 2];
	struct names names = { 0 };
	char text[4096];
	size_t nr = 0;

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	do {
		snprintf(text, 8, "%07zu", nr);
		text[7] = 'x';
		name[nr] = names_get(&names, text);
	} while (name[nr] && ++nr < NR(name));
	ck_assert_uint_lt(nr, NR(name));
	ck_assert_uint_gt(nr, NAMES_MAX_BYTES / 4096 / 2);
	while (nr)
		name_put(name[--nr]);
	names_fini(&names);
}
END_TEST

/* ---- labels ---- */

#define LONGEST "123456789012345678901234567890123456789012345678901234567890123"

static const struct {
	const char *name, *label; /* NULL: none */
} mappings[] = {
	{ "/memfd:cpi-label=nightly (deleted)", "nightly" },
	{ "/memfd:cpi-label=a(b)=c/d (deleted)", "a(b)=c/d" },
	{ "/memfd:cpi-label=" LONGEST " (deleted)", LONGEST },
	{ "/memfd:cpi-label=" LONGEST "4 (deleted)", NULL },
	{ "/memfd:cpi-label= (deleted)", NULL },
	{ "/memfd:cpi-label=a b (deleted)", NULL },
	{ "/memfd:cpi-label=[other] (deleted)", NULL },
	{ "/memfd:cpi-label=a\033 (deleted)", NULL },
	{ "/memfd:cpi-label=a\n (deleted)", NULL },
	{ "/memfd:cpi-label=\xc3\xa4 (deleted)", NULL },
	{ "/memfd:cpi-label=nightly", NULL },
	{ "/memfd:cpi-label", NULL },
	{ "/tmp/memfd:cpi-label=x (deleted)", NULL },
	{ " (deleted)", NULL },
	{ "", NULL },
};

START_TEST(labels_are_read_from_names_of_mappings)
{
	char label[CPI_LABEL_MAX + 1];
	bool is = labels_parse_mapping(mappings[_i].name, label);

	ck_assert_int_eq(is, mappings[_i].label != NULL);
	if (is)
		ck_assert_str_eq(label, mappings[_i].label);
}
END_TEST

#define ENVIRONMENT(text, label)              \
	{                                     \
		text, sizeof(text) - 1, label \
	}

static const struct {
	const char *text;
	size_t size;
	const char *label;
} environments[] = {
	ENVIRONMENT("A=1\0CPI_LABEL=x\0B=2\0", "x"),
	ENVIRONMENT("CPI_LABEL=x", "x"), /* cut off */
	ENVIRONMENT("CPI_LABEL=x\0CPI_LABEL=y\0", "x"),
	ENVIRONMENT("\0\0\0CPI_LABEL=x\0", "x"),
	ENVIRONMENT("XCPI_LABEL=x\0", NULL),
	ENVIRONMENT("A=CPI_LABEL=x\0", NULL),
	ENVIRONMENT("CPI_LABEL=\0", NULL),
	ENVIRONMENT("CPI_LABEL=a b\0", NULL),
	ENVIRONMENT("CPI_LABEL", NULL),
	ENVIRONMENT("\0", NULL),
	ENVIRONMENT("", NULL),
};

START_TEST(labels_are_read_from_environments)
{
	char label[CPI_LABEL_MAX + 1], *text = malloc(environments[_i].size + 1);
	bool is;

	memcpy(text, environments[_i].text, environments[_i].size);
	is = labels_parse_environment(text, environments[_i].size, label);
	ck_assert_int_eq(is, environments[_i].label != NULL);
	if (is)
		ck_assert_str_eq(label, environments[_i].label);
	free(text);
}
END_TEST

/* A process of this user's that waits, with this environment. */
static pid_t start(const char *variable)
{
	char *const args[] = { "sleep", "60", NULL };
	char *const environment[] = { (char *)variable, NULL };
	int ready[2];
	char end;
	pid_t pid;

	ck_assert_int_eq(pipe2(ready, 0x80000 /* O_CLOEXEC */), 0);
	pid = fork();
	if (!pid) {
		execve("/bin/sleep", args, environment);
		_exit(1);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &end, 1), 0); /* exec has closed it */
	close(ready[0]);
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

START_TEST(living_processes_are_asked_for_what_they_belong_to)
{
	const pid_t with = start("CPI_LABEL=found"), without = start("CPI=1");
	const pid_t kept = start("CPI=2"), new = start("CPI=3");
	struct timed_child *a = unit_timed_child();
	struct cgroups *cgroups;

	for (int i = 0; i < 4; i++)
		procmap_exec(pm, (uint32_t[]){ with, without, kept, new }[i], "sleep",
			     i == 3 ? 50 : 5);
	procmap_set_label(pm, kept, "told");
	procmap_set_label(pm, new, "of another");
	procmap_exec(pm, NOBODY, "gone", 5);
	ck_assert_int_eq(cgroups_open(pm, a, false, &cgroups), 0);
	cgroups_read_all(cgroups);
	labels_scan(pm, a, 50);
	ck_assert_pstr_eq(label_of(with), "found");
	ck_assert_ptr_null(label_of(without));
	ck_assert_pstr_eq(label_of(kept), "told");
	ck_assert_ptr_null(label_of(new));
	ck_assert_ptr_null(label_of(NOBODY));
	if (!access("/proc/self/cgroup", R_OK)) {
		ck_assert_ptr_null(cgroup_of(NOBODY));
		ck_assert_ptr_nonnull(cgroup_of(with));
	}
	stop(with);
	stop(without);
	stop(kept);
	stop(new);
	cgroups_close(cgroups);
	timed_child_free(a);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("contexts");
	TCase *tc = tcase_create("contexts");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 600);
	tcase_add_loop_test(tc, kinds_are_words_with_commas, 0, NR(kinds));
	tcase_add_test(tc, none_is_no_kind);
	tcase_add_loop_test(tc, a_name_has_a_value_of_each_of_its_kinds, 0, NR(values));
	tcase_add_test(tc, a_long_value_of_a_hostile_name_is_cut);
	tcase_add_test(tc, names_give_their_values_back);
	tcase_add_loop_test(tc, what_processes_choose_is_left_out_first, 0, NR(rests));
	tcase_add_test(tc, a_value_that_is_too_long_is_another);
	tcase_add_loop_test(tc, a_processs_cgroup_is_found, 0, NR(files));
	tcase_add_test(tc, the_tracepoints_fields_are_found);
	tcase_add_test(tc, a_move_tells_process_and_path);
	tcase_add_test(tc, an_exec_tells_process_and_id);
	tcase_add_test(tc, a_damaged_sample_is_not_believed);
	tcase_add_test(tc, children_and_programs_have_what_their_process_had);
	tcase_add_test(tc, a_number_that_is_used_again_has_nothing_of_the_one_before);
	tcase_add_test(
		tc,
		what_a_scan_finds_changed_is_the_process_that_was_there_if_it_lives);
	tcase_add_test(tc, names_are_shared_and_go_with_their_last_user);
	tcase_add_test(tc, names_are_bounded);
	tcase_add_loop_test(tc, labels_are_read_from_names_of_mappings, 0,
			    NR(mappings));
	tcase_add_loop_test(tc, labels_are_read_from_environments, 0, NR(environments));
	tcase_add_test(tc, living_processes_are_asked_for_what_they_belong_to);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
