/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor_limits.c - settings of the running kernel that limit what can be sampled
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "tools/doctor/doctor.h"

#define MOUNT_CGROUP "mount -t cgroup2 cgroup2 /sys/fs/cgroup"

/* Why a setting of the kernel has no value; verdict is that of a kernel without it. */
static void add_missing(struct doctor *d, const char *check, const char *name,
			enum doctor_verdict verdict)
{
	char what[128];

	if (doctor_has_sysctl(d)) {
		snprintf(what, sizeof(what), "there is no %s", name);
		doctor_add(
			d, check, verdict, what,
			"This kernel has no perf events, from which all samples come.",
			"boot a kernel with CONFIG_PERF_EVENTS");
	} else {
		snprintf(what, sizeof(what), "unknown: %s cannot be read", name);
		doctor_add(d, check, DOCTOR_NOTE, what,
			   "Settings of the kernel limit what can be sampled, and "
			   "/proc/sys does not show them here.",
			   DOCTOR_MOUNT_PROC);
	}
}

static void check_paranoid(struct doctor *d)
{
	const long level = doctor_number(d, "/proc/sys/kernel/perf_event_paranoid", -2);
	char what[128];

	snprintf(what, sizeof(what), "kernel.perf_event_paranoid = %ld", level);
	if (level == -2)
		add_missing(d, "paranoid", "kernel.perf_event_paranoid", DOCTOR_FATAL);
	else if (level > 2)
		doctor_add(
			d, "paranoid", DOCTOR_NOTE, what,
			"On kernels of Debian, and maybe of other distributions, only "
			"CAP_SYS_ADMIN may then open perf events; CAP_PERFMON is not "
			"enough. There cpid has it only if root starts it, and gives "
			"it "
			"up, so it does not sample a CPU that comes online later, and "
			"'cpi record' of other users does not work.",
			"sysctl kernel.perf_event_paranoid=2");
	else
		doctor_ok(d, "paranoid", "%s", what);
}

/* Whether the file shows addresses, not zeros. */
static bool shows_addresses(const struct doctor *d)
{
	char file[1024];
	unsigned long long address = 0;
	bool shown = false;
	FILE *f;

	snprintf(file, sizeof(file), "%s/proc/kallsyms", d->root);
	f = fopen(file, "re");
	if (!f)
		return false;
	for (int i = 0; i < 1000 && !shown && fscanf(f, "%llx%*[^\n]", &address) == 1;
	     i++)
		shown = address != 0;
	fclose(f);
	return shown;
}

static void check_symbols(struct doctor *d)
{
	const long level = doctor_number(d, "/proc/sys/kernel/kptr_restrict", -1);
	char what[128];

	if (shows_addresses(d)) {
		doctor_ok(d, "kernel-symbols", "/proc/kallsyms shows addresses");
		return;
	}
	if (!doctor_exists(d, "/proc/kallsyms")) {
		doctor_add(d, "kernel-symbols",
			   doctor_has_sysctl(d) ? DOCTOR_PROBLEM : DOCTOR_NOTE,
			   "there is no /proc/kallsyms",
			   "Without it, time in the kernel has no names of procedures.",
			   doctor_has_sysctl(d) ? "boot a kernel with CONFIG_KALLSYMS"
						: DOCTOR_MOUNT_PROC);
		return;
	}
	snprintf(what, sizeof(what),
		 "/proc/kallsyms shows no addresses to this user (kernel.kptr_restrict "
		 "= "
		 "%ld)",
		 level);
	doctor_add(d, "kernel-symbols", level == 2 ? DOCTOR_PROBLEM : DOCTOR_NOTE, what,
		   level == 2
			   ? "Time in the kernel has no names of procedures, also for "
			     "root."
			   : "Root and cpid, which has CAP_SYSLOG, see them.",
		   level == 2 ? "sysctl kernel.kptr_restrict=1" : doctor_gain_rights());
}

static void check_lockdown(struct doctor *d)
{
	struct buf text = { 0 };

	if (doctor_read(d, "/sys/kernel/security/lockdown", &text))
		doctor_ok(d, "lockdown",
			  "the kernel has no lockdown, or it is not shown");
	else if (strstr(buf_str(&text), "[confidentiality]"))
		doctor_add(d, "lockdown", DOCTOR_FATAL,
			   "the kernel is locked down for confidentiality",
			   "It refuses samples with registers, so cpid cannot sample, "
			   "except by a signed kernel module.",
			   "boot with lockdown=integrity, if your policy allows it");
	else if (strstr(buf_str(&text), "[integrity]"))
		doctor_ok(d, "lockdown",
			  "integrity: BPF works, unsigned modules do not");
	else
		doctor_ok(d, "lockdown", "none");
	buf_fini(&text);
}

