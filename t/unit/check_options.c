/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/control/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "abi/control.h"
#include "base/times.h"
#include "db/profile/context.h"
#include "t/unit/unit.h"

#define MAX_ARGS 48

/* Defaults that no option text below means. */
struct session_config session_config_default(void)
{
	return (struct session_config){
		.db_path = "default.db",
		.collector = "default",
		.budget = 0.25,
		.sweep_ns = 1,
		.flush_ns = 2,
		.epoch_ns = 3,
		.max_memory = 4,
		.by = CONTEXT_DEFAULT,
		.raw_fd = -1,
	};
}

/* Sends what is printed to /dev/null. Returns the descriptor of before. */
static int silence(FILE *stream)
{
	int saved;

	fflush(stream);
	saved = dup(fileno(stream));
	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stream));
	return saved;
}

static void unsilence(FILE *stream, int saved)
{
	fflush(stream);
	dup2(saved, fileno(stream));
	close(saved);
}

/* Splits line at spaces, parses it silently. */
static int parse(const char *line, struct options *o)
{
	static char copy[2048];
	char *argv[MAX_ARGS + 1] = { "cpid" };
	int argc = 1, out, errors, err;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *p = strtok(copy, " "); p && argc < MAX_ARGS; p = strtok(NULL, " "))
		argv[argc++] = p;
	out = silence(stdout);
	errors = silence(stderr);
	err = options_parse(argc, argv, o);
	unsilence(stderr, errors);
	unsilence(stdout, out);
	return err;
}

START_TEST(without_options_the_defaults_stand)
{
	struct options o;

	ck_assert_int_eq(parse("", &o), 0);
	ck_assert(!o.check);
	ck_assert_str_eq(o.session.db_path, "default.db");
	ck_assert_str_eq(o.session.collector, "default");
	ck_assert_int_eq(o.session.nr_events, 0);
	ck_assert_double_eq(o.session.budget, 0.25);
	ck_assert_uint_eq(o.session.max_memory, 4);
	ck_assert_int_eq(o.session.raw_fd, -1);
	ck_assert_str_eq(o.socket, CPI_CONTROL_SOCKET);
	ck_assert_ptr_null(o.log);
	ck_assert_ptr_null(o.group);
	ck_assert_ptr_null(o.user);
	ck_assert(!o.verbose);
	options_fini(&o);
}
END_TEST

START_TEST(windows_have_the_usual_memory_unless_a_size_is_given)
{
	struct options o;

	ck_assert_int_eq(parse("--windows-memory 8M --windows-memory auto", &o), 0);
	ck_assert_uint_eq(o.session.windows.bytes, 0);
	options_fini(&o);
	ck_assert_int_eq(parse("", &o), 0);
	ck_assert_uint_eq(o.session.windows.bytes, 0);
	options_fini(&o);
}
END_TEST

START_TEST(every_option_is_taken)
{
	struct options o;

	ck_assert_int_eq(
		parse("--db a.db --socket s.sock --log l.log -F 250.5 "
		      "--stacks fp --windows-memory 8M --budget 2% --check 30s "
		      "--collector perf --sweep 5s "
		      "--flush 1m "
		      "--epoch 2h --max-memory 8M --by comm,label --by-process x* "
		      "--group g "
		      "--user u -v",
		      &o),
		0);
	ck_assert_str_eq(o.session.db_path, "a.db");
	ck_assert_str_eq(o.socket, "s.sock");
	ck_assert_str_eq(o.log, "l.log");
	ck_assert_double_eq(o.session.hz, 250.5);
	ck_assert_double_eq_tol(o.session.budget, 0.02, 1e-12);
	ck_assert_int_eq(o.session.stacks.walk, SESSION_STACKS_FP);
	ck_assert_str_eq(o.session.collector, "perf");
	ck_assert_uint_eq(o.session.check_ns, 30 * NSEC_PER_SEC);
	ck_assert_uint_eq(o.session.sweep_ns, 5 * NSEC_PER_SEC);
	ck_assert_uint_eq(o.session.flush_ns, 60 * NSEC_PER_SEC);
	ck_assert_uint_eq(o.session.epoch_ns, 7200 * NSEC_PER_SEC);
	ck_assert_uint_eq(o.session.max_memory, 8 << 20);
	ck_assert_uint_eq(o.session.windows.bytes, 8 << 20);
	ck_assert_uint_eq(o.session.by, 1u << CONTEXT_COMM | 1u << CONTEXT_LABEL |
						1u << CONTEXT_PROCESS);
	ck_assert(o.session.windows.by_context);
	ck_assert_str_eq(o.session.by_process, "x*");
	ck_assert_str_eq(o.group, "g");
	ck_assert_str_eq(o.user, "u");
	ck_assert(o.verbose);
	options_fini(&o);
}
END_TEST

