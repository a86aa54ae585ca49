/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alert.h - when mapping events are read before the next sweep
 *
 * After a new file or a process that generates code was found, more of them are likely,
 * and they may soon be gone. So for ALERT_NS the daemon reads mapping events often.
 *
 * Without notices of new programs (newprogram.h) it reads them every ALERT_MS. With
 * notices the first wait is ALERT_MS, and each further wait is ten times as long, up to
 * ALERT_MAX_MS. These later readings are needed only for new libraries of programs that
 * are already known. A library that is mapped t ms after the notice is found at most
 * 10 t + ALERT_MS ms after the notice. After a reading that found something new,
 * the next one comes within ALERT_MAX_MS.
 */
#ifndef CPI_DAEMON_ALERT_H
#define CPI_DAEMON_ALERT_H

#include <stdbool.h>
#include <stdint.h>

#define ALERT_NS     2000000000ull
#define ALERT_MS     10
#define ALERT_MAX_MS 1000

/* Starts as zeros: no alert. */
struct alert {
	uint64_t until_ns, due_ns;
	int wait_ms; /* from the last reading to the next one */
};

/* A notice came. */
void alert_begin(struct alert *a, uint64_t now_ns);

/* A reading of mapping events has found something new. has_notices: as below. */
void alert_note_news(struct alert *a, uint64_t now_ns, bool has_notices);

/* Mapping events were read. has_notices: notices tell of new programs. */
void alert_note_reading(struct alert *a, uint64_t now_ns, bool has_notices);

/* Returns the time until the next reading in ms; -1: there is no alert. */
int alert_wait_ms(const struct alert *a, uint64_t now_ns);

/* Whether the time of the next reading has come. */
bool alert_is_due(const struct alert *a, uint64_t now_ns);

#endif
