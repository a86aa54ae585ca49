/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_cfg.c - the control-flow graph of a procedure as a picture (dcpi2ps)
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "tools/cfg_dot.h"
#include "tools/explaining.h"

enum { FORMAT_DOT, FORMAT_SVG };

extern char **environ;

struct graph {
	struct explainer *x;
	const struct explained *e;
	struct tally *tally; /* as struct cfg_picture has it */
	double total;
};

/* Samples of the block that holds them; of the procedure's others, of none. */
static void add_count(struct graph *g, size_t stream, const struct count *c)
{
	const struct events *ev = &g->x->l->ev;
	const struct list_place *place = g->x->l->place;
	int block = cfg_block_at(g->e->cfg, c->offset);
	struct tally *t;
	double weight = c->n * ev->weight[stream];

	if (block < 0 && c->offset >= place->start && c->offset < place->end)
		block = g->e->cfg->nr_blocks;
	if (block < 0)
		return;
	t = &g->tally[(size_t)block * ev->nr + ev->of[stream]];
	t->n += c->n;
	t->weight += weight;
	g->total += ev->of[stream] ? 0 : weight;
}

static int add_samples(struct graph *g)
{
	const struct listing *l = g->x->l;

	g->tally = calloc(((size_t)g->e->cfg->nr_blocks + 1) * l->ev.nr,
			  sizeof(*g->tally));
	if (!g->tally)
		return -ENOMEM;
	for (size_t s = 0; s < l->sel.streams.nr; s++) {
		const struct count *c = NULL;
		size_t nr = 0;

		if (g->x->profile[s])
			c = profile_sorted(g->x->profile[s], &nr);
		for (size_t i = 0; c && i < nr; i++)
			add_count(g, s, &c[i]);
	}
	return 0;
}

/* Has graphviz read from fd. Returns its process, or a negative error. */
static pid_t start_dot(int fd, int other)
{
	char *const argv[] = { (char *)"dot", (char *)"-Tsvg", NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int err;

	err = posix_spawn_file_actions_init(&actions);
	if (err)
		return -err;
	err = posix_spawn_file_actions_adddup2(&actions, fd, STDIN_FILENO);
	if (!err)
		err = posix_spawn_file_actions_addclose(&actions, other);
	if (!err)
		err = posix_spawnp(&pid, "dot", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return err ? -err : pid;
}

static int failed_dot(int err)
{
	if (err == -ENOENT)
		log_err("cfg: --format=svg needs graphviz's dot, which is not "
			"installed: "
			"install graphviz, or take --format=dot");
	else
		log_err("cfg: dot: %s", err_str(err));
	return err;
}

static int write_svg(const struct buf *dot)
{
	void (*old)(int);
	int fd[2], status = 0, err;
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC) < 0)
		return failed_dot(-errno);
	pid = start_dot(fd[0], fd[1]);
	close(fd[0]);
	if (pid < 0) {
		close(fd[1]);
		return failed_dot(pid);
	}
	old = signal(SIGPIPE, SIG_IGN); /* it may die before it has read all */
	err = file_write(fd[1], dot->data, dot->len);
	signal(SIGPIPE, old);
	close(fd[1]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		log_err("cfg: dot failed: try --format=dot");
		return -EIO;
	}
	return err ? failed_dot(err) : 0;
}

static int print(struct graph *g)
{
	const struct listing *l = g->x->l;
	const struct cfg_picture picture = {
		.e = g->e,
		.has_time = g->x->event < l->ev.nr,
		.isa = g->x->isa,
		.ev = &l->ev,
		.image = l->place->image.desc.name,
		.tally = g->tally,
		.total = g->total,
	};
	struct buf dot = { 0 };
	int err;

	cfg_dot(&picture, &dot);
	err = dot.err;
	if (!err && l->ctx->opt.format == FORMAT_SVG)
		err = write_svg(&dot);
	else if (!err)
		fputs(buf_str(&dot), stdout);
	buf_fini(&dot);
	return err;
}

static int draw(struct explainer *x)
{
	const struct explanation *ex;
	struct graph g = { .x = x };
	int err = list_find(x->l, x->l->ctx->args[0]);

	if (!err)
		err = explainer_require(x, &ex);
	if (err)
		return err;
	g.e = ex->e;
	err = add_samples(&g);
	if (!err)
		err = print(&g);
	free(g.tally);
	return err;
}

static int run(struct cmd_context *ctx)
{
	return explainer_run(ctx, draw);
}

static const struct opt opts[] = {
	OPTS_SELECTION,
	OPTS_EXPLAIN,
	OPT("format", 0, "dot|svg", "how to write the graph", OPT_CHOICE, format),
	OPT_END,
};

const struct cmd cmd_cfg = {
	.name = "cfg",
	.args = "[IMAGE:]PROC | 0xOFFSET",
	.summary = "The control-flow graph of a procedure, as a picture",
	.min_args = 1,
	.max_args = 1,
	.opts = opts,
	.run = run,
};
