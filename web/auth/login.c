/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * login.c - checks a password in a child process
 *
 * 	          child exits 0               remembered, waiters are let in
 * 	checked --------------------------->  (freed)
 * 	   |
 * 	   | any other end                    waiters are refused
 * 	   +--------------> wrong ---------->  (freed)
 * 	     pid is 0              LOGIN_DELAY_S after it began
 *
 * A login that is wrong keeps its place until the delay is over: this limits the rate
 * of guesses. Equal attempts share a child, because a browser sends several requests at
 * once. For a user that does not exist another user's hash is checked, so that the time
 * does not tell whether the user exists. Passwords are not kept: what is remembered is
 * an HMAC under a key that is made anew at each start.
 */
#include "config.h"

#include "web/auth/login.h"

#include <arpa/inet.h>
#include <crypt.h>
#include <errno.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hmap.h"
#include "base/log.h"
#include "base/times.h"

#define CPU_S   10 /* of a check, by a hash that costs too much */
#define NETWORK 8  /* bytes of an address: one IPv6 network is one peer */

struct login {
	struct login *next;
	struct logins *logins;
	struct login_waiter *waiters;
	uint8_t key[LOGIN_KEY_SIZE], peer[LOGIN_PEER_SIZE];
	char user[PASSWORDS_MAX_NAME + 1];
	struct watch end; /* of the child */
	pid_t pid;        /* 0: it has ended, and the password is wrong */
	uint64_t since_ns;
};

int logins_init(struct logins *l, struct loop *loop, struct passwords *passwords)
{
	*l = (struct logins){ .loop = loop, .passwords = passwords };
	return getrandom(l->secret, sizeof(l->secret), 0) == sizeof(l->secret) ? 0
									       : -EIO;
}

static void make_key(const struct logins *l, const struct login_attempt *a,
		     const char *hash, uint8_t key[LOGIN_KEY_SIZE])
{
	struct hmac_sha256_ctx hmac;

	hmac_sha256_set_key(&hmac, sizeof(l->secret), l->secret);
	hmac_sha256_update(&hmac, strlen(a->user) + 1, (const uint8_t *)a->user);
	hmac_sha256_update(&hmac, strlen(hash) + 1, (const uint8_t *)hash);
	hmac_sha256_update(&hmac, strlen(a->password), (const uint8_t *)a->password);
	hmac_sha256_digest(&hmac, LOGIN_KEY_SIZE, key);
	explicit_bzero(&hmac, sizeof(hmac));
}

static bool is_remembered(const struct logins *l, const uint8_t *key)
{
	const unsigned int nr =
		l->nr_right < LOGIN_REMEMBERED ? l->nr_right : LOGIN_REMEMBERED;
	bool found = false;

	for (unsigned int i = 0; i < nr; i++)
		found |= memeql_sec(l->right[i], key, LOGIN_KEY_SIZE);
	return found;
}

static struct login *find_same(const struct logins *l, const uint8_t *key)
{
	struct login *login = l->first;

	while (login && memcmp(login->key, key, LOGIN_KEY_SIZE))
		login = login->next;
	return login;
}

static bool has_room(const struct logins *l, const uint8_t *peer)
{
	unsigned int all = 0, of_peer = 0;

	for (const struct login *i = l->first; i; i = i->next) {
		all++;
		of_peer += !memcmp(i->peer, peer, NETWORK);
	}
	return all < LOGIN_PLACES && of_peer < LOGIN_PLACES_OF_PEER;
}

static void unlink_login(struct login *login)
{
	struct login **at = &login->logins->first;

	while (*at != login)
		at = &(*at)->next;
	*at = login->next;
}

static void close_end(struct login *login)
{
	if (login->end.fd < 0)
		return;
	loop_remove(login->logins->loop, &login->end);
	close(login->end.fd);
	login->end.fd = -1;
}

/* Tells the waiters, and forgets it. */
static void conclude(struct login *login, bool is_right)
{
	struct login_waiter *w, *next;

	unlink_login(login);
	close_end(login);
	for (w = login->waiters; w; w = next) {
		next = w->next;
		w->login = NULL;
		w->done(w, is_right);
	}
	free(login);
}

static void remember(struct logins *l, const uint8_t *key)
{
	memcpy(l->right[l->nr_right % LOGIN_REMEMBERED], key, LOGIN_KEY_SIZE);
	if (++l->nr_right == 2 * LOGIN_REMEMBERED)
		l->nr_right = LOGIN_REMEMBERED;
}

