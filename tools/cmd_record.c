/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_record.c - profiles the system for as long as a command runs
 *
 * The child is forked first and waits behind a pipe, so that no thread, lock or
 * database handle of the session is carried over, and so that its first
 * instruction is sampled. Signals come through a descriptor, in turn with the
 * samples: the command gets them, the profile is stored whatever happens to it.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/session.h"
#include "db/context.h"
#include "tools/cmd.h"
#include "tools/replay.h"
#include "tools/report.h"
#include "tools/select.h"

#define DEFAULT_OUTPUT "cpi.db"
#define WINDOWS_HZ     100.0 /* more than cpid's: commands are short */
#define CAPTURE_S      120   /* that code and names may take to be kept, at the end */

/* As shells have it. */
#define EXIT_CANNOT_RUN 126
#define EXIT_NOT_FOUND  127
#define EXIT_SIGNAL     128

struct recording {
	struct session *session;
	pid_t child;
	int go_fd;     /* the child runs when a byte is written here */
	int signal_fd; /* what came for us, and the child's end */
	sigset_t old_signals;
	bool ended;
	int wait_status;
	uint64_t start_ns, end_ns;
	unsigned int by; /* 1 << each kind of contexts that is kept */
	double windows_hz, anchors_hz;
};

static void exec_command(const struct recording *r, int wait_fd, char **args)
{
	char go;
	int err;

	if (read(wait_fd, &go, 1) != 1)
		_exit(EXIT_FAIL); /* there will be no recording */
	sigprocmask(SIG_SETMASK, &r->old_signals, NULL);
	execvp(args[0], args);
	err = errno;
	log_err("%s: %s", args[0], strerror(err));
	_exit(err == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN);
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
	r->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return r->signal_fd < 0 ? -errno : 0;
}

