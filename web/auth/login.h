/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * login.h - checks users' passwords, some at a time
 *
 * A check takes tens of milliseconds of CPU time by design. So a child process does it,
 * and a password that was right is remembered, by a keyed hash, until the user's line
 * in the file changes. A wrong one keeps its place for LOGIN_DELAY_S, so each address
 * can try LOGIN_PLACES_OF_PEER in that time, and all together LOGIN_PLACES.
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

/* One that waits for a check. */
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
	uint8_t right[LOGIN_REMEMBERED][LOGIN_KEY_SIZE]; /* the oldest goes first */
	unsigned int nr_right;                           /* ever remembered */
	uint64_t nr_failed, nr_refused;
};

/* 0 or -errno. loop and passwords have to stay. */
int logins_init(struct logins *l, struct loop *loop, struct passwords *passwords);

struct login_attempt {
	const char *user, *password;
	const uint8_t
		*peer; /* LOGIN_PEER_SIZE bytes: an IPv4 address and zeros, or IPv6 */
};

/*
 * Returns 1 if the password is known to be right; 0, and w waits; -EBUSY while too many
 * are checked; or another -errno.
 */
int logins_ask(struct logins *l, const struct login_attempt *a, uint64_t now_ns,
	       struct login_waiter *w);
void logins_leave(struct login_waiter *w);

/* Tells of wrong passwords, and ends what hangs; to be called once a second. */
void logins_tick(struct logins *l, uint64_t now_ns);

/* Ends all; waiters are told that the password is wrong: nobody gets in unchecked. */
void logins_fini(struct logins *l);

#endif
