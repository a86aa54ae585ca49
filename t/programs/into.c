/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * into CGROUP PROGRAM ARGUMENT... - makes a child in a cgroup, and waits for it
 *
 * The child is there from its first moment: nobody moves it. CGROUP is a directory.
 * Exit 77 when the kernel cannot do that.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct clone_args args = { .exit_signal = SIGCHLD };
	int fd, status;
	long child;

	if (argc < 3)
		return 2;
	fd = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		perror(argv[1]);
		return 1;
	}
	args.flags = CLONE_INTO_CGROUP;
	args.cgroup = (uint64_t)fd;
	child = syscall(SYS_clone3, &args, sizeof(args));
	if (child < 0) {
		perror("clone3");
		return 77;
	}
	if (!child) {
		execv(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	return waitpid((pid_t)child, &status, 0) == child && !status ? 0 : 1;
}
