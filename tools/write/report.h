/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report.h - the head and the end of every report: epochs, machine, streams, losses
 */
#ifndef CPI_TOOLS_REPORT_H
#define CPI_TOOLS_REPORT_H

#include "report/select/events.h"
#include "report/select/facts.h"
#include "report/select/timesource.h"
#include "tools/ui/json.h"

/*
 * Text: a line with the machine, the time, and what was sampled, lost and unknown; with
 * --verbose epochs, machine and streams.
 */
void report_header(const struct selection *sel, const struct events *ev);

/* What a report knows of the time of its rows. */
struct report_time {
	double idle_percent; /* of all; 0: none, or not known */
	bool idle_included;  /* the rows' percentages are of all */
	double rows_ns; /* time of the rows, if they are all of the selection; else 0 */
	/* if the rows also have time of other events: the one in the line; else NULL */
	const char *event;
};

/* The same of a report that knows its rows' time. */
void report_header_time(const struct selection *sel, const struct events *ev,
			const struct report_time *t);

/* Text: losses by name, throttling, gaps; with --verbose all that was not sampled. */
void report_footer(const struct selection *sel);

/* Text: "Procedure main in /bin/cat, build id …"; build_id may be "". */
void report_procedure(const char *name, const char *image, const char *build_id);

/* JSON: "marks"; "epochs", "marks" and "streams"; "losses". */
void report_json_marks(struct json *j, const struct query_marks *marks);
void report_json_header(struct json *j, const struct selection *sel);

/*
 * The same. If there are more epochs than max_epochs, those that follow each other are
 * one element of the list, whose "epochs" says how many they are. 0: no maximum.
 */
void report_json_header_short(struct json *j, const struct selection *sel,
			      uint64_t max_epochs);
void report_json_losses(struct json *j, const struct selection *sel);

/* JSON: a member with the count of each event. */
void report_json_samples(struct json *j, const char *key, const struct events *ev,
			 const struct event_sum *tally);

/* Prints "precise, by retire latencies of instructions:ppp". */
void time_source_print(const struct time_source *t, const char *attribution);

/* Members "attribution" and, where it is precise, "attribution_source". */
void time_source_json(const struct time_source *t, struct json *j,
		      const char *attribution);

#endif
