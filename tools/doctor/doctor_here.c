/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor_here.c - what only trying tells: rights, counters, BPF, the cost of a sample
 */
#include "config.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_BPF
#include <bpf/libbpf.h>
#endif

#include "base/err.h"
#include "daemon/collect/calibrate.h"
#include "daemon/os/cpus.h"
#include "daemon/os/perfev.h"
#include "daemon/os/privileges.h"
#include "daemon/session/budget.h"
#include "tools/doctor/doctor.h"

#define INITIAL_PID_NAMESPACE 0xeffffffcu /* PROC_PID_INIT_INO of the kernel */

static void check_container(struct doctor *d)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st))
		doctor_add(d, "container", DOCTOR_PROBLEM,
			   "unknown: there is no /proc/self/ns/pid",
			   "cpid looks up processes in /proc, and only by the host's "
			   "ids. Samples of those that it cannot read are unknown.",
			   DOCTOR_MOUNT_PROC);
	else if (st.st_ino != INITIAL_PID_NAMESPACE)
		doctor_add(d, "container", DOCTOR_FATAL,
			   "this is a container with its own process ids",
			   "Samples name processes by the host's ids, which cannot be "
			   "looked up here. 'cpi record COMMAND' works.",
			   "run cpid on the host, or with hostPID: true or --pid=host");
	else
		doctor_ok(d, "container", "process ids are the host's");
}

static void check_rights(struct doctor *d)
{
	static const struct {
		int cap;
		const char *name;
	} caps[] = {
		{ CAP_PERFMON, "PERFMON" },
		{ CAP_BPF, "BPF" },
		{ CAP_SYS_PTRACE, "SYS_PTRACE" },
		{ CAP_DAC_READ_SEARCH, "DAC_READ_SEARCH" },
		{ CAP_SYSLOG, "SYSLOG" },
		{ CAP_CHECKPOINT_RESTORE, "CHECKPOINT_RESTORE" },
	};
	struct buf missing = { 0 };

	for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++) {
		if (!privileges_have(caps[i].cap))
			buf_printf(&missing, "%s CAP_%s",
				   missing.len ? ""
					       : "this user may not run cpid; it lacks",
				   caps[i].name);
	}
	if (!missing.len)
		doctor_ok(d, "rights", "this user has what cpid needs");
	else
		doctor_add(
			d, "rights", DOCTOR_NOTE, buf_str(&missing),
			"All findings are those of this user. cpid's service has more "
			"rights.",
			doctor_gain_rights());
	buf_fini(&missing);
}

static void check_access(struct doctor *d)
{
	struct buf why = { 0 };
	struct cpus cpus;
	int err = perfev_system_access();

	if (!err && cpus_online(&cpus)) {
		doctor_add(d, "system-wide", DOCTOR_FATAL,
			   "unknown which CPUs there are: " CPUS_ONLINE
			   " cannot be read",
			   "Neither cpid nor 'cpi record' starts without it.",
			   DOCTOR_MOUNT_SYS);
		return;
	}
	if (!err) {
		doctor_ok(d, "system-wide", "all CPUs can be sampled, with the kernel");
		return;
	}
	perfev_explain(err, &why);
	doctor_add(d, "system-wide", geteuid() ? DOCTOR_NOTE : DOCTOR_FATAL,
		   buf_str(&why),
		   "The whole system can be sampled only with this access.",
		   geteuid() ? doctor_gain_rights()
			     : "in a container: add CAP_PERFMON, and allow "
			       "perf_event_open in its seccomp profile");
	buf_fini(&why);
}

static int try_counter(uint64_t config)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = config,
		.disabled = 1,
		.exclude_kernel = 1,
	};
	int fd = perfev_open(&attr, 0, -1);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static void check_pmu(struct doctor *d)
{
	const int err = try_counter(PERF_COUNT_HW_CPU_CYCLES);

	if (!err)
		doctor_ok(d, "pmu", "the CPU's cycle counter can be sampled");
	else if (err == -EACCES || err == -EPERM)
		doctor_add(d, "pmu", DOCTOR_NOTE,
			   "unknown: this user may not open a counter of cycles",
			   "Without a counter of cycles, CPI, executions and culprits "
			   "are estimates with wider intervals.",
			   doctor_gain_rights());
	else
		doctor_add(d, "pmu", DOCTOR_NOTE,
			   "there is no counter of cycles: samples are of time",
			   "Where the time went is exact all the same. CPI, executions "
			   "and "
			   "culprits are estimates with wider intervals.",
			   "in a virtual machine: have its host pass the PMU on");
}

#ifdef HAVE_BPF
static void check_bpf(struct doctor *d)
{
	int can = -EPERM;

	/* The probe says "no" to a user without the rights, too. */
	if (privileges_have(CAP_BPF) && privileges_have(CAP_PERFMON)) {
		libbpf_set_print(NULL);
		can = libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_PERF_EVENT, NULL);
	}
	if (can == 1)
		doctor_ok(d, "bpf", "programs can count at each sample in the kernel");
	else
		doctor_add(
			d, "bpf", DOCTOR_NOTE,
			can == 0 ? "this kernel takes no BPF programs for perf events"
				 : "this user may not load BPF programs",
			"Without BPF each sample goes through a ring buffer, and there "
			"are no ticks and no windows.",
			can == 0 ? "boot a kernel with CONFIG_BPF_EVENTS=y"
				 : doctor_gain_rights());
}
#else
static void check_bpf(struct doctor *d)
{
	doctor_add(
		d, "bpf", DOCTOR_NOTE, "this build has no BPF collector",
		"Without BPF each sample goes through a ring buffer, and there are no "
		"ticks and no windows.",
		"build it with clang, bpftool and libbpf");
}
#endif

static void check_cost(struct doctor *d)
{
	double cost_ns, hz;
	char what[200], fix[160];
	int err = calibrate_interrupt(NULL, &cost_ns);

	if (err) {
		snprintf(what, sizeof(what),
			 "the cost of a sample cannot be measured: %s", err_str(err));
		doctor_add(d, "cost", DOCTOR_NOTE, what,
			   "cpid then assumes 12 us, and corrects that while it runs.",
			   doctor_gain_rights());
		return;
	}
	hz = calibrate_rate(BUDGET_AT_START * d->budget, cost_ns);
	snprintf(what, sizeof(what),
		 "a sample costs %.1f us: a budget of %g %% buys %.0f per second and "
		 "CPU",
		 cost_ns / 1000, d->budget * 100, hz);
	snprintf(fix, sizeof(fix),
		 "write 'budget = %g%%' into /etc/cpi/cpid.conf and run %s",
		 200 * d->budget, doctor_reload(d));
	if (hz > CALIBRATE_MIN_HZ)
		doctor_ok(d, "cost", "%s", what);
	else
		doctor_add(d, "cost", DOCTOR_PROBLEM, what,
			   "Interrupts are dear here, as on virtual machines without "
			   "timers "
			   "of their own. Ticks bring most of the samples then.",
			   fix);
}

void doctor_check_here(struct doctor *d)
{
	check_container(d);
	check_rights(d);
	check_access(d);
	check_pmu(d);
	check_bpf(d);
	check_cost(d);
}
