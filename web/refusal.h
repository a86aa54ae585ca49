/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * refusal.h - tells 'cpi doctor' that a new certificate is not used
 *
 * As long as the former certificate stays in use, the folder that the service manager
 * made for cpi-web has a file "certificate-refused". It contains the path of the new
 * certificate.
 */
#ifndef CPI_WEB_REFUSAL_H
#define CPI_WEB_REFUSAL_H

#include <stdbool.h>

#define REFUSAL_FILE "certificate-refused"

/*
 * Writes the file, or removes it. Does nothing if there is no folder (dir_fd -1).
 * Returns 0 or -errno.
 */
int refusal_set(int dir_fd, const char *certificate, bool refused);

#endif
