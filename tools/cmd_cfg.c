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
#include "tools/cmd.h"
#include "tools/list.h"

enum { FORMAT_DOT, FORMAT_SVG };

extern char **environ;

struct graph {
	struct listing l;
	struct isa *isa;
	struct arena arena;
	struct cfg *cfg;
	struct tally *tally; /* as struct cfg_picture has it */
	double total;
};

static int fail(const char *name, const char *why)
{
	log_err("%s: no control-flow graph: %s", name, why);
	return -CPI_ENOCODE;
}

/* The symbol of the place that was found: it begins there. */
static int build(struct graph *g)
{
	const struct list_place *place = g->l.place;
	const struct symbol *s;
	int err;

	err = image_cache_get(g->l.images, &place->image, &g->l.image);
	if (err)
		return err == -ENOMEM ? err
				      : fail(place->name,
					     image_cache_why(&place->image.desc, err));
	s = place->kind == PLACE_PROCEDURE ? image_symbol_at(g->l.image, place->start)
					   : NULL;
	if (!s)
		return fail(place->name, "no symbol says where it begins and ends");
	err = isa_open(image_machine(g->l.image), &g->isa);
	if (!err)
		err = cfg_build(g->l.image, g->isa, s, &g->arena, &g->cfg);
	if (err == -CPI_EFORMAT)
		return fail(place->name, "no decoder for this machine is built in");
	if (err == -CPI_ENOCODE)
		return fail(place->name, image_missing_code(&place->image.desc));
	return err && err != -ENOMEM ? fail(place->name, err_str(err)) : err;
}

/* Samples of the block that holds them; of the image's others, of none. */
static int on_profile(void *ctx, const struct query_profile *q)
{
	struct graph *g = ctx;
	const struct list_place *place = g->l.place;
	const struct count *c;
	double weight;
	size_t event, nr;

	if (q->image.id != place->image.id ||
	    !events_find(&g->l.ev, q->stream, &event, &weight))
		return 0;
	c = profile_sorted(q->profile, &nr);
	for (size_t i = 0; c && i < nr; i++) {
		int block = cfg_block_at(g->cfg, c[i].offset);
		struct tally *t;

		if (block < 0 && c[i].offset >= place->start &&
		    c[i].offset < place->end)
			block = g->cfg->nr_blocks;
		if (block < 0)
			continue;
		t = &g->tally[(size_t)block * g->l.ev.nr + event];
		t->n += c[i].n;
		t->weight += (double)c[i].n * weight;
		g->total += event ? 0 : (double)c[i].n * weight;
	}
	return nr && !c ? -ENOMEM : 0;
}

static int add_samples(struct graph *g)
{
	g->tally =
		calloc(((size_t)g->cfg->nr_blocks + 1) * g->l.ev.nr, sizeof(*g->tally));
	if (!g->tally)
		return -ENOMEM;
	return query_profiles(g->l.sel.db, &g->l.sel.query, on_profile, g, NULL);
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
	const struct cfg_picture picture = {
		.cfg = g->cfg,
		.isa = g->isa,
		.ev = &g->l.ev,
		.image = g->l.place->image.desc.name,
		.tally = g->tally,
		.total = g->total,
	};
	struct buf dot = { 0 };
	int err;

	cfg_dot(&picture, &dot);
	err = dot.err;
	if (!err && g->l.ctx->opt.format == FORMAT_SVG)
		err = write_svg(&dot);
	else if (!err)
		fputs(buf_str(&dot), stdout);
	buf_fini(&dot);
	return err;
}

static int run(struct cmd_context *ctx)
{
	struct graph g = { .l = { .ctx = ctx } };
	int err;

	if (select_open(ctx, &g.l.sel))
		return EXIT_FAIL;
	arena_init(&g.arena, 0);
	err = list_prepare(&g.l);
	if (!err)
		err = list_find(&g.l, ctx->args[0]);
	if (!err)
		err = build(&g);
	if (!err)
		err = add_samples(&g);
	if (!err)
		err = print(&g);
	if (err == -ENOMEM)
		log_err("cfg: %s", err_str(err));
	free(g.tally);
	arena_fini(&g.arena);
	isa_close(g.isa);
	list_fini(&g.l);
	return err ? EXIT_FAIL : EXIT_OK;
}

static const struct opt opts[] = {
	OPTS_SELECTION,
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
