/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_doctor.c - findings of machines that are files below a folder
 */
#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t/unit/unit.h"
#include "tools/doctor/doctor.h"

#define MAX_FILES 3

static char root[] = "/tmp/check_doctor.XXXXXX";

static void put_file(const char *path, const char *text)
{
	char file[PATH_MAX], command[PATH_MAX + 32];
	FILE *f;

	snprintf(file, sizeof(file), "%s%s", root, path);
	snprintf(command, sizeof(command), "mkdir -p \"$(dirname %s)\"", file);
	ck_assert_int_eq(system(command), 0);
	f = fopen(file, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

/* A symlink to nothing, in a folder that exists afterwards. */
static void put_link(const char *path)
{
	char file[PATH_MAX];

	put_file(path, "");
	snprintf(file, sizeof(file), "%s%s", root, path);
	ck_assert_int_eq(unlink(file), 0);
	ck_assert_int_eq(symlink("nothing", file), 0);
}

static void make_root(void)
{
	strcpy(root + sizeof(root) - 7, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
}

static void remove_root(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", root);
	ck_assert_int_eq(system(command), 0);
}

static const struct doctor_finding *find(const struct doctor *d, const char *check)
{
	const struct doctor_finding *found = NULL;

	for (size_t i = 0; i < d->nr; i++) {
		ck_assert_int_eq(d->findings[i].verdict == DOCTOR_OK,
				 !d->findings[i].why);
		ck_assert_int_eq(d->findings[i].verdict == DOCTOR_OK,
				 !d->findings[i].fix);
		if (strcmp(d->findings[i].check, check))
			continue;
		ck_assert_ptr_null(found); /* one each */
		found = &d->findings[i];
	}
	ck_assert_ptr_nonnull(found);
	return found;
}

#define SYSCTL   "/proc/sys/kernel/"
#define CLOCK    "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define LOCKDOWN "/sys/kernel/security/lockdown"
#define SHIP     "/run/cpi-ship/metrics.prom"
#define RUNS     "cpi_ship_level_timestamp_seconds 9999999999\n"
#define SYSTEMD  "/run/systemd/system/none"
#define CONFIG   "/etc/cpi/cpi-ship.conf"
#define IN_D     "/etc/cpi/cpi-ship.conf.d/store.conf"
#define STORE    "[cpi-ship]\nstore = clickhouse://db:8123/cpi\n"
#define REFUSED  "/run/cpi-web/certificate-refused"
#define WANTED   "/etc/systemd/system/multi-user.target.wants/cpi-ship.service"
#define ALL_BUT_BTF                                                      \
	"CONFIG_PERF_EVENTS=y\nCONFIG_BPF_SYSCALL=y\nCONFIG_BPF_JIT=y\n" \
	"CONFIG_BPF_EVENTS=y\nCONFIG_KALLSYMS=y\n"

static const struct {
	const char *release;
	struct {
		const char *path, *text;
	} file[MAX_FILES];
	const char *check;
	enum doctor_verdict verdict;
} machines[] = {
	{ "6.18.1", { { 0 } }, "kernel", DOCTOR_OK },
	{ "5.8.0", { { 0 } }, "kernel", DOCTOR_OK },
	{ "5.7.19", { { 0 } }, "kernel", DOCTOR_PROBLEM },
	{ "4.19.0-27-amd64", { { 0 } }, "kernel", DOCTOR_PROBLEM },
	{ "Linux", { { 0 } }, "kernel", DOCTOR_NOTE },
	/* the race: mainline, a distribution, and Debian, which tells */
	{ "6.18.16", { { 0 } }, "kernel-race", DOCTOR_PROBLEM },
	{ "6.18.17", { { 0 } }, "kernel-race", DOCTOR_OK },
	{ "6.19.6", { { 0 } }, "kernel-race", DOCTOR_PROBLEM },
	{ "7.0.0", { { 0 } }, "kernel-race", DOCTOR_OK },
	{ "6.13.99", { { 0 } }, "kernel-race", DOCTOR_PROBLEM },
	{ "5.14.0-570.el9.x86_64", { { 0 } }, "kernel-race", DOCTOR_NOTE },
	{ "6.8.12-4-pve",
	  { { "/proc/version",
	      "Linux version 6.8.12-4-pve (build@there) (gcc (Debian 12.2.0-14) "
	      "12.2.0, GNU ld (GNU Binutils for Debian) 2.40) #1 SMP PMX\n" } },
	  "kernel-race",
	  DOCTOR_NOTE },
	{ "6.1.50",
	  { { "/proc/version",
	      "Linux version 6.1.50 (me@here) (gcc (Debian 12.2.0-14) 12.2.0) #1 SMP "
	      "Sat Sep 2 10:00:00 UTC 2023\n" } },
	  "kernel-race",
	  DOCTOR_PROBLEM },
	{ "6.1.0-40-amd64",
	  { { "/proc/version",
	      "Linux version 6.1.0-40-amd64 (debian-kernel@lists.debian.org) "
	      "(gcc-12 (Debian 12.2.0-14+deb12u1) 12.2.0, GNU ld) #1 SMP "
	      "PREEMPT_DYNAMIC Debian 6.1.153-1 (2025-09-20)\n" } },
	  "kernel-race",
	  DOCTOR_PROBLEM },
	{ "6.1.0-49-amd64",
	  { { "/proc/version",
	      "Linux version 6.1.0-49-amd64 (gcc-12 (Debian 12.2.0-14+deb12u1) "
	      "12.2.0) #1 SMP Debian 6.1.170-1 (2026-04-20)\n" } },
	  "kernel-race",
	  DOCTOR_OK },
	{ "6.1.0", { { 0 } }, "kernel-options", DOCTOR_NOTE },
	{ "6.1.0",
	  { { "/boot/config-6.1.0", ALL_BUT_BTF "CONFIG_DEBUG_INFO_BTF=y\n" } },
	  "kernel-options",
	  DOCTOR_OK },
	{ "6.1.0",
	  { { "/boot/config-6.1.0",
	      ALL_BUT_BTF "# CONFIG_DEBUG_INFO_BTF is not set\n" } },
	  "kernel-options",
	  DOCTOR_PROBLEM },
	{ "6.1.0", { { 0 } }, "btf", DOCTOR_NOTE },
	{ "6.1.0", { { LOCKDOWN, "[none]\n" } }, "btf", DOCTOR_PROBLEM },
	{ "6.1.0", { { "/sys/kernel/btf/vmlinux", "x" } }, "btf", DOCTOR_OK },
	{ "6.1.0", { { 0 } }, "paranoid", DOCTOR_NOTE },
	{ "6.1.0", { { SYSCTL "osrelease", "6.1.0\n" } }, "paranoid", DOCTOR_FATAL },
	{ "6.1.0",
	  { { SYSCTL "perf_event_paranoid", "-1\n" } },
	  "paranoid",
	  DOCTOR_OK },
	{ "6.1.0", { { SYSCTL "perf_event_paranoid", "2\n" } }, "paranoid", DOCTOR_OK },
	{ "6.1.0",
	  { { SYSCTL "perf_event_paranoid", "3\n" } },
	  "paranoid",
	  DOCTOR_NOTE },
	{ "6.1.0", { { 0 } }, "kernel-symbols", DOCTOR_NOTE },
	{ "6.1.0",
	  { { SYSCTL "osrelease", "6.1.0\n" } },
	  "kernel-symbols",
	  DOCTOR_PROBLEM },
	{ "6.1.0",
	  { { "/proc/kallsyms", "0000000000000000 A a\nffffffff81000000 T _text\n" } },
	  "kernel-symbols",
	  DOCTOR_OK },
	{ "6.1.0",
	  { { "/proc/kallsyms", "0000000000000000 T _text\n" },
	    { SYSCTL "kptr_restrict", "1\n" } },
	  "kernel-symbols",
	  DOCTOR_NOTE },
	{ "6.1.0",
	  { { "/proc/kallsyms", "0000000000000000 T _text\n" },
	    { SYSCTL "kptr_restrict", "2\n" } },
	  "kernel-symbols",
	  DOCTOR_PROBLEM },
	{ "6.1.0", { { 0 } }, "fleet", DOCTOR_OK },
	{ "6.1.0",
	  { { SHIP, RUNS "cpi_ship_store_failing 0\n" } },
	  "fleet",
	  DOCTOR_OK },
	{ "6.1.0",
	  { { SHIP, RUNS "cpi_ship_store_failing 1\n" } },
	  "fleet",
	  DOCTOR_PROBLEM },
	{ "6.1.0",
	  { { SHIP, "cpi_ship_level_timestamp_seconds 1000\n" } },
	  "fleet",
	  DOCTOR_NOTE },
	{ "6.1.0",
	  { { "/run/cpi-ship/options", "" } }, /* metrics-file= names another file */
	  "fleet",
	  DOCTOR_NOTE },
	{ "6.1.0",
	  { { SHIP, RUNS "cpi_ship_flushes_dropped_total 2\n" } },
	  "fleet",
	  DOCTOR_NOTE },
	{ "6.1.0", { { CONFIG, "[cpi-ship]\n#store =\n" } }, "fleet", DOCTOR_OK },
	{ "6.1.0", { { CONFIG, STORE } }, "fleet", DOCTOR_NOTE },
	{ "6.1.0", { { IN_D, STORE } }, "fleet", DOCTOR_NOTE },
	{ "6.1.0", { { IN_D, STORE }, { SYSTEMD, "" } }, "fleet", DOCTOR_PROBLEM },
	{ "6.1.0",
	  { { CONFIG, STORE }, { IN_D, "[cpi-ship]\nstore =\n" } },
	  "fleet",
	  DOCTOR_OK },
	{ "6.1.0", { { CONFIG, "store = here\n" } }, "fleet", DOCTOR_NOTE },
	{ "6.1.0", { { 0 } }, "certificate", DOCTOR_OK },
	{ "6.1.0",
	  { { REFUSED, "/etc/cpi/web.pem\n" } },
	  "certificate",
	  DOCTOR_PROBLEM },
	{ "6.1.0", { { 0 } }, "lockdown", DOCTOR_OK },
	{ "6.1.0",
	  { { LOCKDOWN, "none [integrity] confidentiality\n" } },
	  "lockdown",
	  DOCTOR_OK },
	{ "6.1.0",
	  { { LOCKDOWN, "none integrity [confidentiality]\n" } },
	  "lockdown",
	  DOCTOR_FATAL },
	{ "6.1.0", { { CLOCK, "tsc\n" } }, "clock", DOCTOR_OK },
	{ "6.1.0", { { CLOCK, "arch_sys_counter\n" } }, "clock", DOCTOR_OK },
	{ "6.1.0", { { CLOCK, "hpet\n" } }, "clock", DOCTOR_PROBLEM },
	{ "6.1.0", { { 0 } }, "clock", DOCTOR_NOTE },
	{ "6.1.0",
	  { { SYSCTL "perf_event_max_sample_rate", "100000\n" } },
	  "max-rate",
	  DOCTOR_OK },
	{ "6.1.0",
	  { { SYSCTL "perf_event_max_sample_rate", "250\n" } },
	  "max-rate",
	  DOCTOR_PROBLEM },
	{ "6.1.0", { { 0 } }, "max-rate", DOCTOR_NOTE },
	{ "6.1.0", { { 0 } }, "nmi-watchdog", DOCTOR_NOTE },
	{ "6.1.0", { { SYSCTL "osrelease", "6.1.0\n" } }, "nmi-watchdog", DOCTOR_OK },
	{ "6.1.0", { { SYSCTL "nmi_watchdog", "1\n" } }, "nmi-watchdog", DOCTOR_NOTE },
	{ "6.1.0", { { SYSCTL "nmi_watchdog", "0\n" } }, "nmi-watchdog", DOCTOR_OK },
	{ "6.1.0", { { 0 } }, "cgroups", DOCTOR_NOTE },
	{ "6.1.0",
	  { { "/sys/fs/cgroup/cgroup.controllers", "cpu\n" } },
	  "cgroups",
	  DOCTOR_OK },
	{ "6.1.0", { { 0 } }, "module", DOCTOR_OK },
	{ "6.1.0",
	  { { "/usr/lib/debug/.build-id/ab", "x" } },
	  "debug-symbols",
	  DOCTOR_OK },
	{ "6.1.0", { { 0 } }, "debug-symbols", DOCTOR_NOTE },
};

START_TEST(each_machine_has_its_finding)
{
	struct doctor d = { .root = root, .release = machines[_i].release, .db = root };
	const struct doctor_finding *f;

	unsetenv("DEBUGINFOD_URLS");
	make_root();
	for (int i = 0; i < MAX_FILES && machines[_i].file[i].path; i++)
		put_file(machines[_i].file[i].path, machines[_i].file[i].text);
	doctor_check_kernel(&d);
	doctor_check_limits(&d);
	doctor_check_data(&d);
	doctor_check_ship(&d);
	doctor_check_web(&d);
	ck_assert_int_eq(d.err, 0);
	f = find(&d, machines[_i].check);
	ck_assert_msg(f->verdict == machines[_i].verdict, "%s: %s", f->check, f->what);
	ck_assert_int_ge(doctor_worst(&d), f->verdict);
	doctor_fini(&d);
	remove_root();
}
END_TEST

#define RETAIN                                                               \
	"make room, or write 'retain = hourly:7d,daily:90d,size:500M' into " \
	"/etc/cpi/cpid.conf and run "

/* A remedy is one that this machine can do. */
static const struct {
	const char *file, *check, *fix;
	const char *more, *text; /* another file, if any */
} remedies[] = {
	{ SYSTEMD, "space", RETAIN "'systemctl reload cpid'", NULL, NULL },
	{ "/none", "space", RETAIN "'kill -HUP $(pidof cpid)' as root", NULL, NULL },
	{ SYSTEMD, "fleet", "journalctl -u cpi-ship -n 20", SHIP,
	  RUNS "cpi_ship_store_failing 1\n" },
	{ "/none", "fleet", "read the messages of cpi-ship", SHIP,
	  RUNS "cpi_ship_store_failing 1\n" },
	{ SYSTEMD, "fleet", "cpi-ship --check-config && systemctl status cpi-ship",
	  WANTED, "" },
	{ SYSTEMD, "fleet", "systemctl enable --now cpi-ship", IN_D, STORE },
	{ "/none", "fleet", "start cpi-ship", IN_D, STORE },
	{ SYSTEMD, "certificate", "journalctl -u cpi-web -n 20", REFUSED, "" },
	{ "/none", "certificate", "read the messages of cpi-web", REFUSED, "" },
	{ "/sys/fs/cgroup/none", "cgroups", "mount -t cgroup2 cgroup2 /sys/fs/cgroup",
	  NULL, NULL },
	{ "/sys/fs/cgroup/memory/tasks", "cgroups",
	  "mount cgroup2 instead, at /sys/fs/cgroup", NULL, NULL },
	{ "/proc/none", "paranoid", "mount -t proc proc /proc", NULL, NULL },
	{ "/sys/none", "btf", "mount -t sysfs sysfs /sys", NULL, NULL },
};

START_TEST(a_remedy_fits_the_machine)
{
	struct doctor d = {
		.root = root, .release = "6.1.0", .db = root, .limit_bytes = UINT64_MAX
	};

	make_root();
	put_file(remedies[_i].file, "x");
	if (remedies[_i].more && !strcmp(remedies[_i].more, WANTED))
		put_link(WANTED);
	else if (remedies[_i].more)
		put_file(remedies[_i].more, remedies[_i].text);
	doctor_check_kernel(&d);
	doctor_check_limits(&d);
	doctor_check_data(&d);
	doctor_check_ship(&d);
	doctor_check_web(&d);
	ck_assert_str_eq(find(&d, remedies[_i].check)->fix, remedies[_i].fix);
	doctor_fini(&d);
	remove_root();
}
END_TEST

START_TEST(the_limit_is_compared_with_the_free_space)
{
	struct doctor d = { .root = root,
			    .release = "6.1.0",
			    .db = "/tmp/none/cpi.db" };

	make_root();
	doctor_check_data(&d);
	ck_assert_int_eq(find(&d, "space")->verdict, DOCTOR_OK);
	doctor_fini(&d);
	d.limit_bytes = UINT64_MAX;
	doctor_check_data(&d);
	ck_assert_int_ge(find(&d, "space")->verdict, DOCTOR_NOTE);
	doctor_fini(&d);
	remove_root();
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("doctor");
	TCase *tc = tcase_create("doctor");

	tcase_add_loop_test(tc, each_machine_has_its_finding, 0, NR(machines));
	tcase_add_loop_test(tc, a_remedy_fits_the_machine, 0, NR(remedies));
	tcase_add_test(tc, the_limit_is_compared_with_the_free_space);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
