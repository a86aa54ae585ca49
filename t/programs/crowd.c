/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * crowd FOLDER PROCESSES IMAGES - many processes that have many files mapped
 *
 * Makes IMAGES files of code in FOLDER, and as many processes, each of which maps one
 * of them, runs its code for about a millisecond, and sleeps. Prints "ready" when all
 * do; ends them, and removes the files, when its standard input ends. Exit 77 when the
 * machine does not have so many processes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_SKIP = 77, PAGE = 4096, CODE = 256, TURNS = 500000 };

typedef uint64_t spin_fn(uint64_t turns);

static void die(const char *what)
{
	perror(what);
	exit(errno == EAGAIN || errno == ENOMEM ? EXIT_SKIP : EXIT_FAILURE);
}

/* What is in the files: it calls nothing, and no address is in it. */
static uint64_t spin(uint64_t turns)
{
	uint64_t x = 1;

	while (turns--)
		x = x * 6364136223846793005ULL + turns;
	return x;
}

static const char *name_of(const char *folder, int image)
{
	static char name[PATH_MAX];

	snprintf(name, sizeof(name), "%s/image%d", folder, image);
	return name;
}

static void make_image(const char *folder, int image)
{
	char page[PAGE] = { 0 };
	int fd = open(name_of(folder, image), O_WRONLY | O_CREAT | O_EXCL, 0755);

	memcpy(page, (const void *)(uintptr_t)spin, CODE);
	memcpy(page + CODE, &image, sizeof(image));
	if (fd < 0 || write(fd, page, PAGE) != PAGE || close(fd))
		die("image");
}

/* One of the crowd: ends when nobody has the other end of wait_fd any more. */
static void live(const char *image, int ready_fd, int wait_fd)
{
	int fd = open(image, O_RDONLY);
	void *code = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	char byte = 0;

	if (fd < 0 || code == MAP_FAILED)
		die(image);
	((spin_fn *)(uintptr_t)code)(TURNS);
	if (write(ready_fd, &byte, 1) != 1 || read(wait_fd, &byte, 1))
		die("pipe");
	_exit(0);
}

int main(int argc, char **argv)
{
	int nr = argc == 4 ? atoi(argv[2]) : 0,
	    nr_images = argc == 4 ? atoi(argv[3]) : 0;
	int ready[2], end[2], status, failed = 0;
	char byte;

	if (nr < 1 || nr_images < 1) {
		fprintf(stderr, "usage: crowd FOLDER PROCESSES IMAGES\n");
		return 2;
	}
	if (pipe(ready) || pipe(end))
		die("pipe");
	for (int i = 0; i < nr_images; i++)
		make_image(argv[1], i);
	for (int i = 0; i < nr; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork"); /* which closes end[1], and so ends the others */
		if (!pid) {
			close(end[1]);
			live(name_of(argv[1], i % nr_images), ready[1], end[0]);
		}
	}
	close(ready[1]);
	for (int i = 0; i < nr; i++) {
		if (read(ready[0], &byte, 1) != 1)
			die("a process");
	}
	puts("ready");
	fflush(stdout);
	while (read(0, &byte, 1) > 0)
		;
	close(end[1]);
	while (wait(&status) > 0)
		failed |= status;
	for (int i = 0; i < nr_images; i++)
		unlink(name_of(argv[1], i));
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
