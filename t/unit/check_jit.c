/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_jit.c - samples in code that a process made: who says what it is
 *
 * The process is the test's own: it writes its map, as such processes do.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/times.h"
#include "daemon/jit/jit.h"
#include "daemon/jit/jitread.h"
#include "t/unit/unit.h"
#include "t/unit/unit_images.h"

static char path[64];

static void remove_map(void)
{
	unlink(path);
}

/* Appends to the map of this process. */
static void tell(const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(file_write(fd, text, strlen(text)), 0);
	close(fd);
}

static void setup(void)
{
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	remove_map();
	atexit(remove_map);
}

struct reading {
	struct timed_child *timed_child;
	struct jit_owner owner;
	struct jit_file file;
	struct jitmap map;
	size_t budget;
};

static struct reading reading_new(void)
{
	static struct timed_child *volatile kept; /* until the test's process ends */
	struct reading r = { .timed_child = unit_timed_child(), .budget = SIZE_MAX };

	kept = r.timed_child;
	ck_assert_ptr_nonnull(kept);
	ck_assert_int_eq(jit_owner_read(r.timed_child, getpid(), &r.owner), 0);
	return r;
}

static int read_text(struct reading *r)
{
	int err =
		jitread_text(r->timed_child, &r->owner, &r->file, &r->map, &r->budget);

	ck_assert_int_eq(jitmap_build(&r->map, 0), 0);
	return err;
}

static const char *find(struct reading *r, uint64_t pc)
{
	uint64_t now = time_mono_ns();
	struct jit_code *c;

	return jitmap_find(&r->map, pc, now, now, &c) ? "" : jitmap_name(&r->map, c);
}

START_TEST(who_a_process_is_can_be_asked)
{
	uint64_t now = time_real_ns();
	struct timed_child *a = unit_timed_child();
	struct jit_owner o;

	ck_assert_int_eq(jit_owner_read(a, getpid(), &o), 0);
	ck_assert_int_eq(o.tgid, getpid());
	ck_assert_uint_eq(o.uid, geteuid());
	ck_assert(o.shares_root);
	ck_assert_uint_le(o.begun_real_ns, now + NSEC_PER_SEC);
	ck_assert_uint_ge(o.begun_real_ns + 3600 * NSEC_PER_SEC, now);
	ck_assert_int_eq(jit_owner_read(a, 0x3fffff, &o), -ENOENT);
	timed_child_free(a);
}
END_TEST

START_TEST(a_map_is_read_as_it_grows)
{
	struct reading r = reading_new();

	ck_assert_int_eq(read_text(&r), -ENOENT);
	tell("1000 10 a\n2000 10 b\n3000 1");
	ck_assert_int_eq(read_text(&r), 0);
	ck_assert_str_eq(find(&r, 0x1000), "a");
	ck_assert_str_eq(find(&r, 0x200f), "b");
	ck_assert_str_eq(find(&r, 0x3000), "");
	tell("0 c\nrubbish\n4000 10 d\n");
	ck_assert_int_eq(read_text(&r), 0);
	ck_assert_str_eq(find(&r, 0x3000), "c");
	ck_assert_str_eq(find(&r, 0x4000), "d");
	ck_assert_uint_eq(r.map.nr, 4);
	ck_assert_int_eq(read_text(&r), 0);
	ck_assert_uint_eq(r.map.nr, 4);
	jitmap_fini(&r.map);
	timed_child_free(r.timed_child);
}
END_TEST

START_TEST(a_map_that_is_written_anew_replaces_what_was_told)
{
	struct reading r = reading_new();

	tell("1000 10 a\n2000 10 b\n");
	ck_assert_int_eq(read_text(&r), 0);
	ck_assert_int_eq(truncate(path, 0), 0); /* and longer than before */
	tell("1000 10 other\n5000 10 b\n6000 10 c\n7000 10 d\n");
	ck_assert_int_eq(read_text(&r), 0);
	ck_assert_str_eq(find(&r, 0x1000), "other");
	ck_assert_str_eq(find(&r, 0x2000), "");
	ck_assert_str_eq(find(&r, 0x7000), "d");
	remove_map();
	tell("8000 10 e\n");
	ck_assert_int_eq(read_text(&r), 0);
	ck_assert_str_eq(find(&r, 0x7000), "");
	ck_assert_str_eq(find(&r, 0x8000), "e");
	jitmap_fini(&r.map);
	timed_child_free(r.timed_child);
}
END_TEST

START_TEST(a_line_without_end_is_passed_over)
{
	struct reading r = reading_new();
	char piece[1001];

	memset(piece, 'f', 1000);
	piece[1000] = '\0';
	tell("1000 10 a\n");
	for (int i = 0; i < 200; i++)
		tell(piece);
	ck_assert_int_eq(read_text(&r), 0);
	tell("\n2000 10 b\n");
	ck_assert_int_eq(read_text(&r), 0);
	ck_assert_str_eq(find(&r, 0x1000), "a");
	ck_assert_str_eq(find(&r, 0x2000), "b");
	jitmap_fini(&r.map);
	timed_child_free(r.timed_child);
}
END_TEST