static const struct {
	const char *line;
	unsigned int by;
	bool windows;
} kinds[] = {
	{ "-v", 1u << CONTEXT_COMM | 1u << CONTEXT_CGROUP, false },
	{ "--by none", 0, false },
	{ "--by label", 1u << CONTEXT_LABEL, true },
	{ "--by label --by comm", 1u << CONTEXT_LABEL | 1u << CONTEXT_COMM, true },
	{ "--by-process x",
	  1u << CONTEXT_COMM | 1u << CONTEXT_CGROUP | 1u << CONTEXT_PROCESS, true },
};

START_TEST(by_replaces_the_kinds_that_are_kept)
{
	struct options o;

	ck_assert_int_eq(parse(kinds[_i].line, &o), 0);
	ck_assert_uint_eq(o.session.by, kinds[_i].by);
	ck_assert_int_eq(o.session.windows.by_context, kinds[_i].windows);
	options_fini(&o);
}
END_TEST

static const struct {
	const char *line;
	int nr;
	const char *names[4];
} events[] = {
	{ "-e cycles", 1, { "cycles" } },
	{ "-e cycles,page-faults@100", 2, { "cycles", "page-faults@100" } },
	{ "-ecycles --event=cpu-clock", 2, { "cycles", "cpu-clock" } },
	{ "-e cpu/event=0x3c,umask=0/,cycles",
	  2,
	  { "cpu/event=0x3c,umask=0/", "cycles" } },
	{ "-e a,b -e c,d", 4, { "a", "b", "c", "d" } },
};

START_TEST(events_are_separated_by_commas_outside_slashes)
{
	struct options o;

	ck_assert_int_eq(parse(events[_i].line, &o), 0);
	ck_assert_int_eq(o.session.nr_events, events[_i].nr);
	for (int i = 0; i < events[_i].nr; i++)
		ck_assert_str_eq(o.session.events[i], events[_i].names[i]);
	options_fini(&o);
}
END_TEST

static const struct {
	const char *text;
	uint64_t bytes; /* 0: refused */
} sizes[] = {
	{ "1", 1 },
	{ "65536", 65536 },
	{ "64K", 64 << 10 },
	{ "3G", 3ULL << 30 },
	{ "17179869183G", 17179869183ULL << 30 },
	{ "17179869184G", 0 },
	{ "99999999999999999999", 0 },
	{ "0", 0 },
	{ "0M", 0 },
	{ "-1", 0 },
	{ "+1", 0 },
	{ "M", 0 },
	{ "64MB", 0 },
	{ "64m", 0 },
	{ "1.5G", 0 },
};

START_TEST(a_size_has_a_unit_or_none)
{
	struct options o;
	char line[64];

	snprintf(line, sizeof(line), "--max-memory=%s", sizes[_i].text);
	ck_assert_int_eq(parse(line, &o), sizes[_i].bytes ? 0 : -EINVAL);
	ck_assert_uint_eq(o.session.max_memory, sizes[_i].bytes ? sizes[_i].bytes : 4);
	options_fini(&o);
}
END_TEST

static const char *const refused[] = {
	"--frob",
	"-x",
	"argument",
	"-v argument",
	"--db",
	"--db=",
	"--socket=",
	"--log=",
	"--group=",
	"--user=",
	"-e ,",
	"-e cycles,",
	"-e ,cycles",
	"-e a,,b",
	"-e cpu-clock@0",
	"-e cpu-clock@18446744073709551616",
	"-e cycles,cpu-clock@-5",
	"-F 0",
	"-F -1",
	"-F nan",
	"-F inf",
	"-F 100Hz",
	"-F 1e999",
	"--budget 0",
	"--budget 101",
	"--budget 1%%",
	"--budget %",
	"--collector oprofile",
	"--stacks lbr",
	"--stacks-copy 1000",
	"--stacks-copy 64K",
	"--stacks-freq 0",
	"--stacks-freq 10001",
	"--stacks-freq 1e-300",
	"--windows 1e-300",
	"--windows 1001",
	"--windows-memory 0",
	"--windows-memory much",
	"--windows-memory auto,8M",
	"-F 1e-300",
	"-F 1e30",
	"--budget 1e-300",
	"--check 0",
	"--sweep 0",
	"--sweep 999999999d",
	"--flush 367d",
	"--epoch 1e9d",
	"--retain daily:1e9d",
	"--retain size:99999999999G",
	"--flush 0s",
	"--flush soon",
	"--epoch -1h",
	"--by=",
	"--by=comm,",
	"--by=commands",
	"--by=comm label",
	"--by-process=",
	/* one event too many */
	"-e 1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9,0,1,2,3,4,5,6,7,8,9,0,1,2,3",
};

