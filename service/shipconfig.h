/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shipconfig.h - which store the configuration files of cpi-ship name
 *
 * cpi-ship reads all of its options by options.h. This is for programs that only want
 * to know whether, and where, this machine sends its profiles.
 */
#ifndef CPI_SERVICE_SHIPCONFIG_H
#define CPI_SERVICE_SHIPCONFIG_H

#define SHIPCONFIG_FILE    "/etc/cpi/cpi-ship.conf" /* and files in cpi-ship.conf.d */
#define SHIPCONFIG_SECTION "cpi-ship"

struct shipconfig_store {
	char *url;         /* NULL: none is named */
	char *file;        /* where that was said last; NULL: nowhere */
	unsigned int line; /* in the file */
};

/*
 * Reads path, which may be missing, and path.d/NAME.conf: the last store counts.
 * Returns 0; or -EINVAL, -ENOMEM or another -errno, after a message on stderr. The
 * caller calls shipconfig_fini().
 */
int shipconfig_read(const char *path, struct shipconfig_store *out);
void shipconfig_fini(struct shipconfig_store *s);

#endif
