/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * refusal.c - tells 'cpi doctor' that a new certificate is not used
 */
#include "config.h"

#include "web/refusal.h"

#include <errno.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"

#define MODE 0644 /* any user may run cpi doctor */

int refusal_set(int dir_fd, const char *certificate, bool refused)
{
	struct buf text = { 0 };
	int err;

	if (dir_fd < 0)
		return 0;
	if (!refused)
		return unlinkat(dir_fd, REFUSAL_FILE, 0) && errno != ENOENT ? -errno
									    : 0;
	buf_printf(&text, "%s\n", certificate);
	err = text.err ? text.err
		       : file_replace(dir_fd, REFUSAL_FILE, MODE, text.data, text.len);
	buf_fini(&text);
	return err;
}