START_TEST(nonsense_is_refused)
{
	struct options o;

	ck_assert_int_eq(parse(refused[_i], &o), -EINVAL);
	options_fini(&o);
}
END_TEST

static const struct {
	const char *line;
	int result; /* 1: it has printed */
	bool check;
} actions[] = {
	{ "--help", 1, false },        { "-h", 1, false },
	{ "--version", 1, false },     { "-V", 1, false },
	{ "--epoch 0", 0, false },     { "--budget 100", 0, false },
	{ "--check-config", 0, true }, { "-v --help", 1, false },
};

START_TEST(help_and_version_print_and_end)
{
	struct options o;

	ck_assert_int_eq(parse(actions[_i].line, &o), actions[_i].result);
	ck_assert_int_eq(o.check, actions[_i].check);
	options_fini(&o);
}
END_TEST

/* ---- configuration files ---- */

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

/* Parses line with a main file and two beside it, of which NULL is not there. */
static int parse_files(const char *main, const char *first, const char *second,
		       const char *line, struct options *o)
{
	static char folder[] = "/tmp/check_options.XXXXXX";
	char path[64], text[256];
	int err;

	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/c.d", folder);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/c.d/2.conf", folder);
	if (second)
		write_text(path, second);
	snprintf(path, sizeof(path), "%s/c.d/1.conf", folder);
	if (first)
		write_text(path, first);
	snprintf(path, sizeof(path), "%s/c.d/0.conf~", folder);
	write_text(path, "nonsense");
	snprintf(path, sizeof(path), "%s/c", folder);
	write_text(path, main);
	snprintf(text, sizeof(text), "--config %s %s", path, line);
	err = parse(text, o);
	snprintf(text, sizeof(text), "rm -r %s", folder);
	ck_assert_int_eq(system(text), 0);
	return err;
}

static void put_value(void *ctx, const char *name, const char *value, const char *from)
{
	const char *base = strrchr(from, '/');

	if (strcmp(from, "default"))
		buf_printf(ctx, "%s=%s@%s;", name, value, base ? base + 1 : from);
}

static const struct {
	const char *main, *first, *second, *line, *values;
} layers[] = {
	{ "", NULL, NULL, "", "" },
	{ "[cpid]\nbudget=2%\n", NULL, NULL, "", "budget=2%@c:2;" },
	{ "[cpid]\nbudget=2%\n", "[cpid]\nbudget=3%\n", NULL, "",
	  "budget=3%@1.conf:2;" },
	{ "[cpid]\nbudget=2%\n", "[cpid]\n\nbudget=3%\n", "[cpid]\nbudget=4%", "",
	  "budget=4%@2.conf:2;" },
	{ "[cpid]\nbudget=2%\n", "[cpid]\nbudget=\n", NULL, "", "" },
	{ "[cpid]\nbudget=2%\nbudget=1%\n", NULL, NULL, "", "budget=1%@c:3;" },
	{ "[cpid]\nbudget=2%\n", "[cpid]\nbudget=3%\n", NULL, "--budget 4%",
	  "budget=4%@command line;" },
	{ "[cpid]\nevent=a\n", "[cpid]\nevent=b,c\n", NULL, "",
	  "event=a,b,c@1.conf:2;" },
	{ "[cpid]\nevent=a\n", "[cpid]\nevent=\nevent=b\n", NULL, "",
	  "event=b@1.conf:3;" },
	{ "[cpid]\nevent=a\n", NULL, NULL, "-e b -e c", "event=b,c@command line;" },
	{ "[cpid]\nverbose=yes\n", NULL, NULL, "", "verbose=yes@c:2;" },
	{ "[cpid]\nverbose=yes\n", "[cpid]\nverbose=off\n", NULL, "",
	  "verbose=off@1.conf:2;" },
	{ "[cpid]\nverbose=no\n", NULL, NULL, "-v", "verbose=yes@command line;" },
};

START_TEST(later_files_and_the_command_line_replace_values)
{
	struct buf values = { 0 };
	struct options o;

	ck_assert_int_eq(parse_files(layers[_i].main, layers[_i].first,
				     layers[_i].second, layers[_i].line, &o),
			 0);
	ck_assert_int_eq(service_options_each(options_program(), &o.settings, put_value,
					      &values),
			 0);
	ck_assert_str_eq(buf_str(&values), layers[_i].values);
	buf_fini(&values);
	options_fini(&o);
}
END_TEST

