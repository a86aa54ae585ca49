/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memfd PROGRAM ARGUMENT... - runs a copy of PROGRAM that no directory has
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int copy = memfd_create("program", MFD_CLOEXEC), from;
	struct stat st;

	if (argc < 2)
		errx(1, "usage: memfd PROGRAM ARGUMENT...");
	from = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (copy < 0 || from < 0 || fstat(from, &st) ||
	    sendfile(copy, from, NULL, st.st_size) != st.st_size)
		err(1, "%s", argv[1]);
	fexecve(copy, argv + 1, environ);
	err(1, "fexecve");
}
