/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor.h - can this machine be profiled well, and what would help?
 *
 * Each check looks at one thing and adds one finding. What cannot be found out is a
 * finding, too, never a guess.
 */
#ifndef CPI_TOOLS_DOCTOR_H
#define CPI_TOOLS_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define DOCTOR_MOUNT_PROC "mount -t proc proc /proc"
#define DOCTOR_MOUNT_SYS  "mount -t sysfs sysfs /sys"

enum doctor_verdict {
	DOCTOR_OK,
	DOCTOR_NOTE,    /* worth knowing, or could not be found out */
	DOCTOR_PROBLEM, /* profiles are worse for it */
	DOCTOR_FATAL,   /* the system cannot be profiled */
};

struct doctor_finding {
	const char *check; /* its name, which stays the same */
	enum doctor_verdict verdict;
	char *what;
	const char *why; /* why it matters; a constant, NULL with DOCTOR_OK */
	char *fix;       /* a command or a thing to do; NULL: all is well */
};

struct doctor {
	/* What to look at. */
	const char *root; /* in front of /proc, /sys and the like; "": this machine */
	const char *db;   /* the database's path */
	const char *release;  /* the kernel's, as uname(2) says */
	double budget;        /* 0.005 for 0.5 % */
	uint64_t limit_bytes; /* of the database */
	/* What was found. */
	struct doctor_finding *findings;
	size_t nr;
	int err; /* 0 or -ENOMEM, sticky */
};

/* Makes all checks; takes about a second, most of it the cost of an interrupt. */
void doctor_run(struct doctor *d);
void doctor_fini(struct doctor *d);

/* The worst verdict. */
enum doctor_verdict doctor_worst(const struct doctor *d);

/* Groups of checks. A test can choose the files of all but doctor_check_here(). */
void doctor_check_kernel(struct doctor *d); /* version, options, known faults */
void doctor_check_limits(struct doctor *d); /* sysctls, lockdown, clock, cgroups */
void doctor_check_data(struct doctor *d);   /* space, symbols, time */
void doctor_check_here(struct doctor *d);   /* rights, PMU, BPF, an interrupt's cost */
void doctor_check_ship(struct doctor *d);   /* the store of a fleet */
void doctor_check_web(struct doctor *d);    /* the certificate of cpi-web */

/* Adds a finding without why and fix. */
void doctor_ok(struct doctor *d, const char *check, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds a finding; what and fix are copied. */
void doctor_add(struct doctor *d, const char *check, enum doctor_verdict verdict,
		const char *what, const char *why, const char *fix);

/* Reads ROOT/PATH without its last newline into out. 0 or -errno. */
int doctor_read(const struct doctor *d, const char *path, struct buf *out);

/* Whether ROOT/PATH exists. */
bool doctor_exists(const struct doctor *d, const char *path);

/* Whether ROOT/PATH is a symlink, whatever it leads to. */
bool doctor_is_link(const struct doctor *d, const char *path);

/* Whether settings of the kernel can be read: /proc may be missing, or hidden in part.
 */
bool doctor_has_sysctl(const struct doctor *d);

/* Whether systemd runs this machine. */
bool doctor_has_systemd(const struct doctor *d);

/* Returns with if systemd runs this machine, else without. */
const char *doctor_by_systemd(const struct doctor *d, const char *with,
			      const char *without);

/* The command that has cpid read its configuration again, in quotes. */
const char *doctor_reload(const struct doctor *d);

/* Whether systemd has a unit of this name. */
bool doctor_has_unit(const struct doctor *d, const char *name);

/* What gives this process more rights. */
const char *doctor_gain_rights(void);

/* The number in ROOT/PATH, or fallback. */
long doctor_number(const struct doctor *d, const char *path, long fallback);

#endif
