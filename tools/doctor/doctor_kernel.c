/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor_kernel.c - the kernel: its version, its options, and faults that it may have
 *
 * A distribution mends old versions, so a version number alone does not tell whether a
 * fault is there. Debian's kernels say in /proc/version which one they are made of; of
 * others the finding says that it is not known.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "tools/doctor/doctor.h"

struct version {
	unsigned int major, minor, patch;
};

static bool parse_version(const char *text, struct version *v)
{
	*v = (struct version){ 0 };
	return sscanf(text, "%u.%u.%u", &v->major, &v->minor, &v->patch) >= 2;
}

static bool is_at_least(struct version v, unsigned int major, unsigned int minor,
			unsigned int patch)
{
	if (v.major != major)
		return v.major > major;
	if (v.minor != minor)
		return v.minor > minor;
	return v.patch >= patch;
}

static void check_version(struct doctor *d, struct version v)
{
	char what[128];

	snprintf(what, sizeof(what), "Linux %.100s", d->release);
	if (is_at_least(v, 5, 8, 0))
		doctor_ok(d, "kernel", "%s", what);
	else
		doctor_add(
			d, "kernel", DOCTOR_PROBLEM, what,
			"CPI is tested with Linux 5.8 and newer. Older kernels have no "
			"CAP_PERFMON, and their BPF lacks what counting in the kernel "
			"needs.",
			"boot a newer kernel");
}

/*
 * CVE-2026-23271: the overflow of a software event raced with its removal, and used
 * the event's BPF program after it was freed. Versions are those of the CVE record.
 */
static const struct version race_fixed[] = {
	{ 6, 1, 167 }, { 6, 6, 130 }, { 6, 12, 77 }, { 6, 18, 17 }, { 6, 19, 7 },
};

static bool has_race_fix(struct version v)
{
	for (size_t i = 0; i < sizeof(race_fixed) / sizeof(race_fixed[0]); i++) {
		const struct version *fixed = &race_fixed[i];

		if (v.major == fixed->major && v.minor == fixed->minor)
			return v.patch >= fixed->patch;
	}
	return v.major >= 7;
}

/*
 * Debian's "6.1.0-40-amd64" is made of the version that /proc/version has at its end:
 * "… (gcc-12 (Debian 12.2.0-14) 12.2.0 …) #1 SMP … Debian 6.1.153-1". If someone else
 * built the kernel with Debian's compiler, only the compiler is "Debian". *v stays
 * untouched if this is not Debian's kernel.
 */
static bool read_debian(const struct doctor *d, struct version *v)
{
	struct version made = { 0 };
	struct buf text = { 0 };
	const char *build, *debian;
	bool found = false;

	if (!doctor_read(d, "/proc/version", &text)) {
		build = strstr(buf_str(&text), ") #");
		debian = build ? strstr(build, "Debian ") : NULL;
		found = debian && parse_version(debian + strlen("Debian "), &made);
	}
	if (found)
		*v = made;
	buf_fini(&text);
	return found;
}

/* Whether the release has more than numbers, as distributions' have. */
static bool is_vendors(const char *release)
{
	return release[strspn(release, "0123456789.")] != '\0';
}

static void check_race(struct doctor *d, struct version v)
{
	static const char why[] =
		"A race between the overflow of software events and their removal can "
		"crash the kernel. Any local user can cause it, with or without a "
		"profiler. cpid stops each event before it removes it, unless it is "
		"killed.";
	const bool is_exact = read_debian(d, &v) || !is_vendors(d->release);

	if (has_race_fix(v))
		doctor_ok(d, "kernel-race", "CVE-2026-23271 is fixed in Linux %u.%u.%u",
			  v.major, v.minor, v.patch);
	else if (is_exact)
		doctor_add(
			d, "kernel-race", DOCTOR_PROBLEM,
			"this version does not have the fix of CVE-2026-23271", why,
			"update to 6.1.167, 6.6.130, 6.12.77, 6.18.17, 6.19.7, 7.0 or "
			"later, or to your distribution's kernel with the fix");
	else
		doctor_add(d, "kernel-race", DOCTOR_NOTE,
			   "unknown whether this distribution's kernel has the fix of "
			   "CVE-2026-23271",
			   why, "look for CVE-2026-23271 in the kernel's changelog");
}