/* A file of zeros that takes no room on the disk, but reading it would take days. */
START_TEST(an_endless_map_is_read_in_pieces_and_to_a_limit)
{
	struct reading r = reading_new();
	int rounds = 0;

	tell("1000 10 a\n");
	ck_assert_int_eq(truncate(path, 1LL << 40), 0);
	while (!r.file.is_full) {
		r.budget = 4 << 20;
		ck_assert_int_eq(read_text(&r), 0);
		ck_assert_uint_le(r.budget, 4 << 20);
		ck_assert_int_lt(++rounds, 100);
	}
	ck_assert_int_gt(rounds, 10);
	ck_assert_str_eq(find(&r, 0x1000), "a");
	ck_assert_uint_eq(r.map.nr, 1);
	jitmap_fini(&r.map);
	timed_child_free(r.timed_child);
}
END_TEST

static void make_fifo(void)
{
	ck_assert_int_eq(mkfifo(path, 0666), 0);
}

static void make_directory(void)
{
	ck_assert_int_eq(mkdir(path, 0777), 0);
}

static void make_symlink(void)
{
	ck_assert_int_eq(symlink("/etc/passwd", path), 0);
}

static void make_old(void)
{
	const struct timespec times[2] = { { 1, 0 }, { 1, 0 } };

	tell("1000 10 a\n"); /* of a process that had the number before */
	ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

static const struct {
	const char *what;
	void (*make)(void);
	int err;
} traps[] = {
	{ "a FIFO", make_fifo, -ENODEV },
	{ "a directory", make_directory, -ENODEV },
	{ "a symlink", make_symlink, -ELOOP },
	{ "a file that is older than the process", make_old, -EACCES },
};

START_TEST(what_is_no_map_of_this_process_is_not_read)
{
	struct reading r = reading_new();
	int err;

	traps[_i].make();
	err = read_text(&r);
	if (remove(path))
		ck_abort_msg("%s is left over", path);
	ck_assert_msg(err == traps[_i].err, "%s: %d", traps[_i].what, err);
	ck_assert_uint_eq(r.map.nr, 0);
}
END_TEST

/* Reading some of them has effects, and they are root's. */
START_TEST(a_file_of_proc_is_not_read)
{
	struct reading r = reading_new();

	tell("");
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("/proc/kallsyms", path, NULL, MS_BIND, NULL))
		return; /* only root can lay that trap */
	ck_assert_int_eq(read_text(&r), -EACCES);
	ck_assert_int_eq(umount(path), 0);
	ck_assert_uint_eq(r.budget, SIZE_MAX);
}
END_TEST

START_TEST(another_users_file_is_not_believed)
{
	struct reading r = reading_new();

	tell("1000 10 a\n");
	r.owner.uid = geteuid() + 1;
	if (geteuid() == 0)
		ck_assert_int_eq(chown(path, 12345, 12345), 0);
	ck_assert_int_eq(read_text(&r), -EACCES);
	ck_assert_uint_eq(r.map.nr, 0);
}
END_TEST

struct retried {
	int nr, err;
	uint64_t bias;
	struct known_image *image;
};

static void on_retried(void *ctx, const struct jit_sample *s, const struct process *p,
		       int err, struct known_image *image, uint64_t bias)
{
	struct retried *out = ctx;

	ck_assert_uint_eq(cpi_entry_count(&s->entry), 3);
	ck_assert_str_eq(p->comm, "test");
	*out = (struct retried){ out->nr + 1, err, bias, image };
}

static struct process this_process(void)
{
	return (struct process){ .tgid = getpid(), .start_ns = 5, .comm = "test" };
}

static struct jit_sample sample_at(uint64_t pc)
{
	uint64_t now = time_mono_ns();

	return (struct jit_sample){ { cpi_entry_word0(pc, 0, CPI_OUTCOME_NONE),
				      cpi_entry_who(getpid(), 0) |
					      3ULL << CPI_COUNT_SHIFT },
				    now,
				    now };
}

static int find_sample(struct jit *j, const struct process *p,
		       const struct jit_sample *s, struct known_image **image,
		       uint64_t *bias)
{
	int err = jit_find(j, p, cpi_entry_pc(&s->entry), s->from_ns, s->to_ns, image,
			   bias);

	if (err != -EAGAIN)
		return err;
	jit_read_noted(j);
	return jit_find(j, p, cpi_entry_pc(&s->entry), s->from_ns, s->to_ns, image,
			bias);
}

/* Without a child a question ends the test. */
START_TEST(a_process_without_a_dump_costs_no_question)
{
	const struct process p = this_process();
	struct images *im = images_new(NULL);
	struct jit *j = jit_new(im);

	ck_assert_ptr_nonnull(j);
	ck_assert(!jit_has_code(j, &p));
	ck_assert(!jit_has_tables(j, &p, time_mono_ns()));
	jit_free(j);
	images_free(im);
}
END_TEST