static const struct {
	const char *main, *first, *line;
} faulty[] = {
	{ "budget=1%\n", NULL, "" },
	{ "[cpid]\nbugdet=1%\n", NULL, "" },
	{ "[cpid]\nbudget=101\n", NULL, "" },
	/* also where another value replaces it */
	{ "[cpid]\nbudget=101\n", "[cpid]\nbudget=1\n", "" },
	{ "[cpid]\nbudget=101\n", NULL, "--budget=1" },
	{ "[cpid]\nconfig=/x\n", NULL, "" },
	{ "[cpid]\nhelp=yes\n", NULL, "" },
	{ "[cpid]\nverbose=maybe\n", NULL, "" },
	{ "[cpid]\nwindows-exclude=pid=7\n", NULL, "" },
};

START_TEST(a_faulty_file_is_refused)
{
	struct options o;

	ck_assert_int_eq(parse_files(faulty[_i].main, faulty[_i].first, NULL,
				     faulty[_i].line, &o),
			 -EINVAL);
	options_fini(&o);
}
END_TEST

START_TEST(a_named_file_has_to_exist)
{
	struct options o;

	ck_assert_int_eq(parse("--config /nonexistent/cpid.conf", &o), -ENOENT);
	options_fini(&o);
	ck_assert_int_eq(parse("--config /nonexistent/cpid.conf --help", &o), 1);
	options_fini(&o);
}
END_TEST

static const struct {
	const char *before, *after, *changed, *left, *values;
} reloads[] = {
	{ "budget=1%", "budget=1%", "", "", "budget=1%@c:2;" },
	{ "budget=1%", "\nbudget=1%", "", "", "budget=1%@c:3;" },
	{ "budget=1%", "budget=2%\nsweep=5s", " budget sweep", "",
	  "budget=2%@c:2;sweep=5s@c:3;" },
	{ "budget=1%", "", " budget", "", "" },
	{ "event=a", "event=b\nretain=all", " retain", " event",
	  "event=a@c:2;retain=all@c:3;" },
};

START_TEST(a_reload_takes_what_can_change)
{
	struct buf values = { 0 };
	struct service_changes changes = { 0 };
	struct options o, now;
	char text[128];

	snprintf(text, sizeof(text), "[cpid]\n%s\n", reloads[_i].before);
	ck_assert_int_eq(parse_files(text, NULL, NULL, "", &o), 0);
	snprintf(text, sizeof(text), "[cpid]\n%s\n", reloads[_i].after);
	ck_assert_int_eq(parse_files(text, NULL, NULL, "", &now), 0);
	ck_assert_int_eq(service_options_compare(options_program(), &o.settings,
						 &now.settings, &changes),
			 0);
	ck_assert_int_eq(options_take(&o, &now), 0);
	options_fini(&now);
	ck_assert_str_eq(buf_str(&changes.changed), reloads[_i].changed);
	ck_assert_str_eq(buf_str(&changes.left), reloads[_i].left);
	ck_assert_int_eq(service_options_each(options_program(), &o.settings, put_value,
					      &values),
			 0);
	ck_assert_str_eq(buf_str(&values), reloads[_i].values);
	buf_fini(&values);
	service_changes_end(&changes, true);
	options_fini(&o);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("options");
	TCase *tc = tcase_create("options");

	tcase_add_test(tc, without_options_the_defaults_stand);
	tcase_add_test(tc, windows_have_the_usual_memory_unless_a_size_is_given);
	tcase_add_test(tc, every_option_is_taken);
	tcase_add_loop_test(tc, by_replaces_the_kinds_that_are_kept, 0, NR(kinds));
	tcase_add_loop_test(tc, events_are_separated_by_commas_outside_slashes, 0,
			    NR(events));
	tcase_add_loop_test(tc, a_size_has_a_unit_or_none, 0, NR(sizes));
	tcase_add_loop_test(tc, nonsense_is_refused, 0, NR(refused));
	tcase_add_loop_test(tc, help_and_version_print_and_end, 0, NR(actions));
	tcase_add_loop_test(tc, later_files_and_the_command_line_replace_values, 0,
			    NR(layers));
	tcase_add_loop_test(tc, a_faulty_file_is_refused, 0, NR(faulty));
	tcase_add_test(tc, a_named_file_has_to_exist);
	tcase_add_loop_test(tc, a_reload_takes_what_can_change, 0, NR(reloads));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
