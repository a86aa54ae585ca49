/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graphviz.c - starts dot, and reads the layout that it prints as plain text
 *
 * dot reads its whole input before it lays out the graph, so one process can write
 * first and read the result from a file in memory.
 */
#include "config.h"

#include "tools/ui/graphviz.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

#define PAD (4.0 / 72) /* inches around the graph in a picture: dot's own */

extern char **environ;

/*
 * Starts dot, which reads from fd and writes to out. Returns its process, or a negative
 * error.
 */
static pid_t start_dot(const char *form, int fd, int other, int out)
{
	char option[16];
	char *const argv[] = { (char *)"dot", option, NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int err;

	snprintf(option, sizeof(option), "-T%s", form);
	err = posix_spawn_file_actions_init(&actions);
	if (err)
		return -err;
	err = posix_spawn_file_actions_adddup2(&actions, fd, STDIN_FILENO);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (!err)
		err = posix_spawn_file_actions_addclose(&actions, other);
	if (!err)
		err = posix_spawnp(&pid, "dot", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return err ? -err : pid;
}

int graphviz_run(const struct buf *dot, const char *form, int out)
{
	void (*old)(int);
	int fd[2], status = 0, err;
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC) < 0)
		return -errno;
	pid = start_dot(form, fd[0], fd[1], out);
	close(fd[0]);
	if (pid < 0) {
		close(fd[1]);
		return pid;
	}
	old = signal(SIGPIPE, SIG_IGN); /* dot may die before it has read everything */
	err = file_write(fd[1], dot->data, dot->len);
	signal(SIGPIPE, old);
	close(fd[1]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return !WIFEXITED(status) || WEXITSTATUS(status) ? -EIO : err;
}

/* dot's plain form counts inches from the bottom left, and has the middle of a node. */
static void take_node(const char *line, double wide, double high, size_t nr,
		      struct graphviz_box *box)
{
	double x, y, width, height;
	size_t i;

	if (sscanf(line, "node b%zu %lf %lf %lf %lf", &i, &x, &y, &width, &height) !=
		    5 ||
	    i >= nr)
		return;
	wide += 2 * PAD;
	high += 2 * PAD;
	box[i] = (struct graphviz_box){ .x = (x - width / 2 + PAD) / wide,
					.y = 1 - (y + height / 2 + PAD) / high,
					.width = width / wide,
					.height = height / high };
}

static int read_boxes(FILE *f, size_t nr, struct graphviz_box *box)
{
	double scale, wide = 0, high = 0;
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, f) > 0) {
		if (!strncmp(line, "graph ", 6) &&
		    sscanf(line, "graph %lf %lf %lf", &scale, &wide, &high) != 3)
			break;
		if (wide > 0 && high > 0)
			take_node(line, wide, high, nr, box);
	}
	free(line);
	return ferror(f) ? -EIO : 0;
}

int graphviz_boxes(const struct buf *dot, size_t nr, struct graphviz_box *box)
{
	const int fd = memfd_create("layout", MFD_CLOEXEC);
	FILE *f;
	int err;

	if (fd < 0)
		return -errno;
	for (size_t i = 0; i < nr; i++)
		box[i] = (struct graphviz_box){ 0 };
	err = graphviz_run(dot, "plain", fd);
	f = err ? NULL : fdopen(fd, "r");
	if (!f) {
		err = err ? err : -errno;
		close(fd);
		return err;
	}
	rewind(f);
	err = read_boxes(f, nr, box);
	fclose(f);
	return err;
}