/* ---- options ---- */

static int read_packed(const struct doctor *d, struct buf *out)
{
	char file[1024], chunk[4096];
	gzFile in;
	int n;

	snprintf(file, sizeof(file), "%s/proc/config.gz", d->root);
	in = gzopen(file, "rb");
	if (!in)
		return -1;
	while ((n = gzread(in, chunk, sizeof(chunk))) > 0 && out->len < 1 << 20)
		buf_put(out, chunk, (size_t)n);
	gzclose(in);
	return n < 0 ? -1 : 0;
}

static int read_config(const struct doctor *d, struct buf *out)
{
	char path[256];

	snprintf(path, sizeof(path), "/boot/config-%.200s", d->release);
	return doctor_read(d, path, out) ? read_packed(d, out) : 0;
}

static const struct {
	const char *name;
	const char *without; /* what a kernel without it cannot do */
} options[] = {
	{ "CONFIG_PERF_EVENTS", "perf events" },
	{ "CONFIG_BPF_SYSCALL", "BPF programs" },
	{ "CONFIG_BPF_JIT", "compiled BPF programs" },
	{ "CONFIG_BPF_EVENTS", "BPF programs at perf events" },
	{ "CONFIG_DEBUG_INFO_BTF", "types for BPF programs" },
	{ "CONFIG_KALLSYMS", "names of kernel procedures" },
};

static bool has_option(const char *config, const char *name)
{
	const size_t len = strlen(name);

	for (const char *at = config; (at = strstr(at, name)); at += len) {
		if ((at == config || at[-1] == '\n') && at[len] == '=' &&
		    (at[len + 1] == 'y' || at[len + 1] == 'm'))
			return true;
	}
	return false;
}

static void check_options(struct doctor *d)
{
	struct buf config = { 0 }, missing = { 0 };

	if (read_config(d, &config)) {
		doctor_add(
			d, "kernel-options", DOCTOR_NOTE,
			"unknown: neither /boot/config-VERSION nor /proc/config.gz is "
			"there",
			"The other checks tell what works.",
			doctor_has_sysctl(d) ? "modprobe configs" : DOCTOR_MOUNT_PROC);
		goto out;
	}
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (has_option(buf_str(&config), options[i].name))
			continue;
		buf_printf(&missing, "%s%s (%s)", missing.len ? ", " : "without ",
			   options[i].name, options[i].without);
	}
	if (missing.len)
		doctor_add(d, "kernel-options", DOCTOR_PROBLEM, buf_str(&missing),
			   "CPI cannot use what the kernel was built without.",
			   "boot a kernel with these options");
	else
		doctor_ok(d, "kernel-options",
			  "perf events, BPF, BTF and kallsyms are built "
			  "in");
out:
	buf_fini(&config);
	buf_fini(&missing);
}

static void check_btf(struct doctor *d)
{
	if (doctor_exists(d, "/sys/kernel/btf/vmlinux"))
		doctor_ok(d, "btf",
			  "the kernel's types are in /sys/kernel/btf/vmlinux");
	else if (!doctor_exists(d, "/sys/kernel"))
		doctor_add(d, "btf", DOCTOR_NOTE, "unknown: /sys is not mounted",
			   "The BPF collector needs the kernel's types, which are in "
			   "/sys/kernel/btf.",
			   DOCTOR_MOUNT_SYS);
	else
		doctor_add(
			d, "btf", DOCTOR_PROBLEM, "there is no /sys/kernel/btf/vmlinux",
			"Without the kernel's types the BPF collector cannot read its "
			"structures. cpid then uses perf's ring buffers, which cost "
			"more.",
			"boot a kernel with CONFIG_DEBUG_INFO_BTF");
}

void doctor_check_kernel(struct doctor *d)
{
	struct version v;

	if (parse_version(d->release, &v)) {
		check_version(d, v);
		check_race(d, v);
	} else {
		doctor_add(d, "kernel", DOCTOR_NOTE, "its version cannot be read",
			   "Whether it has known faults cannot be told.",
			   "compare 'uname -r' with the kernel's changelog");
	}
	check_options(d);
	check_btf(d);
}
