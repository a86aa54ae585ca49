/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log_repeats.c - remembers the newest lines by their hashes
 *
 * A line that NR_LINES others have displaced is written again before its time. A new
 * line is never left out, unless its hash collides (one in 2^64).
 */
#include "config.h"

#include "base/log_repeats.h"

#include <pthread.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/times.h"

#define NR_LINES 32

struct repeated_line {
	uint64_t hash;
	uint64_t written_ns; /* 0: free */
	uint64_t nr_left_out;
};

static struct {
	pthread_mutex_t lock;
	uint64_t ns; /* 0: every line passes */
	struct repeated_line line[NR_LINES];
	uint64_t nr_left_out;
} the_repeats = { .lock = PTHREAD_MUTEX_INITIALIZER };

void log_limit_repeats(uint64_t ns)
{
	pthread_mutex_lock(&the_repeats.lock);
	the_repeats.ns = ns;
	pthread_mutex_unlock(&the_repeats.lock);
}

uint64_t log_forget_repeats(void)
{
	uint64_t nr;

	pthread_mutex_lock(&the_repeats.lock);
	nr = the_repeats.nr_left_out;
	the_repeats.nr_left_out = 0;
	memset(the_repeats.line, 0, sizeof(the_repeats.line));
	pthread_mutex_unlock(&the_repeats.lock);
	return nr;
}

/* The slot of the line, or else the slot of the oldest line. */
static struct repeated_line *find_line(uint64_t hash)
{
	struct repeated_line *oldest = &the_repeats.line[0];

	for (int i = 0; i < NR_LINES; i++) {
		struct repeated_line *l = &the_repeats.line[i];

		if (l->written_ns && l->hash == hash)
			return l;
		if (l->written_ns < oldest->written_ns)
			oldest = l;
	}
	*oldest = (struct repeated_line){ .hash = hash };
	return oldest;
}

bool log_repeats_pass(const char *text, size_t size, uint64_t *nr)
{
	const uint64_t now_ns = time_mono_ns();
	bool pass = true;
	struct repeated_line *l;

	pthread_mutex_lock(&the_repeats.lock);
	if (the_repeats.ns) {
		l = find_line(hash_bytes(0, text, size));
		pass = !l->written_ns || now_ns - l->written_ns >= the_repeats.ns;
		if (pass) {
			*nr = l->nr_left_out;
			l->written_ns = now_ns;
			l->nr_left_out = 0;
		} else {
			l->nr_left_out++;
			the_repeats.nr_left_out++;
		}
	}
	pthread_mutex_unlock(&the_repeats.lock);
	return pass;
}
