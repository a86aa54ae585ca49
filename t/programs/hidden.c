/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hidden - lets whoever reads its environment wait, as far as the kernel allows
 *
 * Drops the pages of the variable HIDDEN, which has to be long, and answers no fault
 * there. Says "ready", and sleeps. Exit 77 without userfaultfd(2).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096UL

int main(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	const char *text = getenv("HIDDEN");
	uintptr_t start, end;
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (!text || strlen(text) < 4 * PAGE)
		return 2;
	start = ((uintptr_t)text + PAGE) & -PAGE;
	end = ((uintptr_t)text + strlen(text)) & -PAGE;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0)
		return 77;
	struct uffdio_register pages = { .range = { start, end - start },
					 .mode = UFFDIO_REGISTER_MODE_MISSING };
	if (ioctl(fd, UFFDIO_REGISTER, &pages) < 0 ||
	    madvise((void *)start, end - start, MADV_DONTNEED) < 0) {
		perror("hidden");
		return 77;
	}
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
