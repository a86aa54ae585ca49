/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top_screen.c - two lines of figures, the rows, a line of keys
 *
 * Signals arrive through a descriptor, and log lines go to a file in memory, so that
 * nothing disturbs the screen.
 */
#include "config.h"

#include "tools/top/top_screen.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "base/text.h"
#include "base/times.h"
#include "db/core/db.h"
#include "tools/commands.h"
#include "tools/ui/pager.h"
#include "tools/ui/spark.h"
#include "tools/ui/term.h"

#define FACT_LINES   3 /* above the titles */
#define FIRST_ROW    (FACT_LINES + 1)
#define FILTER_SIZE  64
#define ESCAPE       27
#define MIN_SPARK    8
#define MAX_SPARK    40
#define HOT_PERCENT  10
#define WARM_PERCENT 2

enum color { COLOR_HOT = 1, COLOR_WARM, COLOR_NOTE };

struct screen {
	const struct select_request *select;
	struct top_feed *feed;
	struct top top;
	struct top_facts facts;
	enum top_by by;
	enum top_order order;
	char filter[FILTER_SIZE];
	char message[128]; /* the answer to the last key; shown once */
	bool filtering, paused, helping, done, block, in_color;
	struct top_row *
		*row; /* in the order shown; NULL if they must be ranked again */
	size_t nr_rows, selected, first;
	int signals, log, old_stderr;
	int err;
};

static const char *const titles[NR_TOP_BY] = { "procedure", "image", "command",
					       "container", "unit",  "thread" };
static const char *const orders[NR_TOP_ORDERS] = { "now", "all looks", "name" };

static const char *const help[] = {
	"q         quit",
	"Tab       procedures, images, commands, containers, units, threads",
	"Up, Down, PgUp, PgDn, Home, End",
	"Enter     list the procedure; an image's rows",
	"s         order by this look, by all looks, by name",
	"/         show rows whose name or image holds a text; Esc ends it",
	"p         pause: nothing is read until p is pressed again",
	"r         read now",
	"?         this help",
};

/* Puts at most width columns of text at a place; control characters become '?'. */
static void put_text(int y, int x, int width, const char *text)
{
	struct buf b = { 0 };

	if (width <= 0)
		return;
	text_put_clean(&b, text);
	if (b.len)
		mvaddnstr(y, x, b.data, text_prefix(buf_str(&b), width));
	buf_fini(&b);
}

static void put_facts(const struct screen *s)
{
	const struct top_facts *f = &s->facts;
	const size_t slot = top_slot(&s->top, 0);
	const double sampled_ns = s->top.busy[slot] + s->top.idle[slot];
	/* Samples are a random number: their time may be more than that of the CPUs. */
	const double cpus_ns = fmax(f->elapsed_ns * f->nr_cpus, sampled_ns);
	char now[TIME_TEXT_SIZE];
	const char *missing = top_feed_missing(f, s->by);
	struct buf b = { 0 };

	buf_printf(&b, "%s  %s  %s: %.0f samples/s%s", f->host,
		   time_format(time_real_ns(), now), f->event,
		   f->elapsed_ns > 0 ? f->nr_samples / (f->elapsed_ns / NSEC_PER_SEC)
				     : 0,
		   s->paused ? "  PAUSED" : "");
	attron(A_BOLD);
	put_text(0, 0, COLS, buf_str(&b));
	attroff(A_BOLD);
	buf_reset(&b);
	buf_printf(&b, "busy %.1f%%  idle %.1f%% of %u CPUs  lost %" PRIu64,
		   cpus_ns > 0 ? 100 * s->top.busy[slot] / cpus_ns : 0,
		   cpus_ns > 0 ? 100 * s->top.idle[slot] / cpus_ns : 0, f->nr_cpus,
		   f->nr_lost);
	put_text(1, 0, COLS, buf_str(&b));
	buf_fini(&b);
	attron(COLOR_PAIR(COLOR_NOTE));
	put_text(2, 0, COLS, *s->message ? s->message : missing ? missing : f->stale);
	attroff(COLOR_PAIR(COLOR_NOTE));
}

