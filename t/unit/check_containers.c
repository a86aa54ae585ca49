/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of containers in what runtimes say. */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "helpers/containers.h"
#include "t/unit/unit.h"
#ifdef HAVE_PROTOBUF_C
#include "helpers/cri.pb-c.h"
#endif

#define ID_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ID_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static int put_row(void *ctx, const struct container_row *row)
{
	buf_printf(ctx, "%.2s %s\n", row->id, row->name);
	return 0;
}

static int count_row(void *ctx, const struct container_row *row)
{
	int *nr = ctx;

	return ++*nr == 3 ? -ECANCELED : 0;
}

/* Reads an answer; returns the rows, to be freed. */
static char *read_rows(enum containers_kind kind, const struct containers_answer *a,
		       int want)
{
	struct buf out = { 0 };
	sqlite3 *json;

	ck_assert_int_eq(sqlite3_open(":memory:", &json), SQLITE_OK);
	ck_assert_int_eq(containers_read(kind, a, json, put_row, &out), want);
	sqlite3_close(json);
	buf_str(&out);
	return out.data;
}

static const struct {
	enum containers_kind kind;
	const char *json, *want;
	int err;
} texts[] = {
	{ CONTAINERS_STORAGE, "[]", "", 0 },
	{ CONTAINERS_STORAGE,
	  "[{\"id\":\"" ID_A "\",\"names\":[\"web\",\"x\"],\"layer\":\"y\"},"
	  "{\"id\":\"" ID_B "\",\"names\":[]}]",
	  "aa web\n", 0 },
	{ CONTAINERS_STORAGE, "[{\"id\":\"" ID_A "\",\"names\":[\"a\\u001bb\"]}]", "",
	  0 },
	{ CONTAINERS_STORAGE, "[{\"id\":\"" ID_A "\",\"names\":[\"a/b\"]}]", "", 0 },
	{ CONTAINERS_STORAGE, "[{\"id\":\"" ID_A "0\",\"names\":[\"a\"]}]", "", 0 },
	{ CONTAINERS_STORAGE, "[{\"id\":7,\"names\":[\"a\"]}]", "", 0 },
	{ CONTAINERS_STORAGE, "[{\"id\":\"" ID_A "\",\"names\":{\"0\":\"a\"}}]", "",
	  0 },
	{ CONTAINERS_STORAGE, "[7, null, \"x\"]", NULL, -EBADMSG },
	{ CONTAINERS_STORAGE, "[", NULL, -EBADMSG },
	{ CONTAINERS_STORAGE, "", NULL, -EBADMSG },
	{ CONTAINERS_DOCKER,
	  "[{\"Id\":\"" ID_A "\",\"Names\":[\"/web\"],\"Labels\":{\"a.b\":\"c\"}}]",
	  "aa web\n", 0 },
	{ CONTAINERS_DOCKER,
	  "[{\"Id\":\"" ID_A "\",\"Names\":[\"/other/alias\",\"/web\"]}]", "aa web\n",
	  0 },
	{ CONTAINERS_DOCKER,
	  "[{\"Id\":\"" ID_A "\",\"Names\":[\"/k8s_cart_cart-0_shop_0_0\"],\"Labels\":{"
	  "\"io.kubernetes.container.name\":\"cart\",\"io.kubernetes.pod.name\":\"cart-"
	  "0\","
	  "\"io.kubernetes.pod.namespace\":\"shop\"}}]",
	  "aa shop/cart-0/cart\n", 0 },
	{ CONTAINERS_DOCKER, "{\"message\":\"no\"}", NULL, -EBADMSG },
};

START_TEST(json_has_names)
{
	struct containers_answer a = { 0 };
	char *rows;

	buf_puts(&a.containers, texts[_i].json);
	rows = read_rows(texts[_i].kind, &a, texts[_i].err);
	if (texts[_i].want)
		ck_assert_str_eq(rows, texts[_i].want);
	free(rows);
	buf_fini(&a.containers);
}
END_TEST

#ifdef HAVE_PROTOBUF_C
static void put_message(struct buf *out, const ProtobufCMessage *m)
{
	uint8_t packed[2048];

	ck_assert_uint_lt(protobuf_c_message_get_packed_size(m), sizeof(packed));
	buf_put(out, packed, protobuf_c_message_pack(m, packed));
}

