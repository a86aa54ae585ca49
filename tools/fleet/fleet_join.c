/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fleet_join.c - lets this machine send its profiles to a store
 *
 * What can be wrong is found out before anything is changed. cpi-ship reads other files
 * of settings, too, so afterwards the files are read again: the store has to be the one
 * that they name.
 */
#include "config.h"

#include "tools/fleet/fleet_join.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "db/clickhouse/storeschema.h"
#include "db/clickhouse/storeurl.h"
#include "service/shipconfig.h"
#include "service/unitfile.h"
#include "tools/ui/out.h"

#define FOLDER  SHIPCONFIG_FILE ".d"
#define NAME    "store.conf"
#define SYSTEMD "/run/systemd/system" /* is there while systemd runs: sd_booted(3) */
#define GROUP   "cpi"                 /* of the service */

extern char **environ;

/* The service has a user of its own, which is in the group. */
static int check_readable(const char *path)
{
	const struct group *group = getgrnam(GROUP);
	struct stat st;

	if (stat(path, &st) < 0) {
		log_err("%s: %s", path, err_str(-errno));
		return -EINVAL;
	}
	if (*path == '/' &&
	    (st.st_mode & S_IROTH ||
	     (group && st.st_gid == group->gr_gid && st.st_mode & S_IRGRP)))
		return 0;
	log_err("%s: cpi-ship could not read it: give its whole path, and let group "
		"'" GROUP "' read it (chgrp " GROUP ", chmod g+r)",
		path);
	return -EACCES;
}

static int check_files(const struct storeurl *url)
{
	const char *const files[] = { url->password_file, url->ca, url->cert,
				      url->key };
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(files) / sizeof(files[0]); i++) {
		if (files[i])
			err = check_readable(files[i]);
	}
	return err;
}

/* Whether cpi-ship could use the store, from here and now. */
static int check_store(const char *url)
{
	struct ch_store *store;
	int err = ch_store_open(url, NULL, &store);

	if (err)
		return err;
	err = storeschema_check(store);
	ch_store_close(store);
	return err;
}

static int check(const char *url)
{
	struct storeurl parsed;
	struct buf why = { 0 };
	int err = storeurl_parse(url, &parsed, &why);

	if (!err && (!text_is_clean(url) || strlen(url) > UNITFILE_MAX_LINE / 2)) {
		buf_puts(&why, "too long for a line of a configuration file, or with "
			       "control characters");
		storeurl_fini(&parsed);
		err = -EINVAL;
	}
	if (err)
		log_err("%s: %s", url, err == -EINVAL ? buf_str(&why) : err_str(err));
	buf_fini(&why);
	if (err)
		return err;
	err = check_files(&parsed);
	storeurl_fini(&parsed);
	return err ? err : check_store(url);
}

static int say_failed(const char *what, int err)
{
	log_err("%s: %s%s", what, err_str(err),
		err == -EACCES || err == -EPERM ? ": run this as root" : "");
	return err;
}

/* The folder's descriptor, or a negative error, logged. Packages make its parent. */
static int open_folder(void)
{
	const bool is_new = !mkdir(FOLDER, 0755);
	int fd, err;

	if (!is_new && errno != EEXIST)
		return say_failed(FOLDER, -errno);
	fd = open(FOLDER, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return say_failed(FOLDER, -errno);
	if (is_new && fchmod(fd, 0755) < 0) { /* whatever the umask is */
		err = say_failed(FOLDER, -errno);
		close(fd);
		return err;
	}
	return fd;
}

static int keep_old(int folder)
{
	if (unlinkat(folder, NAME ".old", 0) < 0 && errno != ENOENT)
		return -errno;
	return linkat(folder, NAME, folder, NAME ".old", 0) < 0 ? -errno : 0;
}

/* Writes the file, unless it has this text already. Keeps a file with another text. */
static int replace(int folder, const struct buf *text)
{
	struct buf old = { 0 };
	int err = file_read_all(folder, NAME, UNITFILE_MAX_BYTES, &old);
	const bool is_same = !err && old.len == text->len &&
			     !memcmp(old.data, text->data, text->len);
	const bool is_new = err == -ENOENT;

	buf_fini(&old);
	if (is_same)
		return 0;
	err = is_new ? 0 : keep_old(folder);
	if (!err)
		err = file_replace(folder, NAME, 0644, text->data, text->len);
	if (!err && !is_new)
		out_line(FOLDER "/" NAME ": its old contents are in " NAME ".old");
	return err ? say_failed(FOLDER "/" NAME, err) : 0;
}

/* Fails if a file that is read later names another store. */
static int check_named(const char *url)
{
	struct shipconfig_store now = { 0 };
	int err = shipconfig_read(SHIPCONFIG_FILE, &now);

	if (!err && (!now.url || strcmp(now.url, url))) {
		log_err("%s:%u sets another store, and is read later: remove that "
			"line, and repeat this",
			now.file ? now.file : SHIPCONFIG_FILE, now.line);
		err = -EEXIST;
	}
	shipconfig_fini(&now);
	return err;
}

static int name_store(const char *url)
{
	struct shipconfig_store before = { 0 };
	struct buf text = { 0 };
	int folder, err = shipconfig_read(SHIPCONFIG_FILE, &before);

	if (err)
		return err;
	folder = open_folder();
	if (folder < 0) {
		shipconfig_fini(&before);
		return folder;
	}
	buf_printf(&text,
		   "# By 'cpi fleet join'.\n[" SHIPCONFIG_SECTION "]\nstore = %s\n",
		   url);
	err = text.err ? text.err : replace(folder, &text);
	if (!err)
		err = check_named(url);
	if (!err && before.url && strcmp(before.url, url))
		out_line("%s:%u named another store before: %s", before.file,
			 before.line, before.url);
	if (!err)
		out_line(FOLDER "/" NAME ": store = %s", url);
	close(folder);
	buf_fini(&text);
	shipconfig_fini(&before);
	return err;
}

/* systemctl prints why it fails, as far as it knows. */
static int systemctl(const char *verb, const char *unit, const char *other)
{
	const char *args[] = { "systemctl", "--quiet", verb, unit, other, NULL };
	int status, err;
	pid_t pid;

	err = -posix_spawnp(&pid, args[0], NULL, NULL, (char **)args, environ);
	if (err) {
		log_err("systemctl: %s", err_str(err));
		return err;
	}
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
}

/* Starts a service, or lets it read its files if it runs. */
static int start(const char *verb, const char *unit)
{
	int err = systemctl(verb, unit, NULL);

	if (err)
		log_err("%s does not start: 'systemctl status %s' says more", unit,
			unit);
	return err;
}

static int start_services(void)
{
	int err, ship_err;

	if (access(SYSTEMD, F_OK) < 0) {
		log_err("systemd does not run here, so nothing was started: start cpid "
			"and cpi-ship, now and at each boot");
		return -ENOENT;
	}
	err = systemctl("enable", "cpid", "cpi-ship");
	if (err) {
		log_err("'systemctl enable cpid cpi-ship' failed: are the packages "
			"cpid and cpi-ship installed?");
		return err;
	}
	err = start("start", "cpid");
	ship_err = start("reload-or-restart", "cpi-ship");
	return err ? err : ship_err;
}

int fleet_join(const char *url)
{
	int err = check(url);

	if (!err)
		err = name_store(url);
	if (!err)
		err = start_services();
	if (err)
		return err;
	out_line("cpid and cpi-ship run, also after a reboot.");
	out_line("In two minutes this lists the machine: cpi fleet hosts --db '%s'",
		 url);
	return 0;
}