/* Draws the newest looks, as many as fit, the newest at the right. */
static void put_history(const struct screen *s, int y, int x, size_t width,
			const double *ns)
{
	double value[MAX_SPARK], max = 0;
	const size_t known = top_nr_looks(&s->top) - 1;
	struct buf b = { 0 };

	for (size_t i = 0; i < width; i++) {
		const size_t back = width - 1 - i;

		value[i] = back < known ? ns[top_slot(&s->top, back)] : 0;
		max = value[i] > max ? value[i] : max;
	}
	spark_put(&b, value, width, max, s->block);
	mvaddstr(y, x, buf_str(&b));
	buf_fini(&b);
}

static int heat_of(double percent)
{
	if (percent >= HOT_PERCENT)
		return COLOR_PAIR(COLOR_HOT) | A_BOLD;
	return percent >= WARM_PERCENT ? COLOR_PAIR(COLOR_WARM) : A_NORMAL;
}

static double percent_of(double part, double all)
{
	return all > 0 ? 100 * part / all : 0;
}

static double busy_in_all(const struct top *t)
{
	double sum = 0;

	for (size_t i = 0; i < top_nr_looks(t); i++)
		sum += t->busy[top_slot(t, i)];
	return sum;
}

struct columns {
	int spark, name, image; /* where they begin */
	int spark_width, name_width, image_width;
};

static struct columns make_columns(const struct screen *s)
{
	struct columns c = { .spark = 16 };
	int rest;

	c.spark_width = COLS / 5 < MIN_SPARK ? MIN_SPARK : COLS / 5;
	c.spark_width = c.spark_width > MAX_SPARK ? MAX_SPARK : c.spark_width;
	c.name = c.spark + c.spark_width + 2;
	rest = COLS - c.name;
	c.name_width = s->by == TOP_PROCEDURE ? rest * 3 / 5 : rest;
	c.image = c.name + c.name_width + 1;
	c.image_width = s->by == TOP_PROCEDURE ? COLS - c.image : 0;
	return c;
}

static void put_row(const struct screen *s, const struct columns *c, int y,
		    const struct top_row *r, double all)
{
	const size_t slot = top_slot(&s->top, 0);
	const double now = percent_of(r->ns[slot], s->top.busy[slot]);

	attron(heat_of(now));
	mvprintw(y, 0, "%6.2f%% %6.2f%%", now, percent_of(r->sum, all));
	attroff(heat_of(now));
	put_history(s, y, c->spark, c->spark_width, r->ns);
	put_text(y, c->name, c->name_width, r->name);
	if (r->image)
		put_text(y, c->image, c->image_width, r->image);
}

static void put_rows(struct screen *s)
{
	const struct columns c = make_columns(s);
	const size_t room = LINES > FIRST_ROW + 1 ? LINES - FIRST_ROW - 1 : 1;
	const double all = busy_in_all(&s->top);
	char title[64];

	attron(A_REVERSE);
	mvhline(FACT_LINES, 0, ' ', COLS);
	put_text(FACT_LINES, 0, COLS, "    now     all");
	put_text(FACT_LINES, c.spark, c.spark_width, "history");
	put_text(FACT_LINES, c.name, c.name_width, titles[s->by]);
	put_text(FACT_LINES, c.image, c.image_width, "image");
	attroff(A_REVERSE);
	if (s->selected < s->first)
		s->first = s->selected;
	if (s->selected >= s->first + room)
		s->first = s->selected - room + 1;
	for (size_t i = s->first; i < s->nr_rows && i < s->first + room; i++) {
		const int y = FIRST_ROW + (int)(i - s->first);

		put_row(s, &c, y, s->row[i], all);
		if (i == s->selected)
			mvchgat(y, 0, -1, A_REVERSE, 0, NULL);
	}
	if (!s->nr_rows) {
		snprintf(title, sizeof(title), "no %s%s", titles[s->by],
			 top_nr_looks(&s->top) < 2 ? " yet: the second look shows them"
						   : " has samples");
		put_text(FIRST_ROW, c.spark, COLS - c.spark, title);
	}
}