static void put_pod(struct buf *out, char *id, char *namespace, char *name)
{
	Cri__PodMetadata m = CRI__POD_METADATA__INIT;
	Cri__Pod pod = CRI__POD__INIT, *items = &pod;
	Cri__Pods list = CRI__PODS__INIT;

	m.namespace_ = namespace;
	m.name = name;
	pod.id = id;
	pod.metadata = &m;
	list.n_items = 1;
	list.items = &items;
	put_message(out, &list.base);
}

static void put_container(struct buf *out, char *id, char *pod, char *name)
{
	Cri__ContainerMetadata m = CRI__CONTAINER_METADATA__INIT;
	Cri__Container c = CRI__CONTAINER__INIT, *items = &c;
	Cri__Containers list = CRI__CONTAINERS__INIT;

	m.name = name;
	c.id = id;
	c.pod_id = pod;
	c.metadata = &m;
	list.n_items = 1;
	list.items = &items;
	put_message(out, &list.base);
}

static char too_long[500];

static struct {
	char *namespace, *pod, *pod_id, *id, *name;
	const char *want;
} pods[] = {
	{ "shop", "cart-0", ID_B, ID_A, "cart",
	  "aa shop/cart-0/cart\nbb shop/cart-0/[pod]\n" },
	{ "shop", "cart-0", "another", ID_A, "cart", "aa cart\n" },
	{ "shop", "cart-0", ID_B, ID_A, "", "bb shop/cart-0/[pod]\n" },
	{ "", "cart-0", ID_B, ID_A, "cart", "aa cart\n" },
	{ "shop", "a/b", ID_B, ID_A, "cart", "aa cart\n" },
	{ "shop", "two\nlines", ID_B, ID_A, "\x1b[31m", "" },
	{ "shop", "cart-0", ID_B, "short", "cart", "bb shop/cart-0/[pod]\n" },
	{ "shop", "cart-0", ID_B, ID_A, too_long, "bb shop/cart-0/[pod]\n" },
	{ "shop", too_long, ID_B, ID_A, "cart", "" },
};

START_TEST(pods_have_names)
{
	struct containers_answer a = { 0 };
	char *rows;

	memset(too_long, 'x', sizeof(too_long) - 1);
	put_pod(&a.pods, pods[_i].pod_id, pods[_i].namespace, pods[_i].pod);
	put_container(&a.containers, pods[_i].id, ID_B, pods[_i].name);
	rows = read_rows(CONTAINERS_CRI, &a, 0);
	ck_assert_str_eq(rows, pods[_i].want);
	free(rows);
	a.containers.len--;
	free(read_rows(CONTAINERS_CRI, &a, -EBADMSG));
	a.containers.len++;
	a.pods.len--;
	free(read_rows(CONTAINERS_CRI, &a, -EBADMSG));
	buf_fini(&a.containers);
	buf_fini(&a.pods);
}
END_TEST

START_TEST(there_is_a_limit_and_an_error_ends_the_reading)
{
	struct containers_answer a = { 0 };
	char id[65], *rows;
	size_t lines = 0;
	int nr = 0;

	for (int i = 0; i < CONTAINERS_MAX + 10; i++) {
		snprintf(id, sizeof(id), "%064d", i);
		put_container(&a.containers, id, "", "x");
	}
	rows = read_rows(CONTAINERS_CRI, &a, 0);
	for (const char *p = rows; *p; p++)
		lines += *p == '\n';
	ck_assert_uint_eq(lines, CONTAINERS_MAX);
	free(rows);
	ck_assert_int_eq(containers_read(CONTAINERS_CRI, &a, NULL, count_row, &nr),
			 -ECANCELED);
	ck_assert_int_eq(nr, 3);
	buf_fini(&a.containers);
}
END_TEST
#endif

static Suite *make_suite(void)
{
	Suite *s = suite_create("containers");
	TCase *tc = tcase_create("containers");

	tcase_add_loop_test(tc, json_has_names, 0, NR(texts));
#ifdef HAVE_PROTOBUF_C
	tcase_add_loop_test(tc, pods_have_names, 0, NR(pods));
	tcase_add_test(tc, there_is_a_limit_and_an_error_ends_the_reading);
#endif
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
