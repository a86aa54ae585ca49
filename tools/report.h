/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report.h - what every report says of its selection: when, where, how sampled,
 *            and what is missing
 */
#ifndef CPI_TOOLS_REPORT_H
#define CPI_TOOLS_REPORT_H

#include "tools/events.h"
#include "tools/json.h"
#include "tools/select.h"

/* Text: epochs, machine, streams. */
void report_header(const struct selection *sel, const struct events *ev);

/* Text: losses by name, samples that were not delivered, gaps. */
void report_footer(const struct selection *sel);

/* JSON: "epochs" and "streams"; "losses". */
void report_json_header(struct json *j, const struct selection *sel);
void report_json_losses(struct json *j, const struct selection *sel);

/* Samples of one class of losses of the selected streams. */
uint64_t report_nr_lost(const struct selection *sel, enum loss_class class,
			int64_t stream);

/* JSON: a member with the count of each event. */
void report_json_samples(struct json *j, const char *key, const struct events *ev,
			 const struct tally *tally);

/*
 * Samples of the selection that went by the name of sel's loss number i, if it
 * is of class; 0 for all but the first loss of a name.
 */
uint64_t report_loss(const struct selection *sel, size_t i, enum loss_class class);

/* "10 ms", "1000003 cycles": what one sample stands for. */
#define REPORT_PERIOD_SIZE 48
char *report_period(const struct stream_desc *s, char out[REPORT_PERIOD_SIZE]);

/* "" when the image has no build id. */
#define REPORT_BUILD_ID_SIZE (2 * BUILD_ID_MAX + 1)
char *report_build_id(const struct image_desc *desc, char out[REPORT_BUILD_ID_SIZE]);

#endif
