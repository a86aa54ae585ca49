/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options_publish.c - writes the current options to a file in the service manager's
 * folder
 */
#include "config.h"

#include "service/options_publish.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"

#define MODE 0644 /* passwords are in files of their own: keyfile.h */

void service_publish_open(struct service_published *out)
{
	const char *folder = getenv("RUNTIME_DIRECTORY"); /* several, with colons */

	*out = (struct service_published){ .dir_fd = -1 };
	if (!folder || *folder != '/')
		return;
	snprintf(out->folder, sizeof(out->folder), "%.*s", (int)strcspn(folder, ":"),
		 folder);
	out->dir_fd = file_open_dir(out->folder);
	if (out->dir_fd < 0)
		log_warn("config: %s: cannot open it: %s", out->folder,
			 err_str(out->dir_fd));
}

void service_publish(const struct service_published *to,
		     const struct service_program *p, const struct service_settings *s)
{
	struct buf text = { 0 };
	int err;

	if (to->dir_fd < 0)
		return;
	buf_printf(&text, "pid %d\n", (int)getpid());
	err = service_options_describe(p, s, &text);
	if (!err)
		err = file_replace(to->dir_fd, SERVICE_OPTIONS_FILE, MODE, text.data,
				   text.len);
	if (err)
		log_warn("config: %s/%s: cannot write it: %s", to->folder,
			 SERVICE_OPTIONS_FILE, err_str(err));
	buf_fini(&text);
}

void service_publish_close(struct service_published *p)
{
	if (p->dir_fd < 0)
		return;
	unlinkat(p->dir_fd, SERVICE_OPTIONS_FILE, 0);
	close(p->dir_fd);
	p->dir_fd = -1;
}
