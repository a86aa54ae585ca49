/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmod_refuse.c - what cpi.ko refuses: other owners, events that it cannot sample
 *
 * usage: kmod_refuse owner|events
 */
#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "kmod.h"

/* ---- windows: whoever says what is read of any process might read it anyway ---- */

static void drop_capability(unsigned int capability)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	CHECK(!syscall(SYS_capget, &h, data), "capget");
	data[capability / 32].effective &= ~(1u << capability % 32);
	CHECK(!syscall(SYS_capset, &h, data), "capset");
}

/* Where there are windows at all. */
static void check_windows(struct device *d)
{
	struct cpi_kmod_windows c = { .event = d->config.events[0],
				      .nr_entries = 1,
				      .nr_cells = 1,
				      .nr_records = 1 };

	if (ioctl(d->fd, CPI_KMOD_IOC_WINDOWS, &c)) {
		CHECK(errno == EOPNOTSUPP, "no windows");
		return;
	}
	drop_capability(CAP_SYS_PTRACE);
	CHECK(mmap(NULL, c.bytes, PROT_READ, MAP_SHARED, d->fd,
		   (off_t)CPI_KMOD_WINDOWS_AT) == MAP_FAILED &&
		      errno == EPERM,
	      "tables without CAP_SYS_PTRACE");
	CHECK(ioctl(d->fd, CPI_KMOD_IOC_WINDOWS, &c) && errno == EPERM,
	      "windows without CAP_SYS_PTRACE");
}

/* ---- owner: one at a time, with the capability, whoever holds the descriptor ---- */

static void check_owner(void)
{
	struct device d = device_open();
	struct cpi_kmod_counts c = { 0 };
	int status;
	pid_t pid;

	device_clock(&d, 1000);
	device_configure(&d);
	CHECK(open(CPI_KMOD_DEVICE, O_RDONLY) < 0 && errno == EBUSY, "a second owner");
	pid = fork();
	if (!pid) {
		CHECK(!setuid(65534), "setuid");
		CHECK(ioctl(d.fd, CPI_KMOD_IOC_COUNTS, &c) && errno == EPERM,
		      "a passed descriptor works");
		CHECK(ioctl(d.fd, CPI_KMOD_IOC_START) && errno == EPERM,
		      "a passed descriptor starts");
		CHECK(mmap(NULL, d.config.pair_bytes, PROT_READ, MAP_SHARED, d.fd, 0) ==
				      MAP_FAILED &&
			      errno == EPERM,
		      "a passed descriptor maps");
		close(d.fd);
		CHECK(open(CPI_KMOD_DEVICE, O_RDONLY) < 0, "anybody opens the device");
		exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status, "the unprivileged child");
	CHECK(mmap(NULL, d.config.pair_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, d.fd,
		   0) == MAP_FAILED,
	      "the buffers are writable");
	device_pair(&d, 0);
	CHECK(mprotect((void *)(uintptr_t)d.pair[0], d.config.pair_bytes,
		       PROT_READ | PROT_WRITE),
	      "the buffers become writable");
	check_windows(&d);
}

/* ---- events: no handler inside of whatever the kernel does ---- */

static void refuse(struct device *d, const char *name, struct cpi_kmod_event event)
{
	event.period = 100000;
	d->config.events[0] = event;
	printf("%s\n", name);
	CHECK(ioctl(d->fd, CPI_KMOD_IOC_CONFIGURE, &d->config) && errno == EOPNOTSUPP,
	      "%s is accepted", name);
	CHECK(d->config.failed_event == 0, "%s: event %d", name,
	      d->config.failed_event);
}

/* The kernel gives such PMUs numbers as they come. */
static uint32_t pmu_type(const char *name)
{
	char path[80];
	unsigned int type;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", name);
	f = fopen(path, "re");
	CHECK(f && fscanf(f, "%u", &type) == 1, "%s", path);
	fclose(f);
	return type;
}

static void check_events(void)
{
	static const char procedure[] = "do_exit";
	struct device d = device_open();

	refuse(&d, "page-faults",
	       (struct cpi_kmod_event){ .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_PAGE_FAULTS });
	refuse(&d, "a tracepoint",
	       (struct cpi_kmod_event){ .type = PERF_TYPE_TRACEPOINT, .config = 1 });
	refuse(&d, "a breakpoint",
	       (struct cpi_kmod_event){ .type = PERF_TYPE_BREAKPOINT });
	refuse(&d, "a probe",
	       (struct cpi_kmod_event){ .type = pmu_type("kprobe"),
					.config1 = (uintptr_t)procedure });
	device_clock(&d, 1000);
	device_configure(&d);
	device_start(&d);
	device_await(&d, 100);
	device_stop_and_compare(&d, NULL, NULL);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "owner"))
		check_owner();
	else if (argc == 2 && !strcmp(argv[1], "events"))
		check_events();
	else
		return 2;
	return 0;
}