static void say_wrong(const struct login *login)
{
	static const uint8_t zeros[LOGIN_PEER_SIZE - 4];
	const bool is_v4 = !memcmp(login->peer + 4, zeros, sizeof(zeros));
	char text[INET6_ADDRSTRLEN] = "?";

	inet_ntop(is_v4 ? AF_INET : AF_INET6, login->peer, text, sizeof(text));
	log_warn("web: a wrong password for user '%s' from %s", login->user, text);
}

/* Whether the child has ended; a wrong password waits for its time. */
static bool reap(struct login *login)
{
	int status;

	if (waitpid(login->pid, &status, WNOHANG) != login->pid)
		return false;
	login->pid = 0;
	if (WIFEXITED(status) && !WEXITSTATUS(status)) {
		remember(login->logins, login->key);
		conclude(login, true);
		return true;
	}
	close_end(login);
	login->logins->nr_failed++;
	say_wrong(login);
	return true;
}

static void on_end(struct watch *w, uint32_t events)
{
	reap(container_of(w, struct login, end));
}

static _Noreturn void check(const char *password, const char *hash, bool is_user)
{
	const struct rlimit cpu = { CPU_S, CPU_S }, none = { 0, 0 };
	struct crypt_data data = { .initialized = 0 };
	const char *got;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CPU, &cpu);
	setrlimit(RLIMIT_CORE, &none);
	closefrom(STDERR_FILENO + 1);
	got = crypt_rn(password, hash, &data, sizeof(data));
	_exit(got && is_user && strlen(got) == strlen(hash) &&
			      memeql_sec(got, hash, strlen(hash))
		      ? 0
		      : 1);
}

static int start(struct login *login, const char *password, const char *hash,
		 bool is_user)
{
	struct logins *l = login->logins;

	login->pid = fork();
	if (!login->pid)
		check(password, hash, is_user);
	if (login->pid < 0) {
		login->pid = 0;
		return -errno;
	}
	login->end = (struct watch){ .fd = (int)syscall(SYS_pidfd_open, login->pid, 0),
				     .fn = on_end };
	/* Else logins_tick() sees its end. */
	if (login->end.fd >= 0 && loop_add(l->loop, &login->end, EPOLLIN)) {
		close(login->end.fd);
		login->end.fd = -1;
	}
	return 0;
}

static int begin(struct logins *l, const struct login_attempt *a, const uint8_t *key,
		 const char *hash, bool is_user, uint64_t now_ns, struct login **out)
{
	struct login *login;
	int err;

	if (!has_room(l, a->peer)) {
		l->nr_refused++;
		return -EBUSY;
	}
	login = calloc(1, sizeof(*login));
	if (!login)
		return -ENOMEM;
	*login = (struct login){ .next = l->first, .logins = l, .since_ns = now_ns };
	login->end.fd = -1;
	memcpy(login->key, key, sizeof(login->key));
	memcpy(login->peer, a->peer, sizeof(login->peer));
	strncpy(login->user, a->user, sizeof(login->user) - 1);
	err = start(login, a->password, hash, is_user);
	if (err) {
		free(login);
		return err;
	}
	l->first = login;
	*out = login;
	return 0;
}

int logins_ask(struct logins *l, const struct login_attempt *a, uint64_t now_ns,
	       struct login_waiter *w)
{
	uint8_t key[LOGIN_KEY_SIZE];
	struct login *login;
	const char *hash;
	bool is_user;
	int err = 0;

	hash = passwords_hash(l->passwords, a->user, &is_user);
	if (!hash)
		hash = "";
	make_key(l, a, hash, key);
	if (is_user && is_remembered(l, key))
		return 1;
	login = find_same(l, key); /* a browser sends several requests at once */
	if (!login)
		err = begin(l, a, key, hash, is_user, now_ns, &login);
	if (err)
		return err;
	w->login = login;
	w->next = login->waiters;
	login->waiters = w;
	return 0;
}

void logins_leave(struct login_waiter *w)
{
	struct login_waiter **at = &w->login->waiters;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	w->login = NULL;
}

void logins_tick(struct logins *l, uint64_t now_ns)
{
	struct login *login, *next;

	for (login = l->first; login; login = next) {
		next = login->next;
		if (login->pid && reap(login))
			next = l->first;
		else if (!login->pid &&
			 now_ns >= login->since_ns + LOGIN_DELAY_S * NSEC_PER_SEC)
			conclude(login, false);
	}
}

void logins_fini(struct logins *l)
{
	while (l->first) {
		if (l->first->pid) {
			kill(l->first->pid, SIGKILL);
			waitpid(l->first->pid, NULL, WNOHANG);
		}
		conclude(l->first, false);
	}
	explicit_bzero(l->secret, sizeof(l->secret));
}