static void take_signals(struct recording *r)
{
	struct signalfd_siginfo info;

	while (read(r->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		/* The terminal's go to the whole group: the child has them. */
		if (info.ssi_signo != SIGCHLD && info.ssi_code != SI_KERNEL)
			kill(r->child, info.ssi_signo);
	}
	if (waitpid(r->child, &r->wait_status, WNOHANG) == r->child)
		r->ended = true;
}

static int run_until_end(struct recording *r)
{
	struct pollfd fds[] = {
		{ .fd = session_fd(r->session), .events = POLLIN },
		{ .fd = r->signal_fd, .events = POLLIN },
	};

	while (!r->ended) {
		int timeout_ms = session_run(r->session);

		if (poll(fds, 2, timeout_ms) < 0 && errno != EINTR)
			return -errno;
		take_signals(r);
	}
	return 0;
}

static const char *output(const struct cmd_context *ctx)
{
	return ctx->opt.output ? ctx->opt.output : DEFAULT_OUTPUT;
}

static int make_config(const struct cmd_context *ctx, const struct recording *r,
		       struct session_config *cfg)
{
	/* As the option has them. */
	static const enum session_walk stacks[] = { SESSION_STACKS_OFF,
						    SESSION_STACKS_DWARF,
						    SESSION_STACKS_FP };

	*cfg = session_config_default();
	cfg->db_path = output(ctx);
	cfg->nr_events = ctx->opt.events.nr;
	for (int i = 0; i < cfg->nr_events; i++)
		cfg->events[i] = ctx->opt.events.item[i];
	cfg->hz = ctx->opt.hz;
	cfg->stacks = stacks[ctx->opt.stacks];
	cfg->stacks_hz = ctx->opt.stacks_hz;
	if (ctx->opt.stacks_copy)
		cfg->stacks_copy = (uint32_t)ctx->opt.stacks_copy;
	cfg->windows_hz = r->windows_hz;
	cfg->anchors_hz = r->anchors_hz;
	cfg->epoch_ns = 0;
	cfg->capture_end_ns = CAPTURE_S * NSEC_PER_SEC;
	cfg->label = ctx->opt.label;
	cfg->by = r->by;
	cfg->by_process = ctx->opt.by_process;
	cfg->raw_fd = -1;
	if (session_system_access()) {
		log_info("the whole system may not be sampled: only %s and what it "
			 "starts is (as root, or with CAP_PERFMON: everything)",
			 ctx->args[0]);
		cfg->target = r->child;
		cfg->windows_hz = 0; /* it may load no program */
		cfg->anchors_hz = 0;
		cfg->enable_on_exec = true;
	}
	if (!ctx->opt.raw)
		return 0;
	cfg->raw_fd =
		open(ctx->opt.raw, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (cfg->raw_fd < 0) {
		int err = -errno;

		log_err("%s: %s", ctx->opt.raw, err_str(err));
		return err;
	}
	return 0;
}

/* Samples while the child runs; 0 when all is stored. */
static int record(const struct cmd_context *ctx, struct recording *r)
{
	struct session_config cfg;
	int err, close_err;

	err = make_config(ctx, r, &cfg);
	if (err)
		return err;
	err = session_open(&cfg, &r->session);
	if (err)
		goto out;
	r->start_ns = time_mono_ns();
	err = file_write(r->go_fd, "g", 1);
	if (!err)
		err = run_until_end(r);
	if (err)
		log_err("%s: %s", ctx->args[0], err_str(err));
	r->end_ns = time_mono_ns();
	close_err = session_close(r->session);
	err = err ? err : close_err;
out:
	if (cfg.raw_fd >= 0)
		close(cfg.raw_fd);
	return err;
}

static void sum_up(const struct cmd_context *ctx, const struct recording *r)
{
	const double seconds = (r->end_ns - r->start_ns) / 1e9;
	struct cmd_context read = { .cmd = ctx->cmd,
				    .opt.dbs = { { output(ctx) }, 1 } };
	uint64_t received = 0, lost = 0, unknown = 0;
	struct selection sel;

	if (select_open(&read, &sel))
		return;
	for (size_t i = 0; i < sel.streams.nr; i++) {
		const struct query_stream *s = &sel.streams.stream[i];

		received += s->received;
		lost += report_nr_lost(&sel, LOSS_LOST, s->id);
		unknown += report_nr_lost(&sel, LOSS_UNKNOWN, s->id);
	}
	log_info("%" PRIu64 " samples in %.1f s (%" PRIu64 " lost, %" PRIu64
		 " of unknown images) in %s; try: cpi prof --db %s",
		 received, seconds, lost, unknown, output(ctx), output(ctx));
	select_close(&sel);
}

/* What a file has, instead of what a command does. */
static int replay(const struct cmd_context *ctx)
{
	if (ctx->nr_args || ctx->opt.hz > 0 || ctx->opt.events.nr || ctx->opt.raw ||
	    ctx->opt.by_kinds || ctx->opt.by_process)
		return cmd_usage_error(ctx->cmd, "--replay goes with --program, "
						 "--output and --label alone");
	return replay_records(ctx, output(ctx));
}

/* The command's own, as a shell gives it. */
static int exit_status(int wait_status)
{
	if (WIFSIGNALED(wait_status))
		return EXIT_SIGNAL + WTERMSIG(wait_status);
	return WEXITSTATUS(wait_status);
}

/* Of which kinds profiles by context are kept; 0 or EXIT_USAGE. */
static int parse_by(const struct cmd_context *ctx, unsigned int *by)
{
	const char *kinds = ctx->opt.by_kinds;

	if (kinds && context_parse_kinds(kinds, by))
		return cmd_usage_error(ctx->cmd,
				       "--by=%s: say some of comm, cgroup, label, "
				       "process, with commas between",
				       kinds);
	if (ctx->opt.by_process)
		*by |= 1u << CONTEXT_PROCESS;
	return 0;
}

static int check_stacks(const struct cmd_context *ctx)
{
	const uint64_t copy = ctx->opt.stacks_copy;

	if (ctx->opt.stacks_hz > SESSION_STACKS_MAX_HZ)
		return cmd_usage_error(ctx->cmd, "--stacks-freq: at most %.0f",
				       SESSION_STACKS_MAX_HZ);
	if (copy && (copy < SESSION_STACKS_MIN_COPY || copy > SESSION_STACKS_MAX_COPY))
		return cmd_usage_error(ctx->cmd, "--stacks-copy: from %d to %d",
				       SESSION_STACKS_MIN_COPY,
				       SESSION_STACKS_MAX_COPY);
	return 0;
}

/* How many there shall be, as an option says; 0 or EXIT_USAGE. */
static int parse_rate(const struct cmd_context *ctx, const char *name, const char *text,
		      double most, double *hz)
{
	char *end;

	if (!text)
		return 0;
	*hz = 0;
	if (!strcmp(text, "off"))
		return 0;
	*hz = strtod(text, &end);
	if (*end || !(*hz > 0 && *hz <= most))
		return cmd_usage_error(ctx->cmd,
				       "--%s=%s: say off, or a rate of at most %.0f",
				       name, text, most);
	return 0;
}

static int run(struct cmd_context *ctx)
{
	struct recording r = { .go_fd = -1, .signal_fd = -1, .windows_hz = WINDOWS_HZ };
	int err;

	if (ctx->opt.replay)
		return replay(ctx);
	if (!ctx->nr_args || ctx->opt.program)
		return cmd_usage_error(ctx->cmd,
				       ctx->nr_args ? "--program goes with --replay"
						    : "say which command is to be run");
	if (parse_by(ctx, &r.by) ||
	    parse_rate(ctx, "windows", ctx->opt.windows, SESSION_WINDOWS_MAX_HZ,
		       &r.windows_hz) ||
	    parse_rate(ctx, "anchors", ctx->opt.anchors, SESSION_ANCHORS_MAX_HZ,
		       &r.anchors_hz))
		return EXIT_USAGE;
	if (check_stacks(ctx))
		return EXIT_USAGE;
	err = catch_signals(&r);
	if (!err)
		err = start_child(&r, ctx->args);
	if (err) {
		log_err("%s: %s", ctx->args[0], err_str(err));
		return EXIT_FAIL;
	}
	err = record(ctx, &r);
	close(r.go_fd);
	if (!r.ended)
		waitpid(r.child, &r.wait_status, 0);
	close(r.signal_fd);
	if (!err)
		sum_up(ctx, &r);
	if (err && (!r.ended || !exit_status(r.wait_status)))
		return EXIT_FAIL;
	return exit_status(r.wait_status);
}

static const struct opt opts[] = {
	OPT("freq", 'F', "HZ", "samples per second and CPU", OPT_REAL, hz),
	OPT("event", 'e', "EVENT", "count this, as perf names it; EVENT@PERIOD too",
	    OPT_LIST, events),
	OPT("stacks", 'g', "off|dwarf|fp",
	    "call stacks, too, by frame pointers or tables", OPT_WORD, stacks),
	OPT("stacks-freq", 0, "HZ",
	    "call stacks per second and CPU (dwarf: 19, fp: 49)", OPT_REAL, stacks_hz),
	OPT("stacks-copy", 0, "BYTES", "with dwarf: copied of each stack (61440)",
	    OPT_COUNT, stacks_copy),
	OPT("windows", 'w', "HZ|off", "windows per second and CPU (default: 100)",
	    OPT_STRING, windows),
	OPT("anchors", 0, "HITS|off",
	    "hits of breakpoints per second, with windows (off)", OPT_STRING, anchors),
	OPT("output", 'o', "FILE", "the database (default: " DEFAULT_OUTPUT ")",
	    OPT_STRING, output),
	OPT("label", 'l', "LABEL", "call the epoch so", OPT_STRING, label),
	OPT("by", 0, "KIND[,KIND...]", "profiles by comm, cgroup, label, process, too",
	    OPT_STRING, by_kinds),
	OPT("by-process", 0, "GLOB", "profiles by process, of these commands",
	    OPT_STRING, by_process),
	OPT("replay", 0, "FILE", "no command: take the records of this file",
	    OPT_STRING, replay),
	OPT("program", 0, "FILE", "with --replay: what ran", OPT_STRING, program),
	OPT("raw", 0, "FILE", "write every sample there, too", OPT_STRING, raw),
	OPT_END,
};

const struct cmd cmd_record = {
	.name = "record",
	.args = "[--] [COMMAND [ARGUMENT...]]",
	.summary = "Profile the system for as long as a command runs",
	.min_args = 0,
	.max_args = CMD_REST,
	.opts = opts,
	.run = run,
};
