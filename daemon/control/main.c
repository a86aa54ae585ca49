/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main.c - cpid: one poll loop for the session and signals
 *
 * A separate thread serves the control socket, and passes requests to this loop.
 * Signals arrive through a descriptor, so nothing here runs asynchronously.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#ifdef HAVE_MALLOPT
#include <malloc.h>
#endif
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "abi/announce.h"
#include "base/err.h"
#include "base/log.h"
#include "daemon/control/control.h"
#include "daemon/collect/event.h"
#include "daemon/os/heartbeat.h"
#include "daemon/control/metrics.h"
#include "daemon/control/options.h"
#include "daemon/os/privileges.h"
#include "daemon/session/session.h"
#include "service/keepalive.h"
#include "service/notify.h"

#define DEFAULT_GROUP "cpi"
#define SQL_STEPS     10000 /* instructions of SQLite's between two beats */

enum { EXIT_USAGE = 2 };

struct daemon {
	struct options *options;
	int argc; /* the command line, which a reload reads again */
	char **argv;
	struct session *session;
	struct control *control;
	struct metrics *metrics; /* NULL: no metrics are written */
	struct heartbeat heartbeat;
	struct keepalive keepalive;
	int signal_fd;
	bool quit;
	char announce_path[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

/* Descriptors 0 to 2 are never free for a database or a socket. */
static void occupy_standard_fds(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/*
 * Sets the group of new files; its members may read the samples. Without root, only
 * the process's own group is possible. *gid is -1 if there is none.
 */
static int adopt_group(const char *name, gid_t *gid)
{
	const struct group *gr = getgrnam(name ? name : DEFAULT_GROUP);

	*gid = (gid_t)-1;
	if (!gr && name) {
		log_err("group: %s: there is no such group", name);
		return -ENOENT;
	}
	if (!gr)
		return 0;
	if (gr->gr_gid != getegid() && setgid(gr->gr_gid) < 0) {
		if (!name)
			return 0;
		log_err("group: cannot create files of group %s: %m; start cpid as "
			"root, or with that group",
			name);
		return -EPERM;
	}
	*gid = gr->gr_gid;
	return 0;
}

static int open_signals(int *out)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a write then fails with EFBIG, as on a full disk */
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return -errno;
	*out = fd;
	return 0;
}

static int open_log(const char *path)
{
	int err = path ? log_open(path) : 0;

	if (err)
		log_err("log: %s: cannot open: %s", path, err_str(err));
	return err;
}

static void reopen_log(const char *path)
{
	int err;

	if (!path)
		return;
	err = log_open(path);
	if (err)
		log_err("log: %s: cannot reopen: %s; still writing to the old one",
			path, err_str(err));
	else
		log_info("log: reopened");
}

static void warn_untold(int err)
{
	if (err)
		log_warn("notify: cannot tell the service manager: %s", err_str(err));
}

static void tell_manager(const char *text)
{
	warn_untold(notify_send("%s", text));
}

/* Puts the current options into the status, for cpi config. */
static void publish_options(struct daemon *d)
{
	struct buf text = { 0 };

	if (!service_options_describe(options_program(), &d->options->settings, &text))
		control_describe(d->control, &text);
	buf_fini(&text);
}

static int take_options(struct daemon *d, struct options *now)
{
	struct service_changes changes = { 0 };
	int err = service_options_compare(options_program(), &d->options->settings,
					  &now->settings, &changes);

	if (!err && changes.changed.len)
		err = session_reconfigure(d->session, &now->session);
	if (!err)
		err = options_take(d->options, now);
	if (!err)
		log_set_level(now->verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO);
	service_changes_end(&changes, !err);
	return err;
}

static void reload(struct daemon *d)
{
	struct options now;
	int err;

	warn_untold(notify_reloading());
	err = options_parse(d->argc, d->argv, &now);
	if (!err)
		err = take_options(d, &now);
	if (err)
		log_err("config: %s: the previous options stay", err_str(err));
	options_fini(&now);
	publish_options(d);
	tell_manager("READY=1");
}

static void handle_signal(struct daemon *d, int number)
{
	switch (number) {
	case SIGHUP:
		reopen_log(d->options->log);
		reload(d);
		break;
	case SIGUSR1:
		session_flush(d->session); /* which logs what is wrong */
		break;
	default:
		log_info("stopping: %s", strsignal(number));
		d->quit = true;
	}
}

static void take_signals(struct daemon *d)
{
	struct signalfd_siginfo si;

	while (read(d->signal_fd, &si, sizeof(si)) == sizeof(si))
		handle_signal(d, (int)si.ssi_signo);
}

/* The shorter of two times to wait; -1 means forever. */
static int sooner(int a, int b)
{
	if (a < 0 || b < 0)
		return a < 0 ? b : a;
	return a < b ? a : b;
}

static int wait_for_events(struct daemon *d, struct pollfd *fds, int nr, int wait_ms)
{
	const char *before = heartbeat_begin(&d->heartbeat, "nothing");
	int err = poll(fds, nr, wait_ms) < 0 && errno != EINTR ? -errno : 0;

	if (err)
		log_err("poll: %s", err_str(err));
	heartbeat_end(&d->heartbeat, before);
	return err;
}

static int loop(struct daemon *d)
{
	struct pollfd fds[] = {
		{ .fd = session_fd(d->session), .events = POLLIN },
		{ .fd = control_fd(d->control), .events = POLLIN },
		{ .fd = d->signal_fd, .events = POLLIN },
	};
	int wait, metrics_wait = -1, err;

	heartbeat_begin(&d->heartbeat, "sampling");
	for (;;) {
		control_publish(d->control, d->session);
		wait = session_run(d->session);
		if (fds[1].revents)
			control_run(d->control, d->session, &d->quit);
		if (fds[2].revents)
			take_signals(d);
		if (d->quit)
			return 0;
		if (d->metrics)
			metrics_wait = metrics_run(d->metrics, d->session);
		wait = sooner(wait, metrics_wait);
		wait = sooner(wait, keepalive_wait_ms(&d->keepalive));
		err = wait_for_events(d, fds, sizeof(fds) / sizeof(fds[0]), wait);
		if (err)
			return err;
	}
}

/*
 * A daemon that gets too little CPU time loses mapping records. So it raises its
 * priority if permitted, unless one was set (Nice= of the unit).
 */
static void take_precedence(void)
{
	if (getpriority(PRIO_PROCESS, 0) == 0)
		setpriority(PRIO_PROCESS, 0, -10);
}

/* Tells the service manager that a long operation makes progress. */
static void beat(void *ctx)
{
	struct daemon *d = ctx;

	keepalive_beat(&d->keepalive);
}

static int sql_gets_on(void *heartbeat)
{
	heartbeat_progress(heartbeat);
	return 0;
}

static struct heartbeat *the_heartbeat; /* for watch_connection(), without argument */

/* A migration, or a flush to a slow disk, is many instructions of SQLite's. */
static int watch_connection(sqlite3 *h, char **message, const void *api)
{
	sqlite3_progress_handler(h, SQL_STEPS, sql_gets_on, the_heartbeat);
	return SQLITE_OK;
}

/* Opens the session. Only its own connection to the database is watched. */
static int open_session(struct daemon *d, const struct session_config *cfg)
{
	int err;

	the_heartbeat = &d->heartbeat;
	sqlite3_auto_extension((void (*)(void))watch_connection);
	err = session_open(cfg, &d->session);
	sqlite3_cancel_auto_extension((void (*)(void))watch_connection);
	return err;
}

/* Names the loader hook's socket after the control socket, if the path has room. */
static void name_announce_socket(struct daemon *d, struct session_config *session)
{
	const char *socket = d->options->socket;
	int n = snprintf(d->announce_path, sizeof(d->announce_path),
			 "%s" CPI_ANNOUNCE_SUFFIX, socket);

	if (n < (int)sizeof(d->announce_path))
		session->announce_path = d->announce_path;
	else
		log_warn("socket: %s: there is no socket for the loader hook, because "
			 "its name would be too long",
			 socket);
}

static int start(struct daemon *d)
{
	const struct options *o = d->options;
	struct session_config session;
	gid_t group;
	int err;

	if (o->user) {
		err = privileges_become(o->user);
		if (err)
			return err;
	}
	err = adopt_group(o->group, &group);
	if (err)
		return err;
	err = open_log(o->log);
	if (err)
		return err;
	err = open_signals(&d->signal_fd);
	if (err) {
		log_err("signals: %s", err_str(err));
		return err;
	}
	take_precedence();
	err = o->metrics ? metrics_open(o->metrics, &d->metrics) : 0;
	if (err)
		return err;
	session = o->session;
	session.heartbeat = &d->heartbeat;
	name_announce_socket(d, &session);
	/* First what fails fast: calibrating and reading /proc take a second. */
	err = control_open(o->socket, group, &d->heartbeat, &d->control);
	if (err)
		return err;
	publish_options(d);
	err = open_session(d, &session);
	if (err)
		return err;
	err = privileges_drop();
	if (!err)
		err = session_retain(d->session);
	if (err)
		return err;
	tell_manager("READY=1\nSTATUS=Sampling");
	keepalive_run(&d->keepalive);
	return 0;
}

static int stop(struct daemon *d)
{
	int err;

	heartbeat_begin(&d->heartbeat, "storing what is left");
	control_end(d->control);
	if (d->session)
		tell_manager("STOPPING=1\nSTATUS=Storing what is left");
	keepalive_stop(&d->keepalive);
	err = session_close(d->session); /* which logs what was lost */
	control_close(d->control);
	metrics_close(d->metrics);
	if (d->signal_fd >= 0)
		close(d->signal_fd);
	return err;
}

static int run_daemon(int argc, char **argv, struct options *o)
{
	struct daemon d = { .options = o, .argc = argc, .argv = argv, .signal_fd = -1 };
	int err, stop_err;

	d.heartbeat.progress = beat;
	d.heartbeat.ctx = &d;

	umask(0027);
	if (o->verbose)
		log_set_level(LOG_LEVEL_DEBUG);
	err = start(&d);
	if (!err)
		err = loop(&d);
	stop_err = stop(&d);
	return err ? err : stop_err;
}

#ifdef HAVE_MALLOPT
/*
 * glibc raises its mmap threshold to the size of the largest array that was freed.
 * Kernel symbols are read from some 10 MB of text, so tables of that size would come
 * from the heap, where calloc() writes them.
 */
static void give_tables_pages_of_their_own(void)
{
	mallopt(M_MMAP_THRESHOLD, 512 << 10);
	mallopt(M_ARENA_MAX, 2);
}
#else
static void give_tables_pages_of_their_own(void)
{
}
#endif

/* Names of events are looked up, as the daemon does when it starts. */
static int check_events(const struct session_config *s)
{
	struct event event;
	int err = 0;

	for (int i = 0; !err && i < s->nr_events; i++)
		err = event_parse(s->events[i], 0, &event);
	return err;
}

int main(int argc, char **argv)
{
	struct options o;
	int err, code = EXIT_FAILURE;

	occupy_standard_fds();
	give_tables_pages_of_their_own();
	log_set_name("cpid");
	err = options_parse(argc, argv, &o);
	if (!err && o.check)
		err = check_events(&o.session);
	if (!err && o.check)
		err = service_options_print(options_program(), &o.settings);
	else if (!err)
		err = run_daemon(argc, argv, &o);
	else if (err == -EINVAL)
		code = EXIT_USAGE;
	if (err >= 0)
		code = EXIT_SUCCESS;
	options_fini(&o);
	return code;
}
