/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stamp.c - hashes what an answer depends on
 *
 * All that an answer depends on is part of its key. So a cached answer never has to be
 * checked again. The state of a file is its device, inode, size and time. For SQLite's
 * WAL it is also the header of its index, which changes with every commit.
 */
#include "config.h"

#include "web/stamp.h"

#include <fcntl.h>
#include <limits.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/times.h"

/* Contains a counter of changes, and the length and salt of the WAL. */
#define WAL_INDEX_HEADER 48

/*
 * Answers are used for so long. The stamp does not depend on debug files and source
 * files, so these may have changed since then.
 */
#define CONTENT_KEPT_S 600

/* Answers of a store, which has no files here, are used for so long. */
#define STORE_KEPT_S 30

/*
 * Answers about times that the clock moves ("-1h", "today"), from full minute to full
 * minute.
 */
#define RELATIVE_KEPT_S 60

/* Adds what changes when a file is written to or replaced. */
static void add_file(struct sha256_ctx *sha, const char *path)
{
	struct stat st = { .st_dev = 0 };
	uint64_t part[5] = { 0 };

	if (!stat(path, &st)) {
		part[0] = st.st_dev;
		part[1] = st.st_ino;
		part[2] = (uint64_t)st.st_size;
		part[3] = (uint64_t)st.st_mtim.tv_sec;
		part[4] = (uint64_t)st.st_mtim.tv_nsec;
	}
	sha256_update(sha, sizeof(part), (const uint8_t *)part);
}

/* Two commits may be within one tick of a file's clock (sqlite.org/walformat.html). */
static void add_wal_index(struct sha256_ctx *sha, const char *path)
{
	uint8_t header[WAL_INDEX_HEADER] = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return;
	if (pread(fd, header, sizeof(header), 0) == sizeof(header))
		sha256_update(sha, sizeof(header), header);
	close(fd);
}

static void add_database(struct sha256_ctx *sha, const char *path)
{
	char whole[PATH_MAX];

	add_file(sha, path);
	snprintf(whole, sizeof(whole), "%s-wal", path);
	add_file(sha, whole);
	snprintf(whole, sizeof(whole), "%s-shm", path);
	add_wal_index(sha, whole);
}

static void begin(struct sha256_ctx *sha, const struct api_call *call)
{
	sha256_init(sha);
	sha256_update(sha, sizeof(PACKAGE_VERSION), (const uint8_t *)PACKAGE_VERSION);
	for (int i = 0; i < call->nr; i++)
		sha256_update(sha, strlen(call->argv[i]) + 1,
			      (const uint8_t *)call->argv[i]);
}

void stamp_question(const struct api_call *call, struct job_key *key)
{
	struct sha256_ctx sha;

	begin(&sha, call);
	sha256_digest(&sha, sizeof(key->bytes), key->bytes);
}

void stamp_content(const struct job_key *question, const char *content, uint64_t age_ns,
		   struct job_key *key)
{
	const uint64_t period = age_ns / NSEC_PER_SEC / CONTENT_KEPT_S;
	struct sha256_ctx sha;

	sha256_init(&sha);
	sha256_update(&sha, sizeof(question->bytes), question->bytes);
	sha256_update(&sha, sizeof(period), (const uint8_t *)&period);
	sha256_update(&sha, strlen(content), (const uint8_t *)content);
	sha256_digest(&sha, sizeof(key->bytes), key->bytes);
}

static bool is_relative_end(const char *text)
{
	uint64_t from_ns, to_ns;

	return !time_parse_relative(text, time_real_ns(), &from_ns, &to_ns);
}

/* Whether an end of "A..B", or all of it, depends on the clock: "-1h.." or "today". */
static bool is_relative(const char *spec)
{
	const char *dots = strstr(spec, "..");
	char left[64];

	if (!dots)
		return is_relative_end(spec);
	snprintf(left, sizeof(left), "%.*s", (int)(dots - spec), spec);
	return is_relative_end(left) || is_relative_end(dots + 2);
}

/* Looks at the values of options, and at arguments. */
static bool depends_on_clock(const struct api_call *call)
{
	for (int i = 0; i < call->nr; i++) {
		const char *arg = call->argv[i], *value = strchr(arg, '=');

		if (is_relative(!strncmp(arg, "--", 2) && value ? value + 1 : arg))
			return true;
	}
	return false;
}

void stamp_call(const struct api_call *call, const struct text_list *dbs,
		struct job_key *key)
{
	const uint64_t second = time_mono_ns() / NSEC_PER_SEC;
	const uint64_t period = second / STORE_KEPT_S;
	const uint64_t minute = time_real_ns() / NSEC_PER_SEC / RELATIVE_KEPT_S;
	struct sha256_ctx sha;

	begin(&sha, call);
	if (depends_on_clock(call))
		sha256_update(&sha, sizeof(minute), (const uint8_t *)&minute);
	if (!strcmp(call->report, "status")) /* also depends on the daemon */
		sha256_update(&sha, sizeof(second), (const uint8_t *)&second);
	if (api_has_store(dbs))
		sha256_update(&sha, sizeof(period), (const uint8_t *)&period);
	for (int i = 0; i < dbs->nr; i++)
		add_database(&sha, dbs->item[i]);
	sha256_digest(&sha, sizeof(key->bytes), key->bytes);
}
