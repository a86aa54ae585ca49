/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_record.c - profiles a command, a process, or the system
 *
 * The child is forked first and waits at a pipe. So it inherits no thread, lock or
 * database handle of the session, and its first instruction is sampled: a command's
 * events begin at exec. Signals and the end of the duration arrive through descriptors,
 * between batches of samples. The command receives the signals, and the profile is
 * stored in any case.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/number.h"
#include "base/times.h"
#include "daemon/collect/eventperiod.h"
#include "daemon/session/session.h"
#include "db/core/db.h"
#include "db/profile/context.h"
#include "report/select/client.h"
#include "report/select/select.h"
#include "tools/commands.h"
#include "tools/input/program.h"
#include "tools/input/replay.h"
#include "tools/write/report.h"

#define SAMPLES_HZ 1000.0
#define WINDOWS_HZ 100.0 /* more than cpid takes, because commands are short */

/*
 * Windows begin after so much time (of a command: CPU time), unless they were asked
 * for: to load them takes half a second.
 */
#define WINDOWS_AFTER_NS (1500 * NSEC_PER_MSEC)
#define CAPTURE_S        120 /* how long the capture of code and names may take at the end */

/* Samples per stack: a stack of each kind costs about as much as so many samples. */
#define SAMPLES_PER_FP_STACK    2.0
#define SAMPLES_PER_DWARF_STACK 10.0

/* The exit statuses of shells. */
#define EXIT_CANNOT_RUN 126
#define EXIT_NOT_FOUND  127
#define EXIT_SIGNAL     128

struct options {
	double hz, stacks_hz, duration_s;
	struct text_list events;
	int stacks; /* 0: off */
	uint64_t stacks_copy;
	const char *windows;
	bool with_values;
	const char *output, *label, *raw, *pid;
	const char *by_kinds, *by_process;
	const char *replay, *program;
	bool all_cpus, verbose;
};

struct recording {
	struct session *session;
	pid_t child;   /* 0 if there is no command */
	int go_fd;     /* a byte written here starts the child */
	pid_t process; /* the running process of -p; 0 if there is none */
	int pidfd;     /* and its end; -1 */
	int signal_fd; /* a signalfd; the child's end arrives there, too */
	sigset_t old_signals;
	sighandler_t old_xfsz; /* of SIGXFSZ */
	bool ended, timed_out;
	int wait_status;
	uint64_t start_ns, end_ns;
	unsigned int by; /* the kinds of contexts to keep: 1 << enum context_kind */
	double windows_hz;
};

