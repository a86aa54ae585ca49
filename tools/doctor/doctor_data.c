/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor_data.c - what is stored, and what makes it readable: space, symbols, the time
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>

#include "base/err.h"
#include "tools/doctor/doctor.h"

#define MB 1000000.0

/* The nearest folder above path that exists, in out. */
static void find_folder(const char *path, char *out, size_t size)
{
	struct statvfs st;
	char *slash;

	snprintf(out, size, "%s", path);
	while ((slash = strrchr(out, '/')) && slash > out) {
		*slash = '\0';
		if (!statvfs(out, &st))
			return;
	}
	snprintf(out, size, slash ? "/" : ".");
}

static void check_space(struct doctor *d)
{
	char folder[1024], what[1200], fix[200];
	struct statvfs fs;
	struct stat st;
	double free_bytes, wanted = (double)d->limit_bytes;

	find_folder(d->db, folder, sizeof(folder));
	if (statvfs(folder, &fs)) {
		doctor_add(d, "space", DOCTOR_NOTE, "the free space is not known",
			   "The database grows up to its limit.",
			   "df -h /var/lib/cpi, or name the database with --db");
		return;
	}
	if (!stat(d->db, &st))
		wanted -= (double)st.st_size;
	free_bytes = (double)fs.f_bavail * (double)fs.f_frsize;
	snprintf(what, sizeof(what), "%.0f MB are free in %s", free_bytes / MB, folder);
	snprintf(fix, sizeof(fix),
		 "make room, or write 'retain = hourly:7d,daily:90d,size:500M' into "
		 "/etc/cpi/cpid.conf and run %s",
		 doctor_reload(d));
	if (free_bytes >= wanted)
		doctor_ok(d, "space", "%s", what);
	else
		doctor_add(
			d, "space",
			free_bytes < 100 * MB ? DOCTOR_PROBLEM : DOCTOR_NOTE, what,
			"The database may grow to the size that 'retain' allows. On a "
			"full disk counts wait in memory, and are lost when that is "
			"full.",
			fix);
}

/* Whether the folder has anything in it. */
static bool has_files(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *e;
	bool found = false;

	while (dir && !found && (e = readdir(dir)))
		found = e->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return found;
}

static void check_debug_files(struct doctor *d)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	char folder[1024];

	snprintf(folder, sizeof(folder), "%s/usr/lib/debug/.build-id", d->root);
	if (has_files(folder))
		doctor_ok(d, "debug-symbols", "debug files are in /usr/lib/debug");
	else if (servers && *servers)
		doctor_ok(d, "debug-symbols", "reports with --debuginfod ask %.200s",
			  servers);
	else
		doctor_add(
			d, "debug-symbols", DOCTOR_NOTE,
			"there are no debug files, and DEBUGINFOD_URLS is not set",
			"Procedures of stripped programs are shown by their offsets, "
			"and without source lines.",
			"export DEBUGINFOD_URLS=https://debuginfod.debian.net, or your "
			"distribution's server, and use --debuginfod");
}

static void check_time(struct doctor *d)
{
	struct timex t = { .modes = 0 };

	if (*d->root)
		return;
	if (adjtimex(&t) == TIME_ERROR || t.status & STA_UNSYNC)
		doctor_add(
			d, "time", DOCTOR_NOTE, "no service keeps the clock right",
			"Epochs have the times of this clock. A clock that jumps makes "
			"gaps, and other machines' profiles do not line up.",
			doctor_has_systemd(d) &&
					doctor_has_unit(d, "systemd-timesyncd.service")
				? "systemctl enable --now systemd-timesyncd"
				: "install and start a service, such as chrony; in a "
				  "container or guest: on its host");
	else
		doctor_ok(d, "time", "the clock is synchronised");
}

void doctor_check_data(struct doctor *d)
{
	check_space(d);
	check_debug_files(d);
	check_time(d);
}
