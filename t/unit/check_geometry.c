/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "report/explain/geometry.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t/unit/unit.h"

#define KIB 16.0 /* lines */

static const struct {
	const char *cpu;
	double l1, l2;
} families[] = {
	{ "AMD EPYC (family 25, model 1)", 32 * KIB, 512 * KIB },
	{ "AMD EPYC 9755 (family 26, model 2)", 48 * KIB, 1024 * KIB },
	{ "Intel(R) Xeon(R) (family 6, model 143)", 48 * KIB, 2048 * KIB },
	{ "0xd40", 32 * KIB, 1024 * KIB },
	{ "", 32 * KIB, 1024 * KIB },
};

START_TEST(each_family_has_its_caches)
{
	struct data_geometry g;

	geometry_find(families[_i].cpu, "another boot", &g);
	ck_assert(g.entries[DATA_L1] == families[_i].l1);
	ck_assert(g.entries[DATA_L2] == families[_i].l2);
	for (int l = 0; l < DATA_NR_LEVELS; l++) {
		ck_assert(g.entries[l] > 0);
		ck_assert(0 < g.cycles[l] && g.cycles[l] <= g.most_cycles[l]);
	}
}
END_TEST

static void put(const char *folder, int index, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/index%d", folder, index);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/index%d/%s", folder, index, name);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static const struct {
	const char *level, *type, *size;
	double l1, l2, l3; /* after it */
} caches[] = {
	{ "1\n", "Data\n", "48K\n", 48 * KIB, 7, 8 },
	{ "1\n", "Instruction\n", "64K\n", 48 * KIB, 7, 8 },
	{ "2\n", "Unified\n", "1280K\n", 48 * KIB, 1280 * KIB, 8 },
	{ "3\n", "Unified\n", "30720K\n", 48 * KIB, 1280 * KIB, 30720 * KIB },
	{ "4\n", "Unified\n", "131072K\n", 48 * KIB, 1280 * KIB, 30720 * KIB },
	{ "0\n", "Unified\n", "16K\n", 48 * KIB, 1280 * KIB, 30720 * KIB },
	{ "2\n", "Unified\n", "0K\n", 48 * KIB, 1280 * KIB, 30720 * KIB },
	{ "2\n", "Unified\n", "many\n", 48 * KIB, 1280 * KIB, 30720 * KIB },
	{ "2\n", "Unified\n", "99999999999999999999K\n", 48 * KIB, 1280 * KIB,
	  30720 * KIB },
	{ "2\n", "Unified\n", "", 48 * KIB, 1280 * KIB, 30720 * KIB },
};

START_TEST(caches_are_read_as_sysfs_has_them)
{
	char folder[] = "/tmp/check_geometryXXXXXX", command[64];
	struct data_geometry g = { .entries = { 6, 7, 8 } };

	ck_assert_ptr_nonnull(mkdtemp(folder));
	for (int i = 0; i < (int)NR(caches); i++) {
		put(folder, i, "level", caches[i].level);
		put(folder, i, "type", caches[i].type);
		put(folder, i, "size", caches[i].size);
		geometry_read(folder, &g);
		ck_assert(g.entries[DATA_L1] == caches[i].l1);
		ck_assert(g.entries[DATA_L2] == caches[i].l2);
		ck_assert(g.entries[DATA_L3] == caches[i].l3);
	}
	snprintf(command, sizeof(command), "rm -r %s", folder);
	ck_assert_int_eq(system(command), 0);
	geometry_read(folder, &g); /* is no longer there */
	ck_assert(g.entries[DATA_L1] == 48 * KIB);
}
END_TEST

static const struct {
	const char *cpus;
	double l3; /* of a cache of 260 MiB that they share */
} sharers[] = {
	{ "0-1\n", 8 }, /* a virtual machine: others use it, too */
	{ "0,2\n", 8 },
	{ "0-63,128-191\n", 260 * 1024 * KIB },
	{ "0-30\n", 8 },
	{ "0-31\n", 260 * 1024 * KIB },
	{ "\n", 260 * 1024 * KIB }, /* unknown */
};

START_TEST(a_cache_that_others_share_is_not_this_machines)
{
	char folder[] = "/tmp/check_geometryXXXXXX", command[64];
	struct data_geometry g = { .entries = { 6, 7, 8 } };

	ck_assert_ptr_nonnull(mkdtemp(folder));
	put(folder, 0, "level", "3\n");
	put(folder, 0, "type", "Unified\n");
	put(folder, 0, "size", "266240K\n");
	put(folder, 0, "shared_cpu_list", sharers[_i].cpus);
	geometry_read(folder, &g);
	ck_assert(g.entries[DATA_L3] == sharers[_i].l3);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	ck_assert_int_eq(system(command), 0);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("geometry");
	TCase *t = tcase_create("geometry");

	tcase_add_loop_test(t, each_family_has_its_caches, 0, NR(families));
	tcase_add_test(t, caches_are_read_as_sysfs_has_them);
	tcase_add_loop_test(t, a_cache_that_others_share_is_not_this_machines, 0,
			    NR(sharers));
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