/* The exit status of a command that cannot be executed. */
static int exec_failed(const char *name, int err)
{
	log_err("%s: %s", name, err_str(err));
	return err == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

static void exec_command(const struct recording *r, int wait_fd, char **args)
{
	char go;

	if (read(wait_fd, &go, 1) != 1)
		_exit(EXIT_FAIL); /* the recording was given up */
	sigprocmask(SIG_SETMASK, &r->old_signals, NULL);
	signal(SIGXFSZ, r->old_xfsz);
	execvp(args[0], args);
	_exit(exec_failed(args[0], -errno));
}

static int start_child(struct recording *r, char **args)
{
	int pipe_fd[2];

	if (pipe2(pipe_fd, O_CLOEXEC) < 0)
		return -errno;
	r->child = fork();
	if (r->child < 0) {
		int err = -errno;

		close(pipe_fd[0]);
		close(pipe_fd[1]);
		return err;
	}
	if (!r->child) {
		close(pipe_fd[1]);
		exec_command(r, pipe_fd[0], args);
	}
	close(pipe_fd[0]);
	r->go_fd = pipe_fd[1];
	return 0;
}

static int catch_signals(struct recording *r)
{
	static const int caught[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		sigaddset(&set, caught[i]);
	sigprocmask(SIG_BLOCK, &set, &r->old_signals);
	r->old_xfsz = signal(SIGXFSZ, SIG_IGN); /* a write then fails with EFBIG */
	r->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return r->signal_fd < 0 ? -errno : 0;
}

static void take_signals(struct recording *r)
{
	struct signalfd_siginfo info;

	while (read(r->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (!r->child)
			r->ended |= info.ssi_signo != SIGCHLD;
		/*
		 * The child got a signal of the terminal already, like its whole group.
		 */
		else if (info.ssi_signo != SIGCHLD && info.ssi_code != SI_KERNEL)
			kill(r->child, info.ssi_signo);
	}
	if (r->child && waitpid(r->child, &r->wait_status, WNOHANG) == r->child)
		r->ended = true;
}

/* After the recording: forwards signals to the child until it ends. */
static void wait_for_child(struct recording *r)
{
	struct pollfd fd = { .fd = r->signal_fd, .events = POLLIN };

	while (r->child && !r->ended) {
		take_signals(r); /* SIGCHLD may have arrived before */
		if (!r->ended)
			poll(&fd, 1, -1);
	}
}

/* The shorter of ms and the rest of the duration, if there is a duration. */
static int wait_ms(const struct recording *r, uint64_t duration_ns, int ms)
{
	const uint64_t passed_ns = time_mono_ns() - r->start_ns;
	uint64_t left_ms;

	if (!duration_ns)
		return ms;
	if (passed_ns >= duration_ns)
		return 0;
	left_ms = (duration_ns - passed_ns) / NSEC_PER_MSEC + 1;
	return left_ms < (uint64_t)ms ? (int)left_ms : ms;
}

/*
 * When the duration is over, sends SIGTERM to a command that still runs, as timeout(1).
 */
static bool is_time_up(struct recording *r, uint64_t duration_ns)
{
	if (!duration_ns || r->ended || time_mono_ns() - r->start_ns < duration_ns)
		return false;
	r->timed_out = true;
	if (r->child)
		kill(r->child, SIGTERM);
	return true;
}

static int run_until_end(struct recording *r, uint64_t duration_ns)
{
	struct pollfd fds[] = {
		{ .fd = session_fd(r->session), .events = POLLIN },
		{ .fd = r->signal_fd, .events = POLLIN },
		{ .fd = r->pidfd, .events = POLLIN },
	};

	while (!r->ended && !is_time_up(r, duration_ns)) {
		int timeout_ms = session_run(r->session);

		if (poll(fds, 3, wait_ms(r, duration_ns, timeout_ms)) < 0 &&
		    errno != EINTR)
			return -errno;
		take_signals(r);
		r->ended |= fds[2].revents != 0;
	}
	return 0;
}

/* A name of the profiled command or process, for messages. */
static const char *what(const struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;

	if (o->pid)
		return o->pid;
	return ctx->nr_args ? ctx->args[0] : "the system";
}

static const char *output(const struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;

	return o->output ? o->output : SELECT_LOCAL_DB;
}

/* The rate of stacks, 0 for none: by default it follows from the rate of samples. */
static double stacks_hz(const struct options *o, enum session_walk walk, double hz)
{
	double per_stack = walk == SESSION_STACKS_DWARF ? SAMPLES_PER_DWARF_STACK
							: SAMPLES_PER_FP_STACK;

	if (o->stacks_hz > 0 || walk == SESSION_STACKS_OFF)
		return o->stacks_hz;
	hz = fmax(hz / per_stack, SESSION_MIN_HZ);
	return fmin(hz, SESSION_STACKS_MAX_HZ);
}

/*
 * Without the right to sample the whole system, BPF programs cannot be loaded either,
 * so there are no windows.
 */
static void choose_target(const struct options *o, const struct recording *r,
			  struct session_config *cfg)
{
	if (o->all_cpus)
		return;
	cfg->target = r->process ? r->process : r->child;
	cfg->enable_on_exec = !r->process;
	if (session_system_access())
		cfg->windows.hz = 0;
}

/*
 * Most programs of distributions have no frame pointers, and frame pointers alone lead
 * to wrong callers there. So unwind tables are used where that is possible.
 */
static enum session_walk stacks_walk(const struct options *o)
{
	/* In the order of the option's words. */
	static const enum session_walk walk[] = { SESSION_STACKS_OFF,
						  SESSION_STACKS_DWARF,
						  SESSION_STACKS_FP };

	if (o->stacks < (int)(sizeof(walk) / sizeof(walk[0])))
		return walk[o->stacks];
	return session_can_unwind() ? SESSION_STACKS_DWARF : SESSION_STACKS_FP;
}

static int make_config(const struct cmd_context *ctx, const struct recording *r,
		       struct session_config *cfg)
{
	const struct options *o = ctx->opt;
	*cfg = session_config_default();
	cfg->db_path = output(ctx);
	cfg->nr_events = o->events.nr;
	for (int i = 0; i < cfg->nr_events; i++)
		cfg->events[i] = o->events.item[i];
	cfg->one_file = true;
	cfg->hz = o->hz > 0 ? o->hz : SAMPLES_HZ;
	cfg->stacks.walk = stacks_walk(o);
	cfg->stacks.hz = stacks_hz(o, cfg->stacks.walk, cfg->hz);
	if (o->stacks_copy)
		cfg->stacks.copy = (uint32_t)o->stacks_copy;
	cfg->windows.hz = r->windows_hz;
	cfg->windows.after_ns = o->windows ? 0 : WINDOWS_AFTER_NS;
	cfg->epoch_ns = 0;
	cfg->capture_end_ns = CAPTURE_S * NSEC_PER_SEC;
	cfg->label = o->label;
	cfg->by = r->by;
	cfg->windows.with_values = o->with_values;
	cfg->windows.by_context = r->by != 0;
	cfg->by_process = o->by_process;
	cfg->raw_fd = -1;
	choose_target(o, r, cfg);
	if (!o->raw)
		return 0;
	cfg->raw_fd = open(o->raw, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (cfg->raw_fd < 0) {
		int err = -errno;

		log_err("%s: %s", o->raw, err_str(err));
		return err;
	}
	return 0;
}

/* Each thread of the target needs a descriptor per event and CPU. */
static void raise_open_files(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l))
		return;
	l.rlim_cur = l.rlim_max;
	setrlimit(RLIMIT_NOFILE, &l);
}

/* Makes the end of the process end the recording. Returns 0 or -errno. */
static int watch_process(struct recording *r)
{
	if (!r->process)
		return 0;
	r->pidfd = (int)syscall(SYS_pidfd_open, r->process, 0);
	if (r->pidfd >= 0)
		return 0;
	r->ended = errno == ESRCH;
	return r->ended ? 0 : -errno;
}

/* Samples until the end. Returns 0 when everything is stored. */
static int record(const struct cmd_context *ctx, struct recording *r)
{
	const struct options *o = ctx->opt;
	struct session_config cfg;
	int err, close_err;

	err = make_config(ctx, r, &cfg);
	if (err)
		return err;
	if (r->process)
		raise_open_files();
	err = session_open(&cfg, &r->session);
	if (err)
		goto out;
	r->start_ns = time_mono_ns();
	err = r->child ? file_write(r->go_fd, "g", 1) : watch_process(r);
	if (!err)
		err = run_until_end(r, (uint64_t)(o->duration_s * NSEC_PER_SEC));
	if (err)
		log_err("%s: %s", what(ctx), err_str(err));
	r->end_ns = time_mono_ns();
	close_err = session_close(r->session);
	err = err ? err : close_err;
out:
	if (cfg.raw_fd >= 0)
		close(cfg.raw_fd);
	return err;
}

/* Whether reports read this database by default. */
static bool is_read_by_default(const char *path)
{
	return !strcmp(path, SELECT_LOCAL_DB) && !db_env_path() &&
	       !client_is_named(NULL);
}

/* Whether only user mode was sampled although the user did not ask for that. */
static bool is_user_only(const struct options *o, const struct query_stream *s)
{
	const char *modifiers = strchr(s->desc.event, ':');

	return !o->events.nr && modifiers && !strcmp(modifiers, ":u");
}

static void sum_up(const struct cmd_context *ctx, const struct recording *r)
{
	const struct options *o = ctx->opt;
	const double seconds = (r->end_ns - r->start_ns) / 1e9;
	const struct select_request read = { .dbs = { { output(ctx) }, 1 } };
	const bool is_default = is_read_by_default(output(ctx));
	uint64_t received = 0, lost = 0, unknown = 0;
	bool user_only = false;
	struct selection sel;

	if (select_open(&read, &sel))
		return;
	for (size_t i = 0; i < sel.streams.nr; i++) {
		const struct query_stream *s = &sel.streams.stream[i];

		user_only |= is_user_only(o, s);
		received += s->received;
		lost += report_nr_lost(&sel, LOSS_LOST, s->id);
		unknown += report_nr_lost(&sel, LOSS_UNKNOWN, s->id);
	}
	log_info("%" PRIu64 " samples%s in %.1f s (%" PRIu64 " lost, %" PRIu64
		 " of unknown images) in %s; try: cpi prof%s%s",
		 received, user_only ? " of user mode" : "", seconds, lost, unknown,
		 output(ctx), is_default ? "" : " --db ",
		 is_default ? "" : output(ctx));
	select_close(&sel);
}

/* Whether there are options that only make sense with sampling. */
static bool asks_to_sample(const struct options *o)
{
	return o->hz > 0 || o->events.nr || o->stacks || o->stacks_hz > 0 ||
	       o->stacks_copy || o->windows || o->with_values || o->raw ||
	       o->by_kinds || o->by_process || o->all_cpus || o->pid ||
	       o->duration_s > 0 || o->verbose;
}

/* Takes the records of a file instead of running a command. */
static int replay(const struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	const struct replay_request req = { .records = o->replay,
					    .program = o->program,
					    .label = o->label,
					    .output = output(ctx) };

	if (ctx->nr_args || asks_to_sample(o))
		return cmd_usage_error(ctx->cmd, "--replay goes with --program, "
						 "--output and --label alone");
	return replay_records(&req) ? EXIT_FAIL : EXIT_OK;
}

/* The command's exit status as a shell would give it. */
static int exit_status(int wait_status)
{
	if (WIFSIGNALED(wait_status))
		return EXIT_SIGNAL + WTERMSIG(wait_status);
	return WEXITSTATUS(wait_status);
}

/* Parses the kinds of contexts to keep. Returns 0 or EXIT_USAGE. */
static int parse_by(const struct cmd_context *ctx, unsigned int *by)
{
	const struct options *o = ctx->opt;
	const char *kinds = o->by_kinds;

	if (kinds && context_parse_kinds(kinds, by))
		return cmd_usage_error(ctx->cmd,
				       "--by=%s: say some of comm, cgroup, label, "
				       "process, thread, with commas between, or none",
				       kinds);
	if (o->by_process)
		*by |= 1u << CONTEXT_PROCESS;
	return 0;
}

static int check_stacks(const struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	const uint64_t copy = o->stacks_copy;

	if (o->stacks_hz > SESSION_STACKS_MAX_HZ)
		return cmd_usage_error(ctx->cmd, "--stacks-freq: at most %.0f",
				       SESSION_STACKS_MAX_HZ);
	if (copy && (copy < SESSION_STACKS_MIN_COPY || copy > SESSION_STACKS_MAX_COPY))
		return cmd_usage_error(ctx->cmd, "--stacks-copy: from %d to %d",
				       SESSION_STACKS_MIN_COPY,
				       SESSION_STACKS_MAX_COPY);
	return 0;
}

static int check_events(const struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	uint64_t period;

	for (int i = 0; i < o->events.nr; i++) {
		if (eventperiod_read(o->events.item[i], &period))
			return EXIT_USAGE;
	}
	return 0;
}

/* Parses the rate of windows. Returns 0 or EXIT_USAGE. */
static int parse_rate(const struct cmd_context *ctx, const char *name, const char *text,
		      double most, double *hz)
{
	if (!text)
		return 0;
	*hz = 0;
	if (!strcmp(text, "off"))
		return 0;
	if (number_parse_real(text, "", SESSION_MIN_HZ, most, hz))
		return cmd_usage_error(ctx->cmd,
				       "--%s=%s: say off, or a rate of at most %.0f",
				       name, text, most);
	return 0;
}

/* Checks that the arguments say what to profile. Returns 0 or EXIT_USAGE. */
static int check_command(const struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;

	if (o->program)
		return cmd_usage_error(ctx->cmd, "--program goes with --replay");
	if (o->pid && (ctx->nr_args || o->all_cpus))
		return cmd_usage_error(ctx->cmd, "--pid goes without a command and "
						 "without --all-cpus");
	if (!ctx->nr_args && !o->all_cpus && !o->pid)
		return cmd_usage_error(ctx->cmd,
				       "say which command is to be run, or --pid for "
				       "a process that runs, or --all-cpus for the "
				       "whole system");
	return 0;
}

/* Parses the process to profile. Returns 0 or EXIT_USAGE. */
static int parse_pid(const struct cmd_context *ctx, pid_t *process)
{
	const struct options *o = ctx->opt;
	uint64_t pid;

	if (!o->pid)
		return 0;
	if (number_parse(o->pid, 10, &pid) || !pid || pid > INT32_MAX)
		return cmd_usage_error(ctx->cmd,
				       "--pid=%s: not the number of a process", o->pid);
	*process = (pid_t)pid;
	return 0;
}

static int check_options(const struct cmd_context *ctx, struct recording *r)
{
	const struct options *o = ctx->opt;

	if (check_command(ctx) || parse_pid(ctx, &r->process) ||
	    parse_by(ctx, &r->by) || check_events(ctx) ||
	    parse_rate(ctx, "windows", o->windows, SESSION_WINDOWS_MAX_HZ,
		       &r->windows_hz))
		return EXIT_USAGE;
	return check_stacks(ctx);
}

static int start(const struct cmd_context *ctx, struct recording *r)
{
	int err = catch_signals(r);

	if (!err && ctx->nr_args)
		err = start_child(r, ctx->args);
	if (err)
		log_err("%s: %s", what(ctx), err_str(err));
	return err;
}

/* A command that our SIGTERM ended has not failed. */
static int final_status(const struct recording *r)
{
	if (r->timed_out && WIFSIGNALED(r->wait_status) &&
	    WTERMSIG(r->wait_status) == SIGTERM)
		return EXIT_OK;
	return exit_status(r->wait_status);
}

static int run_record(struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	struct recording r = {
		.go_fd = -1, .pidfd = -1, .signal_fd = -1, .windows_hz = WINDOWS_HZ
	};
	int err;

	if (o->replay)
		return replay(ctx);
	if (check_options(ctx, &r))
		return EXIT_USAGE;
	/* Otherwise an empty epoch is stored, and reports show it by default. */
	err = ctx->nr_args ? program_check(ctx->args[0]) : 0;
	if (err)
		return exec_failed(ctx->args[0], err);
	if (start(ctx, &r))
		return EXIT_FAIL;
	if (!o->verbose)
		log_set_level(LOG_LEVEL_WARN);
	err = record(ctx, &r);
	log_set_level(LOG_LEVEL_INFO);
	if (r.go_fd >= 0)
		close(r.go_fd);
	wait_for_child(&r);
	close(r.signal_fd);
	if (r.pidfd >= 0)
		close(r.pidfd);
	if (!err)
		sum_up(ctx, &r);
	if (err && (!r.ended || !exit_status(r.wait_status)))
		return EXIT_FAIL;
	return final_status(&r);
}

static const struct opt opts[] = {
	OPT("all-cpus", 'a', NULL, "profile the whole system, not the command alone",
	    OPT_FLAG, all_cpus),
	OPT("pid", 'p', "PID",
	    "profile this process, which runs already, until it ends", OPT_STRING, pid),
	OPT("duration", 'd', "SECONDS", "stop after that time", OPT_REAL, duration_s),
	OPT("freq", 'F', "HZ", "samples per second and CPU (default: 1000)", OPT_REAL,
	    hz),
	OPT("event", 'e', "EVENT[@PERIOD]", "event to sample, as perf names it",
	    OPT_LIST, events),
	OPT("stacks", 'g', "off|dwarf|fp|auto",
	    "also sample call stacks, by unwind tables or frame pointers", OPT_WORD,
	    stacks),
	OPT("stacks-freq", 0, "HZ",
	    "call stacks per second and CPU (fp: half of -F, dwarf: a tenth)", OPT_REAL,
	    stacks_hz),
	OPT("stacks-copy", 0, "BYTES", "with dwarf: bytes copied of each stack (61440)",
	    OPT_COUNT, stacks_copy),
	OPT("windows", 'w', "HZ|off", "windows per second and CPU (default: 100)",
	    OPT_STRING, windows),
	OPT("values", 0, NULL, "with windows: also keep frequent values of operands",
	    OPT_FLAG, with_values),
	OPT("output", 'o', "FILE", "the database (default: " SELECT_LOCAL_DB ")",
	    OPT_STRING, output),
	OPT("label", 'l', "LABEL", "name of the epoch", OPT_STRING, label),
	OPT("by", 0, "KIND[,KIND...]",
	    "keep profiles by comm, cgroup, label, process or thread", OPT_STRING,
	    by_kinds),
	OPT("by-process", 0, "GLOB", "also keep profiles by process, of these commands",
	    OPT_STRING, by_process),
	OPT("replay", 0, "FILE", "run no command: read the records of this file",
	    OPT_STRING, replay),
	OPT("program", 0, "FILE", "with --replay: the program that ran", OPT_STRING,
	    program),
	OPT("raw", 0, "FILE", "also write every sample to this file", OPT_STRING, raw),
	OPT("verbose", 'v', NULL, "tell what is sampled, and how", OPT_FLAG, verbose),
	OPT_END,
};

const struct cmd cmd_record = {
	.name = "record",
	.args = "[--] [COMMAND [ARGUMENT...]]",
	.summary = "Profile a command, a running process, or the whole system",
	.min_args = 0,
	.max_args = CMD_REST,
	.opts = opts,
	.opt_size = sizeof(struct options),
	.run = run_record,
};
