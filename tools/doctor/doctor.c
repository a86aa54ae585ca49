/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor.c - the list of findings, and how checks read files
 */
#include "config.h"

#include "tools/doctor/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/grow.h"

#define MAX_FILE (1 << 20)

void doctor_run(struct doctor *d)
{
	doctor_check_kernel(d);
	doctor_check_limits(d);
	doctor_check_data(d);
	doctor_check_here(d);
	doctor_check_ship(d);
	doctor_check_web(d);
}

void doctor_fini(struct doctor *d)
{
	for (size_t i = 0; i < d->nr; i++) {
		free(d->findings[i].what);
		free(d->findings[i].fix);
	}
	free(d->findings);
	d->findings = NULL;
	d->nr = 0;
}

enum doctor_verdict doctor_worst(const struct doctor *d)
{
	enum doctor_verdict worst = DOCTOR_OK;

	for (size_t i = 0; i < d->nr; i++) {
		if (d->findings[i].verdict > worst)
			worst = d->findings[i].verdict;
	}
	return worst;
}

void doctor_add(struct doctor *d, const char *check, enum doctor_verdict verdict,
		const char *what, const char *why, const char *fix)
{
	struct doctor_finding *f;

	if (GROW(d->findings, d->nr)) {
		d->err = -ENOMEM;
		return;
	}
	f = &d->findings[d->nr++];
	*f = (struct doctor_finding){ .check = check, .verdict = verdict, .why = why };
	f->what = strdup(what);
	f->fix = fix ? strdup(fix) : NULL;
	if (!f->what || (fix && !f->fix))
		d->err = -ENOMEM;
}

void doctor_ok(struct doctor *d, const char *check, const char *fmt, ...)
{
	char what[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	doctor_add(d, check, DOCTOR_OK, what, NULL, NULL);
}

int doctor_read(const struct doctor *d, const char *path, struct buf *out)
{
	char file[1024];
	int err;

	snprintf(file, sizeof(file), "%s%s", d->root, path);
	err = file_read_all(AT_FDCWD, file, MAX_FILE, out);
	if (!err && out->len && out->data[out->len - 1] == '\n')
		out->len--;
	return err;
}

bool doctor_exists(const struct doctor *d, const char *path)
{
	char file[1024];

	snprintf(file, sizeof(file), "%s%s", d->root, path);
	return !access(file, F_OK);
}

bool doctor_is_link(const struct doctor *d, const char *path)
{
	char file[1024];
	struct stat st;

	snprintf(file, sizeof(file), "%s%s", d->root, path);
	return !lstat(file, &st) && S_ISLNK(st.st_mode);
}

bool doctor_has_sysctl(const struct doctor *d)
{
	return doctor_exists(d, "/proc/sys/kernel/osrelease");
}

bool doctor_has_systemd(const struct doctor *d)
{
	return doctor_exists(d, "/run/systemd/system");
}

const char *doctor_by_systemd(const struct doctor *d, const char *with,
			      const char *without)
{
	return doctor_has_systemd(d) ? with : without;
}

const char *doctor_reload(const struct doctor *d)
{
	return doctor_by_systemd(d, "'systemctl reload cpid'",
				 "'kill -HUP $(pidof cpid)' as root");
}

bool doctor_has_unit(const struct doctor *d, const char *name)
{
	static const char *const folders[] = {
		"/etc/systemd/system",
		"/usr/local/lib/systemd/system",
		"/usr/lib/systemd/system",
		"/lib/systemd/system",
	};
	bool found = false;
	char path[256];

	for (size_t i = 0; !found && i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folders[i], name);
		found = doctor_exists(d, path);
	}
	return found;
}

const char *doctor_gain_rights(void)
{
	return geteuid() ? "run 'cpi doctor' as root, or with cpid's capabilities"
			 : "add the capabilities of cpid(8), PRIVILEGES, to this "
			   "container or service";
}

long doctor_number(const struct doctor *d, const char *path, long fallback)
{
	struct buf text = { 0 };
	long value = fallback;
	char *end;

	if (!doctor_read(d, path, &text)) {
		value = strtol(buf_str(&text), &end, 10);
		if (end == text.data)
			value = fallback;
	}
	buf_fini(&text);
	return value;
}