static void put_keys(const struct screen *s)
{
	struct buf b = { 0 };

	if (s->filtering)
		buf_printf(&b, "/%s_  (Enter keeps it, Esc ends it)", s->filter);
	else if (*s->filter)
		buf_printf(&b, "filter: %s  (Esc ends it)  ", s->filter);
	if (!s->filtering)
		buf_printf(
			&b,
			"q quit  ? help  Tab %ss  Enter list  s order: %s  / filter  "
			"p pause",
			titles[s->by], orders[s->order]);
	put_text(LINES - 1, 0, COLS - 1, buf_str(&b));
	buf_fini(&b);
}

static void draw(struct screen *s)
{
	if (!s->row)
		s->row = top_rank(&s->top, s->by, s->order, s->filter, &s->nr_rows);
	if (!s->row) {
		s->err = -ENOMEM;
		return;
	}
	if (s->selected >= s->nr_rows)
		s->selected = s->nr_rows ? s->nr_rows - 1 : 0;
	erase();
	put_facts(s);
	if (s->helping) {
		for (size_t i = 0; i < sizeof(help) / sizeof(help[0]); i++)
			put_text(FIRST_ROW + (int)i, 2, COLS - 2, help[i]);
	} else {
		put_rows(s);
	}
	put_keys(s);
	refresh();
	s->message[0] = '\0';
}

/* Ranks the rows again, because their contents or order have changed. */
static void rank_again(struct screen *s)
{
	free(s->row);
	s->row = NULL;
	s->nr_rows = 0;
}

static void look(struct screen *s)
{
	rank_again(s);
	s->err = top_feed_look(s->feed, &s->top, &s->facts);
}

/*
 * Runs, in a child, the command that lists a procedure; its output goes to the pager.
 */
static void list_in_child(const struct screen *s, const struct top_row *r, int out)
{
	const struct select_request *req = s->select;
	const struct {
		char *option;
		const char *glob;
	} contexts[] = {
		{ "--event", req->event },
		{ "--comm", req->context[CONTEXT_COMM] },
		{ "--cgroup", req->context[CONTEXT_CGROUP] },
		{ "--container", req->container },
		{ "--unit", req->unit },
		{ "--label", req->context[CONTEXT_LABEL] },
		{ "--process", req->context[CONTEXT_PROCESS] },
		{ "--thread", req->context[CONTEXT_THREAD] },
	};
	char *argv[30];
	int argc = 0, status;

	argv[argc++] = "list";
	argv[argc++] = "--epoch";
	argv[argc++] = (char *)top_feed_epochs(s->feed);
	argv[argc++] = "--color";
	argv[argc++] = s->in_color ? "always" : "never";
	argv[argc++] = "--db";
	argv[argc++] = (char *)top_feed_db(s->feed);
	for (size_t i = 0; i < sizeof(contexts) / sizeof(contexts[0]); i++) {
		if (!contexts[i].glob)
			continue;
		argv[argc++] = contexts[i].option;
		argv[argc++] = (char *)contexts[i].glob;
	}
	if (r->image) {
		argv[argc++] = "--image";
		argv[argc++] = r->image;
	}
	argv[argc++] = "--";
	argv[argc++] = r->name;
	argv[argc] = NULL;
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	status = cmd_run(&cmd_list, argc, argv);
	fflush(stdout);
	_exit(status);
}

static void page_in_child(int in)
{
	dup2(in, STDIN_FILENO);
	setenv("LESS", "R", 0); /* wait for a key also after a short listing */
	pager_exec();
}

