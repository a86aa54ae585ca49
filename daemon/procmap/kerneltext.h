/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kerneltext.h - reads the kernel's own code as it is in memory
 *
 * No file has this code, because the kernel patches itself when it boots, and again
 * when tracing begins. /proc/kcore needs a capability that allows much more than
 * reading, and many kernels are built without it. A BPF program can read kernel memory
 * with capabilities that the collectors need anyway (CAP_PERFMON, CAP_BPF).
 */
#ifndef CPI_DAEMON_KERNELTEXT_H
#define CPI_DAEMON_KERNELTEXT_H

#include <stddef.h>
#include <stdint.h>

struct kerneltext;

/*
 * Returns 0 or -errno: -EPERM without these capabilities; -EINVAL if lockdown forbids
 * reading, or on kernels before 5.5, which lack what the program needs.
 */
int kerneltext_open(struct kerneltext **out);
void kerneltext_close(struct kerneltext *t); /* accepts NULL */

/*
 * Copies size bytes from a kernel address. Returns 0 if all were copied, else -errno:
 * -ENOTSUPP on Linux 5.5 to 5.9, which cannot run such a program on request.
 */
int kerneltext_read(struct kerneltext *t, uint64_t address, void *to, size_t size);

#endif
