/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * passwords.h - users and hashes of their passwords, from a file
 *
 *	# a comment
 *	USER:HASH
 *
 * Hashes are crypt(5)'s of methods that take time: yescrypt, gost-yescrypt, scrypt and
 * bcrypt. What follows a second ':' is ignored, so lines of /etc/shadow and of
 * htpasswd(1) are valid. The file is read again when it has changed. A line that is not
 * valid is logged and left out; a file that is not, lets nobody in.
 */
#ifndef CPI_WEB_PASSWORDS_H
#define CPI_WEB_PASSWORDS_H

#include <stdbool.h>

#define PASSWORDS_MAX_USERS 1000
#define PASSWORDS_MAX_NAME  64

struct passwords;

/* Reads the file. 0 or a negative error; logged. path has to stay. */
int passwords_open(const char *path, struct passwords **out);
void passwords_free(struct passwords *p); /* accepts NULL */

/*
 * The hash of a user in the file as it is now. Where there is no such user it is
 * another one's, whose check takes as long, and *is_user is false; NULL if there are
 * none. Valid until the next call.
 */
const char *passwords_hash(struct passwords *p, const char *user, bool *is_user);

#endif
