/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * workers.c - a queue of processes, each with a file for its result
 *
 * The file is in the folder for temporary files, and unlinked. A result may be long
 * (cpi calc --all), so it is not kept in memory, and no worker waits until the process
 * has read the results of workers before it. The file begins with the error of
 * worker_fn, which a worker that died has not written.
 */
#include "config.h"

#include "report/workers/workers.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "base/syscallfilter.h"

#define MAX_JOBS   64
#define MAX_QUEUED 256 /* jobs whose results wait for one before them */
#define UNABLE     75  /* exit status; EX_TEMPFAIL of sysexits.h */

/*
 * Besides memory and open files: what libraries use to read debug files. mapping.h sets
 * a handler, and asks for the user, before it maps one.
 */
static const int allowed[] = {
	SYS_read,         SYS_write,          SYS_pread64,   SYS_pwrite64,
	SYS_readv,        SYS_writev,         SYS_fstat,     SYS_statx,
	SYS_lseek,        SYS_close,          SYS_fcntl,     SYS_mmap,
	SYS_munmap,       SYS_mremap,         SYS_mprotect,  SYS_madvise,
	SYS_brk,          SYS_futex,          SYS_getrandom, SYS_clock_gettime,
	SYS_rt_sigreturn, SYS_rt_sigprocmask, SYS_exit,      SYS_exit_group,
	SYS_readlinkat,   SYS_faccessat,      SYS_getpid,    SYS_gettid,
	SYS_getcwd,       SYS_sched_yield,    SYS_tgkill,    SYS_rt_sigaction,
	SYS_geteuid,
#ifdef SYS_newfstatat
	SYS_newfstatat,
#endif
#ifdef SYS_readlink
	SYS_readlink,     SYS_access,         SYS_stat,      SYS_lstat,
#endif
#ifdef SANITIZERS
	SYS_sigaltstack,
#endif
};

struct worker {
	void *job;
	pid_t pid;
	int process; /* pidfd; -1: it has ended */
	int signal;
	bool failed;
	bool unable; /* to begin, or to write its result */
	FILE *file;
};

struct workers {
	unsigned int nr, running;
	worker_fn fn;
	worker_done_fn done;
	void *ctx;
	struct worker queue[MAX_QUEUED];
	size_t first, nr_queued;
};

/* 0: it says nothing, or no number. */
static uint64_t asked_for(void)
{
	const char *text = getenv("CPI_JOBS");
	uint64_t nr = 0;

	return text && !number_parse(text, 0, &nr) ? nr : 0;
}

bool workers_are_asked_for(void)
{
	return asked_for() > 0;
}

unsigned int workers_wanted(void)
{
	uint64_t nr = asked_for();
	cpu_set_t set;

	if (!nr)
		nr = sched_getaffinity(0, sizeof(set), &set)
			     ? 1
			     : (uint64_t)CPU_COUNT(&set);
	return nr < MAX_JOBS ? (unsigned int)nr : MAX_JOBS;
}

struct workers *workers_new(unsigned int nr, worker_fn fn, worker_done_fn done,
			    void *ctx)
{
	struct workers *w = calloc(1, sizeof(*w));

	signal(SIGCHLD, SIG_DFL); /* if it is ignored, waitid() does not say how */
	if (w) {
		w->nr = nr;
		w->fn = fn;
		w->done = done;
		w->ctx = ctx;
	}
	return w;
}

static struct worker *queued(struct workers *w, size_t i)
{
	return &w->queue[(w->first + i) % MAX_QUEUED];
}

/* ---- the worker ---- */

static int confine(void)
{
	const struct rlimit none = { 0, 0 };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) < 0 ||
	    setrlimit(RLIMIT_CORE, &none) < 0)
		return -errno;
	return syscall_filter_set(allowed, sizeof(allowed) / sizeof(allowed[0]), true);
}

/* Runs the job; does not return. */
static void work(const struct workers *w, struct worker *own, pid_t parent)
{
	const int file = fileno(own->file);
	int err = prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ? -errno : 0;

	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	signal(SIGXFSZ, SIG_IGN); /* a write then fails with EFBIG */
	if (!err && dup2(file, STDOUT_FILENO) < 0)
		err = -errno;
	if (!err)
		err = confine();
	if (err || lseek(file, sizeof(err), SEEK_SET) < 0)
		_exit(UNABLE);
	err = w->fn(w->ctx, own->job, file);
	_exit(pwrite(file, &err, sizeof(err), 0) == sizeof(err) ? EXIT_SUCCESS
								: UNABLE);
}

