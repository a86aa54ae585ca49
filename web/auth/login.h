/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * login.h - checks users' passwords, a limited number at a time
 *
 * By design a check takes tens of milliseconds of CPU time. So a child process does it.
 * A correct password is remembered, as a keyed hash, until the user's line in the file
 * changes. There are LOGIN_PLACES places for checks, and LOGIN_PLACES_OF_PEER for one
 * address. A wrong password occupies its place for LOGIN_DELAY_S, which limits how many
 * can be tried.
 */
#ifndef CPI_WEB_LOGIN_H
#define CPI_WEB_LOGIN_H

#include <stdbool.h>
#include <stdint.h>

#include "web/auth/passwords.h"
#include "web/loop.h"

#define LOGIN_PLACES         8
#define LOGIN_PLACES_OF_PEER 2
#define LOGIN_DELAY_S        1
#define LOGIN_REMEMBERED     64
#define LOGIN_KEY_SIZE       32
#define LOGIN_PEER_SIZE      16

struct login;

/* A request that waits for a check. */
struct login_waiter {
	struct login_waiter *next;
	struct login *login; /* NULL: it does not wait */
	void (*done)(struct login_waiter *w, bool is_right);
};

struct logins {
	struct loop *loop;
	struct passwords *passwords; /* NULL: nobody logs in */
	struct login *first;
	uint8_t secret[LOGIN_KEY_SIZE];
	uint8_t right[LOGIN_REMEMBERED]
		     [LOGIN_KEY_SIZE]; /* the oldest is replaced first */
	unsigned int nr_right; /* number of passwords that were ever remembered */
	uint64_t nr_failed, nr_refused;
};

/* Returns 0 or -errno. loop and passwords must stay valid. */
int logins_init(struct logins *l, struct loop *loop, struct passwords *passwords);

struct login_attempt {
	const char *user, *password;
	const uint8_t
		*peer; /* LOGIN_PEER_SIZE bytes: an IPv4 address and zeros, or IPv6 */
};

/*
 * Returns 1 if the password is remembered as correct; 0 if w waits for a check; -EBUSY
 * if there are too many checks; or another -errno.
 */
int logins_ask(struct logins *l, const struct login_attempt *a, uint64_t now_ns,
	       struct login_waiter *w);
void logins_leave(struct login_waiter *w);

/*
 * Answers waiters whose password was wrong. Call it once a second. A check that takes
 * too much CPU time is ended by the kernel (RLIMIT_CPU), and counts as wrong.
 */
void logins_tick(struct logins *l, uint64_t now_ns);

/*
 * Ends all checks. Waiters get the answer that the password is wrong, so no one gets in
 * without a check.
 */
void logins_fini(struct logins *l);

#endif
