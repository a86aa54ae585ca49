/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kerneltext_none.c - a stub for builds without BPF: kerneltext_open() fails
 */
#include "config.h"

#include <errno.h>

#include "daemon/procmap/kerneltext.h"

int kerneltext_open(struct kerneltext **out)
{
	(void)out;
	return -EOPNOTSUPP;
}

void kerneltext_close(struct kerneltext *t)
{
	(void)t;
}

int kerneltext_read(struct kerneltext *t, uint64_t address, void *to, size_t size)
{
	(void)t;
	(void)address;
	(void)to;
	(void)size;
	return -EOPNOTSUPP;
}