/* ---- the process ---- */

static void end(struct worker *p)
{
	siginfo_t info = { 0 };

	if (p->process < 0)
		return;
	while (waitid(P_PIDFD, (id_t)p->process, &info, WEXITED) < 0 && errno == EINTR)
		;
	p->signal = info.si_code == CLD_EXITED ? 0 : info.si_status;
	p->failed = info.si_code != CLD_EXITED || info.si_status;
	p->unable = info.si_code == CLD_EXITED && info.si_status == UNABLE;
	close(p->process);
	p->process = -1;
}

/* Waits until a worker has ended, if wait is set; notes all that have. */
static void collect(struct workers *w, bool wait)
{
	struct pollfd fds[MAX_QUEUED];
	struct worker *of[MAX_QUEUED];
	nfds_t nr = 0;

	for (size_t i = 0; i < w->nr_queued; i++) {
		if (queued(w, i)->process < 0)
			continue;
		of[nr] = queued(w, i);
		fds[nr++] = (struct pollfd){ .fd = queued(w, i)->process,
					     .events = POLLIN };
	}
	while (nr && poll(fds, nr, wait ? -1 : 0) < 0 && errno == EINTR)
		;
	for (nfds_t i = 0; i < nr; i++) {
		if (!fds[i].revents)
			continue;
		end(of[i]);
		w->running--;
	}
}

/* Gives out the result of a worker that has ended. */
static int give(struct workers *w, struct worker *p)
{
	struct worker_result r = { .job = p->job,
				   .signal = p->signal,
				   .err = p->failed && !p->unable ? -ECHILD : -EIO };
	const int file = fileno(p->file);
	struct stat st;
	void *data = NULL;
	int err;

	if (!p->failed && !fstat(file, &st) && (size_t)st.st_size >= sizeof(r.err)) {
		data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, file, 0);
		if (data == MAP_FAILED)
			data = NULL;
	}
	if (data) {
		memcpy(&r.err, data, sizeof(r.err));
		r.data = (const uint8_t *)data + sizeof(r.err);
		r.size = (size_t)st.st_size - sizeof(r.err);
	}
	err = w->done(w->ctx, &r);
	if (data)
		munmap(data, (size_t)st.st_size);
	fclose(p->file);
	return err;
}

/* Gives out the results of the oldest workers, while these have ended. */
static int give_all(struct workers *w)
{
	int err = 0;

	while (!err && w->nr_queued && queued(w, 0)->process < 0) {
		struct worker oldest = *queued(w, 0);

		w->first = (w->first + 1) % MAX_QUEUED;
		w->nr_queued--;
		err = give(w, &oldest);
	}
	return err;
}

static int make_room(struct workers *w)
{
	int err;

	collect(w, false);
	err = give_all(w);
	while (!err && (w->running >= w->nr || w->nr_queued == MAX_QUEUED)) {
		collect(w, true);
		err = give_all(w);
	}
	return err;
}

int workers_start(struct workers *w, void *job, bool *started)
{
	struct worker p = { .job = job };
	const pid_t parent = getpid();
	int err = make_room(w);

	*started = false;
	p.file = err ? NULL : tmpfile();
	if (!p.file)
		return err;
	fflush(NULL);
	p.pid = fork();
	if (!p.pid)
		work(w, &p, parent);
	p.process = p.pid < 0 ? -1 : pidfd_open(p.pid, 0);
	if (p.process < 0) {
		if (p.pid > 0) {
			kill(p.pid, SIGKILL);
			waitpid(p.pid, NULL, 0);
		}
		fclose(p.file);
		return 0;
	}
	*queued(w, w->nr_queued++) = p;
	w->running++;
	*started = true;
	return 0;
}

int workers_finish(struct workers *w)
{
	int err = give_all(w);

	while (!err && w->nr_queued) {
		collect(w, true);
		err = give_all(w);
	}
	return err;
}

void workers_free(struct workers *w, void (*drop)(void *job))
{
	if (!w)
		return;
	for (size_t i = 0; i < w->nr_queued; i++) {
		struct worker *p = queued(w, i);

		if (p->process >= 0)
			kill(p->pid, SIGKILL);
		end(p);
		fclose(p->file);
		drop(p->job);
	}
	free(w);
}
