/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_graph.h - the procedures of a trace: what ran in them, and what was sampled
 *
 * Errors end the program.
 */
#ifndef CPI_T_ACCURACY_EVENT_GRAPH_H
#define CPI_T_ACCURACY_EVENT_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/cfg/cfg.h"
#include "base/arena.h"
#include "t/accuracy/event_core.h"

/* Beside enum core_event. */
enum { EVENT_CYCLES = CORE_NR_EVENTS, EVENT_INSTRUCTIONS, EVENT_NR };

struct graphs;

struct graphs *graphs_new(const char *program); /* NULL: none, graphs_trace() follows */
void graphs_free(struct graphs *g);

/* One graph, of what was run through; instructions have four bytes. */
void graphs_trace(struct graphs *g, const uint64_t *pc, size_t nr);

/* For it: event_trace.c. */
struct cfg *event_trace_cfg(const uint64_t *pc, size_t nr, struct arena *arena);

/* The number of the instruction at an address, or -1. */
int graphs_find(struct graphs *g, uint64_t address);
const struct insn *graphs_insn(const struct graphs *g, int at);

/* at has run, and next after it (-1: nothing). */
void graphs_count(struct graphs *g, int at, int next);

void graphs_set_period(struct graphs *g, int event, double period);
void graphs_add_sample(struct graphs *g, int event, int at);

/* Each way of estimating, as event_measure.c has it. */
void graphs_write(const struct graphs *g);

#endif