/* Forks a child whose signals and stderr are as before the screen. */
static pid_t fork_child(const struct screen *s)
{
	pid_t pid = fork();
	sigset_t none;

	if (!pid) {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		dup2(s->old_stderr, STDERR_FILENO);
	}
	return pid;
}

/* Waits on when SIGWINCH, which curses handles, interrupts waitpid(). */
static void await_child(pid_t pid)
{
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

static void show_listing(struct screen *s, const struct top_row *r)
{
	void (*on_int)(int);
	pid_t lister, pager;
	int fd[2];

	if (pipe2(fd, O_CLOEXEC) < 0) {
		snprintf(s->message, sizeof(s->message), "list: %s", err_str(-errno));
		return;
	}
	def_prog_mode();
	endwin();
	lister = fork_child(s);
	if (!lister) {
		close(fd[0]); /* else the pager's exit would not close the pipe */
		list_in_child(s, r, fd[1]);
	}
	pager = fork_child(s);
	if (!pager)
		page_in_child(fd[0]);
	close(fd[0]);
	close(fd[1]);
	await_child(lister);
	await_child(pager);
	on_int = signal(SIGINT, SIG_IGN); /* discards ^C, which was for the pager */
	signal(SIGINT, on_int);
	reset_prog_mode();
	clearok(stdscr, TRUE);
}

static void enter(struct screen *s)
{
	const struct top_row *r;

	if (s->selected >= s->nr_rows)
		return;
	r = s->row[s->selected];
	if (s->by == TOP_PROCEDURE && r->image) {
		show_listing(s, r);
	} else if (s->by == TOP_IMAGE && strlen(r->name) < FILTER_SIZE) {
		strcpy(s->filter, r->name);
		s->by = TOP_PROCEDURE;
		s->selected = 0;
		rank_again(s);
	} else {
		snprintf(s->message, sizeof(s->message),
			 "%s: there is nothing to list of it", r->name);
	}
}

static void move_by(struct screen *s, long rows)
{
	if (rows < 0 && s->selected < (size_t)-rows)
		s->selected = 0;
	else
		s->selected += rows; /* draw() keeps it within the rows */
}

static void end_filter(struct screen *s)
{
	s->filtering = false;
	s->filter[0] = '\0';
	rank_again(s);
}

static void filter_key(struct screen *s, int key)
{
	const size_t len = strlen(s->filter);

	if (key == '\n' || key == KEY_ENTER)
		s->filtering = false;
	else if (key == ESCAPE)
		end_filter(s);
	else if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && len)
		s->filter[len - 1] = '\0';
	else if (key >= ' ' && key < 256 && key != 127 && len + 1 < FILTER_SIZE)
		memcpy(s->filter + len, (char[]){ (char)key, '\0' }, 2);
	rank_again(s);
}

static void command_key(struct screen *s, int key)
{
	switch (key) {
	case 'q':
		s->done = true;
		break;
	case '\t':
		s->by = (s->by + 1) % NR_TOP_BY;
		if (s->by == TOP_THREAD && s->facts.no_threads)
			s->by = 0;
		s->selected = 0;
		rank_again(s);
		break;
	case 's':
		s->order = (s->order + 1) % NR_TOP_ORDERS;
		rank_again(s);
		break;
	case '/':
		s->filtering = true;
		break;
	case ESCAPE:
		end_filter(s);
		break;
	case 'p':
		s->paused = !s->paused;
		break;
	case 'r':
		look(s);
		break;
	case '\n':
	case KEY_ENTER:
		enter(s);
		break;
	}
}

static void key(struct screen *s, int key)
{
	const long page = LINES > FIRST_ROW + 1 ? LINES - FIRST_ROW - 1 : 1;

	if (s->filtering) {
		filter_key(s, key);
		return;
	}
	s->helping = key == '?' && !s->helping;
	switch (key) {
	case KEY_UP:
	case 'k':
		move_by(s, -1);
		break;
	case KEY_DOWN:
	case 'j':
		move_by(s, 1);
		break;
	case KEY_PPAGE:
		move_by(s, -page);
		break;
	case KEY_NPAGE:
		move_by(s, page);
		break;
	case KEY_HOME:
		s->selected = 0;
		break;
	case KEY_END:
		s->selected = s->nr_rows;
		break;
	default:
		command_key(s, key);
	}
}

