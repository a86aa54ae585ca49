/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * passwords.h - users and hashes of their passwords, from a file
 *
 *	# a comment
 *	USER:HASH
 *
 * Hashes are crypt(5)'s of methods that take time: yescrypt, gost-yescrypt, scrypt and
 * bcrypt. What follows a second ':' is ignored, so lines of /etc/shadow and of
 * htpasswd(1) are valid. The file is read again when it has changed. An invalid line is
 * logged and ignored. If the file is invalid, no user can log in.
 */
#ifndef CPI_WEB_PASSWORDS_H
#define CPI_WEB_PASSWORDS_H

#include <stdbool.h>

#define PASSWORDS_MAX_USERS 1000
#define PASSWORDS_MAX_NAME  64

struct passwords;

/* Reads the file. Returns 0 or a negative error, logged. path must stay valid. */
int passwords_open(const char *path, struct passwords **out);
void passwords_free(struct passwords *p); /* accepts NULL */

/*
 * The hash of a user in the current file. If there is no such user, returns the hash of
 * another user, so that a check takes as long, and sets *is_user to false. Returns NULL
 * if the file has no users. The result is valid until the next call.
 */
const char *passwords_hash(struct passwords *p, const char *user, bool *is_user);

#endif