START_TEST(a_sample_waits_for_a_map_that_comes_late)
{
	struct process p = this_process();
	struct jit_sample s = sample_at(0x1008), t = sample_at(0x9000);
	struct images *im = unit_images();
	struct jit *j = jit_new(im);
	struct known_image *image;
	struct retried out = { 0 };
	struct jit_object *objects;
	uint64_t bias;

	ck_assert_int_eq(find_sample(j, &p, &s, &image, &bias), -ENOENT);
	ck_assert(jit_wait(j, &p, &s));
	ck_assert_uint_eq(jit_nr_waiting(j), 3);
	tell("1000 10 fn\n");
	jit_retry_waiting(j, on_retried, &out);
	ck_assert_int_eq(out.nr, 1);
	ck_assert_int_eq(out.err, 0);
	ck_assert_str_eq(out.image->desc.name, "[jit:test]");
	ck_assert_uint_eq(jit_nr_waiting(j), 0);

	objects = jit_take(j);
	ck_assert_str_eq(objects->name, "fn");
	ck_assert_uint_eq(objects->offset, 0x1000 + out.bias);
	ck_assert_uint_eq(objects->size, 16);
	ck_assert_ptr_null(objects->next);
	jit_free_objects(objects);
	ck_assert_ptr_null(jit_take(j));

	ck_assert(jit_wait(j, &p, &t));
	jit_retry_waiting(j, on_retried, &out);
	ck_assert_int_eq(out.nr, 2);
	ck_assert_int_eq(out.err, -ENOENT);
	jit_free(j);
	unit_images_free(im);
}
END_TEST

START_TEST(one_function_has_one_place_wherever_it_lies)
{
	struct process p = this_process(), q = this_process();
	struct images *im = unit_images();
	struct jit *j = jit_new(im);
	struct known_image *image[4];
	struct jit_object *objects;
	struct jit_sample s;
	uint64_t bias[4];

	tell("1000 10 fn\n2000 10 fn\n3000 20 fn\n");
	for (int i = 0; i < 3; i++) {
		s = sample_at(0x1000 * (i + 1) + 4);
		ck_assert_int_eq(find_sample(j, &p, &s, &image[i], &bias[i]), 0);
	}
	q.start_ns = 7; /* a later incarnation */
	ck_assert_int_eq(find_sample(j, &q, &s, &image[3], &bias[3]), 0);
	ck_assert_ptr_eq(image[0], image[3]);
	ck_assert_uint_eq(0x1000 + bias[0], 0x2000 + bias[1]);
	ck_assert_uint_ne(0x1000 + bias[0], 0x3000 + bias[2]); /* not the same code */
	ck_assert_uint_eq(bias[2], bias[3]);
	objects = jit_take(j);
	ck_assert_ptr_nonnull(objects->next);
	ck_assert_ptr_null(objects->next->next);
	jit_free_objects(objects);
	jit_free(j);
	unit_images_free(im);
}
END_TEST

START_TEST(only_so_many_samples_wait)
{
	struct process p = this_process();
	struct jit_sample s = sample_at(0x1008);
	struct images *im = unit_images();
	struct jit *j = jit_new(im);
	struct known_image *image;
	struct retried out = { 0 };
	uint64_t bias;
	int nr = 0;

	ck_assert(!jit_wait(j, &p, &s)); /* nobody asked for the process yet */
	ck_assert_int_eq(find_sample(j, &p, &s, &image, &bias), -ENOENT);
	while (jit_wait(j, &p, &s))
		nr++;
	ck_assert_int_eq(nr, JIT_MAX_WAITING);
	jit_retry_waiting(j, on_retried, &out);
	ck_assert_int_eq(out.nr, JIT_MAX_WAITING);
	jit_free(j);
	unit_images_free(im);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("jit");
	TCase *tc = tcase_create("jit");

	tcase_add_checked_fixture(tc, setup, remove_map);
	tcase_add_test(tc, who_a_process_is_can_be_asked);
	tcase_add_test(tc, a_map_is_read_as_it_grows);
	tcase_add_test(tc, a_map_that_is_written_anew_replaces_what_was_told);
	tcase_add_test(tc, a_line_without_end_is_passed_over);
	tcase_add_test(tc, an_endless_map_is_read_in_pieces_and_to_a_limit);
	tcase_add_loop_test(tc, what_is_no_map_of_this_process_is_not_read, 0,
			    NR(traps));
	tcase_add_test(tc, a_file_of_proc_is_not_read);
	tcase_add_test(tc, another_users_file_is_not_believed);
	tcase_add_test(tc, a_process_without_a_dump_costs_no_question);
	tcase_add_test(tc, a_sample_waits_for_a_map_that_comes_late);
	tcase_add_test(tc, one_function_has_one_place_wherever_it_lies);
	tcase_add_test(tc, only_so_many_samples_wait);
	tcase_set_timeout(tc, 600);
	suite_add_tcase(suite, tc);
	return suite;
}

UNIT_MAIN(make_suite)