/*
 * Handles keys until the moment has come, until the view ends or, in a pause, for ever.
 * Keys that are waiting are read even if looks take longer than the interval.
 */
static void take_keys(struct screen *s, uint64_t until_ns)
{
	struct pollfd fd[] = { { STDIN_FILENO, POLLIN, 0 }, { s->signals, POLLIN, 0 } };
	bool late = false;
	int c, wait_ms;

	while (!late && !s->done && !s->err) {
		const uint64_t now = time_mono_ns();

		draw(s);
		late = now >= until_ns && !s->paused;
		wait_ms = s->paused ? -1
			  : late    ? 0
				    : (int)((until_ns - now) / NSEC_PER_MSEC) + 1;
		if (poll(fd, 2, wait_ms) < 0 && errno != EINTR)
			s->err = -errno;
		s->done |= fd[1].revents || (fd[0].revents & (POLLHUP | POLLERR));
		while (!s->done && (c = getch()) != ERR)
			key(s, c);
	}
}

/* Takes over the terminal, the signals and stderr for the duration of the view. */
static int begin(struct screen *s)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	s->signals = signalfd(-1, &set, SFD_CLOEXEC);
	s->old_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	s->log = memfd_create("log", MFD_CLOEXEC);
	if (s->signals < 0 || s->old_stderr < 0 || s->log < 0)
		return -errno;
	setlocale(LC_CTYPE, "");
	if (!newterm(NULL, stdout, stdin)) {
		log_err("top: the terminal ($TERM) is not known: set TERM, or send the "
			"output through 'cat'");
		return -ENOTTY;
	}
	dup2(s->log, STDERR_FILENO);
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(25);
	curs_set(0);
	s->in_color = has_colors() && term_has_color();
	if (s->in_color) {
		start_color();
		use_default_colors();
		init_pair(COLOR_HOT, COLOR_RED, -1);
		init_pair(COLOR_WARM, COLOR_YELLOW, -1);
		init_pair(COLOR_NOTE, COLOR_YELLOW, -1);
	}
	return 0;
}

/* Shows the log lines that were kept back while the screen was in use. */
static void show_log(struct screen *s)
{
	char chunk[4096];
	ssize_t n;

	dup2(s->old_stderr, STDERR_FILENO);
	lseek(s->log, 0, SEEK_SET);
	while ((n = read(s->log, chunk, sizeof(chunk))) > 0) {
		if (write(STDERR_FILENO, chunk, n) != n)
			break;
	}
}

int top_screen_run(const struct select_request *select, enum top_by by,
		   struct top_feed *feed, uint64_t interval_ns, uint64_t looks)
{
	struct screen s = { .select = select,
			    .feed = feed,
			    .by = by,
			    .block = spark_can_block(),
			    .signals = -1,
			    .log = -1,
			    .old_stderr = -1 };
	uint64_t next = time_mono_ns();
	int err = begin(&s);

	if (err)
		goto out;
	for (uint64_t i = 0; !s.done && !s.err && (!looks || i <= looks); i++) {
		look(&s);
		next += interval_ns;
		if (next < time_mono_ns())
			next = time_mono_ns(); /* it was paused, or a look took too long
						*/
		if (!s.err)
			take_keys(&s, next);
	}
	err = s.err;
	endwin();
	show_log(&s);
out:
	free(s.row);
	top_fini(&s.top);
	if (s.signals >= 0)
		close(s.signals);
	if (s.log >= 0)
		close(s.log);
	if (s.old_stderr >= 0)
		close(s.old_stderr);
	return err;
}