static void check_clock(struct doctor *d)
{
	struct buf name = { 0 };

	if (doctor_read(
		    d,
		    "/sys/devices/system/clocksource/clocksource0/current_clocksource",
		    &name))
		doctor_add(d, "clock", DOCTOR_NOTE, "the clock source is not known",
			   "A slow clock makes each sample dearer.", DOCTOR_MOUNT_SYS);
	else if (!strcmp(buf_str(&name), "hpet") ||
		 !strcmp(buf_str(&name), "acpi_pm") ||
		 !strcmp(buf_str(&name), "jiffies") ||
		 !strcmp(buf_str(&name), "refined-jiffies"))
		doctor_add(
			d, "clock", DOCTOR_PROBLEM,
			!strcmp(buf_str(&name), "hpet") ? "the clock source is hpet"
							: "the clock source is slow",
			"Reading it takes about a microsecond, in each sample and in "
			"each program that asks for the time.",
			"find out with 'dmesg | grep -i tsc' why the TSC is not used");
	else
		doctor_ok(d, "clock", "the clock source is %.40s", buf_str(&name));
	buf_fini(&name);
}

static void check_cgroups(struct doctor *d)
{
	if (doctor_exists(d, "/sys/fs/cgroup/cgroup.controllers"))
		doctor_ok(d, "cgroups", "version 2");
	else if (doctor_exists(d, "/sys/fs/cgroup/systemd") ||
		 doctor_exists(d, "/sys/fs/cgroup/perf_event") ||
		 doctor_exists(d, "/sys/fs/cgroup/memory"))
		doctor_add(d, "cgroups", DOCTOR_NOTE, "version 1",
			   "Containers and units are recognised by their cgroups. With "
			   "version 1, cpid uses the hierarchy of the controller "
			   "perf_event or of systemd.",
			   doctor_has_systemd(d)
				   ? "boot with systemd.unified_cgroup_hierarchy=1"
				   : "mount cgroup2 instead, at /sys/fs/cgroup");
	else
		doctor_add(d, "cgroups", DOCTOR_NOTE,
			   "nothing is mounted at /sys/fs/cgroup",
			   "Containers and units are recognised by their cgroups.",
			   doctor_exists(d, "/sys/fs/cgroup") ? MOUNT_CGROUP
							      : DOCTOR_MOUNT_SYS
				   " && " MOUNT_CGROUP);
}

static void check_rate(struct doctor *d)
{
	const long most =
		doctor_number(d, "/proc/sys/kernel/perf_event_max_sample_rate", -1);
	char what[128];

	snprintf(what, sizeof(what), "kernel.perf_event_max_sample_rate = %ld", most);
	if (most < 0)
		add_missing(d, "max-rate", "kernel.perf_event_max_sample_rate",
			    DOCTOR_NOTE);
	else if (most < 1000)
		doctor_add(d, "max-rate", DOCTOR_PROBLEM, what,
			   "The kernel lowers it when samples take it too long, and "
			   "refuses "
			   "higher rates: 'cpi record' takes 1000 by default.",
			   "sysctl kernel.perf_event_max_sample_rate=100000");
	else
		doctor_ok(d, "max-rate", "%s", what);
}

static void check_watchdog(struct doctor *d)
{
	const long level = doctor_number(d, "/proc/sys/kernel/nmi_watchdog", -1);

	if (level < 0 && !doctor_has_sysctl(d))
		add_missing(d, "nmi-watchdog", "kernel.nmi_watchdog", DOCTOR_NOTE);
	else if (level == 1)
		doctor_add(
			d, "nmi-watchdog", DOCTOR_NOTE, "kernel.nmi_watchdog = 1",
			"The kernel's watchdog keeps one hardware counter for itself.",
			"sysctl kernel.nmi_watchdog=0");
	else
		doctor_ok(d, "nmi-watchdog", "it takes no hardware counter");
}

static void check_module(struct doctor *d)
{
	if (doctor_exists(d, "/dev/cpi"))
		doctor_ok(d, "module", "cpi.ko is loaded");
	else
		doctor_ok(d, "module", "cpi.ko is not loaded, and not needed");
}

void doctor_check_limits(struct doctor *d)
{
	check_paranoid(d);
	check_symbols(d);
	check_lockdown(d);
	check_clock(d);
	check_rate(d);
	check_watchdog(d);
	check_cgroups(d);
	check_module(d);
}
