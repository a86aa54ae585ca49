/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kerneltext.h - the kernel's own code, as it runs
 *
 * No file has it: the kernel patches itself when it boots, and again when tracing
 * begins. /proc/kcore wants a capability that allows far more than reading, and many
 * kernels are built without. A BPF program may read the kernel's memory with what the
 * collectors need anyway (CAP_PERFMON, CAP_BPF).
 */
#ifndef CPI_DAEMON_KERNELTEXT_H
#define CPI_DAEMON_KERNELTEXT_H

#include <stddef.h>
#include <stdint.h>

struct kerneltext;

/*
 * 0, or -errno: -EPERM without the privilege, -ENOTSUPP or -EINVAL before Linux 5.10,
 * which cannot run such a program on request, and where lockdown forbids to read.
 */
int kerneltext_open(struct kerneltext **out);
void kerneltext_close(struct kerneltext *t); /* accepts NULL */

/* Copies size bytes from a kernel address: all of them, or -errno. */
int kerneltext_read(struct kerneltext *t, uint64_t address, void *to, size_t size);

#endif
