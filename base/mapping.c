/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapping.c - maps files, and survives that they shrink
 *
 * A handler of SIGBUS maps a page of zeros where the file no longer has a page. A
 * handler can only use file-scope state: a table of the mappings. A thread claims a
 * slot by its start; the handler finds it by an address between start and end.
 *
 * I1  A slot's end is 0 while its start is being set or its memory is not mapped.
 */
#include "config.h"

#include "base/mapping.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_MAPPINGS 64

static struct {
	_Atomic uintptr_t start; /* 0 if the slot is free */
	_Atomic uintptr_t end;
} slots[MAX_MAPPINGS];

static bool is_mapped(uintptr_t at)
{
	for (int i = 0; i < MAX_MAPPINGS; i++)
		if (at < atomic_load(&slots[i].end) &&
		    at >= atomic_load(&slots[i].start))
			return true;
	return false;
}

/*
 * Maps a page of zeros at an address in a mapping. A SIGBUS at any other address gets
 * the default action: the instruction is repeated without a handler.
 */
static void on_bus_error(int sig, siginfo_t *info, void *context)
{
	const uintptr_t at = (uintptr_t)info->si_addr;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const int saved = errno;

	if (!is_mapped(at) ||
	    mmap((void *)(at & ~(page - 1)), page, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		signal(SIGBUS, SIG_DFL);
	errno = saved;
}

bool mapping_is_safe(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && !(st.st_mode & (S_IWGRP | S_IWOTH)) &&
	       (st.st_uid == 0 || st.st_uid == geteuid());
}

int mapping_open(int fd, size_t size, void **out)
{
	const struct sigaction action = { .sa_sigaction = on_bus_error,
					  .sa_flags = SA_SIGINFO | SA_RESTART };
	void *data;

	if (sigaction(SIGBUS, &action, NULL) < 0)
		return -errno;
	data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd,
		    0);
	if (data == MAP_FAILED)
		return -errno;
	for (int i = 0; i < MAX_MAPPINGS; i++) {
		uintptr_t none = 0;

		if (!atomic_compare_exchange_strong(&slots[i].start, &none,
						    (uintptr_t)data))
			continue;
		atomic_store(&slots[i].end, (uintptr_t)data + size);
		*out = data;
		return 0;
	}
	munmap(data, size);
	return -EMFILE;
}

void mapping_close(void *data, size_t size)
{
	if (!data)
		return;
	for (int i = 0; i < MAX_MAPPINGS; i++) {
		if (atomic_load(&slots[i].start) != (uintptr_t)data)
			continue;
		atomic_store(&slots[i].end, 0);
		atomic_store(&slots[i].start, 0);
	}
	munmap(data, size);
}
