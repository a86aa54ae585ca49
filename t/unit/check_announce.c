/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_announce.c - datagrams with descriptors, on a kernel that does not refuse them
 */
#include "config.h"

#include "daemon/mappings/announce.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "daemon/os/foreignfds.h"
#include "t/unit/unit.h"
#include "t/unit/unit_images.h"

static int nr_left; /* messages with descriptors that are still there */
static int nr_busy; /* how often none can be dropped yet */

bool __wrap_foreignfds_came(const struct foreignfds *f, int socket, size_t expected);
int __wrap_foreignfds_drop(struct foreignfds *f, int socket);

bool __wrap_foreignfds_came(const struct foreignfds *f, int socket, size_t expected)
{
	(void)f;
	(void)socket;
	(void)expected;
	return nr_left > 0;
}

int __wrap_foreignfds_drop(struct foreignfds *f, int socket)
{
	(void)f;
	(void)socket;
	if (nr_busy) {
		nr_busy--;
		return -EBUSY;
	}
	nr_left--;
	return 0;
}

START_TEST(a_message_is_counted_when_it_is_dropped)
{
	char dir[] = "/tmp/cpi-announce.XXXXXX", path[64];
	struct procmap *pm = procmap_new();
	struct images *images = unit_images();
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	struct announce *a = NULL;
	struct buf status = { 0 };

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/socket", dir);
	ck_assert_int_eq(announce_open(path, epoll_fd, pm, images, &a), 0);
	nr_left = 2;
	nr_busy = 3;
	for (int i = 0; i < 6; i++)
		announce_run(a, false);
	announce_status(a, &status);
	ck_assert_int_eq(nr_left, 0);
	ck_assert_ptr_nonnull(strstr(buf_str(&status), "announcements 2\n"));
	ck_assert_ptr_nonnull(strstr(buf_str(&status), "refused.descriptors 2\n"));
	buf_fini(&status);
	announce_close(a);
	close(epoll_fd);
	unit_images_free(images);
	procmap_free(pm);
	rmdir(dir);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("announce");
	TCase *tc = tcase_create("announce");

	tcase_add_test(tc, a_message_is_counted_when_it_is_dropped);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
