/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * send.h - a datagram to cpid, if that harms nobody
 */
#ifndef CPI_LOADER_HOOK_SEND_H
#define CPI_LOADER_HOOK_SEND_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Sends size bytes to the socket at path; a path that is too long is none. Whatever
 * fails fails silently. Does not wait, and leaves nothing behind. is_running: the
 * program may have put filters on its own system calls.
 */
void send_datagram(const char *path, bool is_running, const void *data, size_t size);

#endif
