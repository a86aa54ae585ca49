/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * newprogram_none.c - builds without BPF: newprogram_open() fails
 */
#include "config.h"

#include <errno.h>

#include "daemon/mappings/newprogram.h"

int newprogram_open(struct newprogram **out)
{
	(void)out;
	return -EOPNOTSUPP;
}

int newprogram_watch(const struct newprogram *n, int epoll_fd)
{
	(void)n;
	(void)epoll_fd;
	return -EOPNOTSUPP;
}

void newprogram_close(struct newprogram *n)
{
	(void)n;
}

bool newprogram_take(struct newprogram *n, uint64_t *inode)
{
	(void)n;
	(void)inode;
	return false;
}
