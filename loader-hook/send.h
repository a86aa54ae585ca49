/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * send.h - sends a datagram to cpid, without side effects on the program
 */
#ifndef CPI_LOADER_HOOK_SEND_H
#define CPI_LOADER_HOOK_SEND_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Sends size bytes to the socket at path; a path that is too long is ignored. Every
 * failure is silent. Never waits, and leaves nothing behind. is_running says that the
 * program runs, so it may have set system call filters.
 */
void send_datagram(const char *path, bool is_running, const void *data, size_t size);

#endif
