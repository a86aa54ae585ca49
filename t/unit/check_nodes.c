/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/os/nodes.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "t/unit/unit.h"

/* A tree as sysfs has it: folders, and files with a text; below a folder of its own. */
struct tree {
	char root[32];
	char command[64];
};

static void tree_plant(struct tree *t, const char *const *names)
{
	char path[128];

	strcpy(t->root, "/tmp/cpi-nodes-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(t->root));
	for (; *names; names++) {
		const char *text = strchr(*names, '=');
		int len = text ? (int)(text - *names) : (int)strlen(*names), fd;

		snprintf(path, sizeof(path), "%s/%.*s", t->root, len, *names);
		if (!text) {
			ck_assert_int_eq(mkdir(path, 0700), 0);
			continue;
		}
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		ck_assert_int_ge(fd, 0);
		ck_assert_int_eq(file_write(fd, text + 1, strlen(text + 1)), 0);
		close(fd);
	}
}

static void tree_remove(struct tree *t)
{
	snprintf(t->command, sizeof(t->command), "rm -r %s", t->root);
	ck_assert_int_eq(system(t->command), 0);
}

static const struct {
	const char *names[24]; /* in the tree */
	int nr_cpus;
	const char *want; /* each CPU's node and slot, behind the nodes' numbers */
} trees[] = {
	/* nothing there, as without CONFIG_NUMA */
	{ { NULL }, 3, "-1: 0.0 0.1 0.2" },
	{ { "online=0\n", "node0", "node0/cpu0", "node0/cpu1" }, 2, "0: 0.0 0.1" },
	/* CPUs of the nodes take turns */
	{ { "online=0-1\n", "node0", "node0/cpu0", "node0/cpu2", "node1", "node1/cpu1",
	    "node1/cpu3" },
	  4,
	  "0 1: 0.0 1.0 0.1 1.1" },
	/* memory without CPUs, and a node that is offline */
	{ { "online=1,4-5\n", "node1", "node4", "node4/cpu1", "node5", "node5/cpu0",
	    "node6", "node6/cpu2" },
	  3,
	  "4 5: 1.0 0.0 0.1" },
	/* a CPU that is not there yet is the first node's */
	{ { "online=0,2\n", "node0", "node0/cpu0", "node2", "node2/cpu1" },
	  4,
	  "0 2: 0.0 1.0 0.1 0.2" },
	/* other names, CPUs beyond those that there may be, and one of two nodes */
	{ { "online=0-1\n", "node0", "node0/cpu0", "node0/cpulist=0\n",
	    "node0/cpumap=1\n", "node0/cpu", "node0/cpu-1", "node0/cpu1x", "node0/cpu7",
	    "node0/cpu99999999999999999999", "node1", "node1/cpu0", "node1/cpu1" },
	  2,
	  "0 1: 0.0 1.0" },
	/* nonsense is no node */
	{ { "online=0-\n", "node0", "node0/cpu0" }, 1, "-1: 0.0" },
	{ { "online=\n", "node0", "node0/cpu0" }, 1, "-1: 0.0" },
	{ { "online=4095\n" }, 1, "-1: 0.0" },
	{ { "online=0\n", "node0=a file\n" }, 1, "-1: 0.0" },
	{ { "online" }, 1, "-1: 0.0" },
};

static const char *show(const struct nodes *nodes, int nr_cpus, struct buf *out)
{
	for (int i = 0; i < nodes->nr; i++)
		buf_printf(out, "%s%d", i ? " " : "", nodes->id[i]);
	buf_putc(out, ':');
	for (int i = 0; i < nr_cpus; i++)
		buf_printf(out, " %u.%u", nodes->cpu[i].node, nodes->cpu[i].slot);
	return buf_str(out);
}

START_TEST(each_cpu_has_a_node_and_a_slot_there)
{
	struct buf got = { 0 };
	struct nodes nodes;
	struct tree tree;

	tree_plant(&tree, trees[_i].names);
	nodes_read(tree.root, trees[_i].nr_cpus, &nodes);
	ck_assert_str_eq(show(&nodes, trees[_i].nr_cpus, &got), trees[_i].want);
	buf_fini(&got);
	tree_remove(&tree);
}
END_TEST

/* What everything rests on: slots of a node are 0 ... nr_cpus - 1, once each. */
static void check_slots(const struct nodes *nodes, int nr_cpus)
{
	bool *taken = calloc((size_t)nodes->nr * nr_cpus, sizeof(*taken));
	int nr = 0;

	ck_assert_ptr_nonnull(taken);
	for (int i = 0; i < nr_cpus; i++) {
		int node = nodes->cpu[i].node, slot = nodes->cpu[i].slot;

		ck_assert_int_lt(node, nodes->nr);
		ck_assert_int_lt(slot, nodes->nr_cpus[node]);
		ck_assert(!taken[node * nr_cpus + slot]);
		taken[node * nr_cpus + slot] = true;
	}
	for (int i = 0; i < nodes->nr; i++)
		nr += nodes->nr_cpus[i];
	ck_assert_int_eq(nr, nr_cpus);
	free(taken);
}

START_TEST(more_nodes_than_there_is_room_for_share_the_first)
{
	const char *names[2 * (NODES_MAX + 8) + 2] = { "online=0-71\n" };
	char text[2 * (NODES_MAX + 8)][32];
	struct nodes nodes;
	struct tree tree;

	for (int i = 0; i < NODES_MAX + 8; i++) {
		snprintf(text[2 * i], sizeof(text[0]), "node%d", i);
		snprintf(text[2 * i + 1], sizeof(text[0]), "node%d/cpu%d", i, i);
		names[2 * i + 1] = text[2 * i];
		names[2 * i + 2] = text[2 * i + 1];
	}
	tree_plant(&tree, names);
	nodes_read(tree.root, NODES_MAX + 8, &nodes);
	ck_assert_int_eq(nodes.nr, NODES_MAX);
	ck_assert_int_eq(nodes.nr_cpus[0], 9);
	check_slots(&nodes, NODES_MAX + 8);
	tree_remove(&tree);
}
END_TEST

START_TEST(this_machine_has_a_slot_for_each_cpu)
{
	struct nodes nodes;
	struct cpus cpus;

	ck_assert_int_eq(cpus_online(&cpus), 0);
	nodes_read(NODES_DIR, cpus.highest + 1, &nodes);
	check_slots(&nodes, cpus.highest + 1);
	nodes_read(NODES_DIR, CPUS_MAX, &nodes);
	check_slots(&nodes, CPUS_MAX);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("nodes");
	TCase *tc = tcase_create("nodes");

	tcase_add_loop_test(tc, each_cpu_has_a_node_and_a_slot_there, 0, NR(trees));
	tcase_add_test(tc, more_nodes_than_there_is_room_for_share_the_first);
	tcase_add_test(tc, this_machine_has_a_slot_for_each_cpu);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
