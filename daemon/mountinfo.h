/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mountinfo.h - what kind of file system a mount is, by /proc/PID/mountinfo
 */
#ifndef CPI_DAEMON_MOUNTINFO_H
#define CPI_DAEMON_MOUNTINFO_H

#include <sys/types.h>

enum mountinfo_kind {
	MOUNTINFO_NONE,    /* the text has no such mount */
	MOUNTINFO_LOCAL,   /* the kernel answers by itself */
	MOUNTINFO_OVERLAY, /* what is below it answers */
	MOUNTINFO_REMOTE,  /* a program, or another machine, answers, or does not */
};

/* The mount of this number; the last mount of this device. */
enum mountinfo_kind mountinfo_find_mount(const char *text, int mount_id);
enum mountinfo_kind mountinfo_find_device(const char *text, dev_t device);

#endif
