/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "service/prometheus.h"

#include <string.h>

#include "daemon/control/status_parts.h"
#include "t/unit/unit.h"

static const struct {
	enum status_part part;
	const char *lines;
	const char *want; /* without HELP */
} texts[] = {
	{ STATUS_DAEMON, "", "" },
	{ STATUS_DAEMON, "cpus 2\n", "# TYPE cpi_cpus gauge\ncpi_cpus 2\n" },
	{ STATUS_DAEMON, "cpus 2", "# TYPE cpi_cpus gauge\ncpi_cpus 2\n" },
	/* base units */
	{ STATUS_DAEMON, "budget_percent 0.5\n",
	  "# TYPE cpi_budget_ratio gauge\ncpi_budget_ratio 0.005\n" },
	{ STATUS_DAEMON, "daemon_cost_ns 1500\ninterrupt_cost_ns 6000\n",
	  "# TYPE cpi_sample_cost_seconds gauge\n"
	  "cpi_sample_cost_seconds{part=\"daemon\"} 1.5e-06\n"
	  "cpi_sample_cost_seconds{part=\"interrupt\"} 6e-06\n" },
	/* counters */
	{ STATUS_DAEMON,
	  "received.b 18446744073709551615\nreceived.a 123456789012345\n",
	  "# TYPE cpi_samples_total counter\n"
	  "cpi_samples_total{stream=\"a\",outcome=\"received\"} 123456789012345\n"
	  "cpi_samples_total{stream=\"b\",outcome=\"received\"} 1.844674407e+19\n" },
	/* two labels: what differs in either is a series of its own */
	{ STATUS_DAEMON, "received.a 5\nstored.a 3\nstored.a 1\n",
	  "# TYPE cpi_samples_total counter\n"
	  "cpi_samples_total{stream=\"a\",outcome=\"received\"} 5\n"
	  "cpi_samples_total{stream=\"a\",outcome=\"stored\"} 4\n" },
	/* text as a label */
	{ STATUS_DAEMON, "version 1.2-\"x\"\n",
	  "# TYPE cpi_build_info gauge\ncpi_build_info{version=\"1.2-\\\"x\\\"\"} "
	  "1\n" },
	{ STATUS_DAEMON, "not_delivered.a -3\n",
	  "# TYPE cpi_samples_not_delivered gauge\n"
	  "cpi_samples_not_delivered{stream=\"a\"} -3\n" },
	/* one family in one place, though another's name is between its lines */
	{ STATUS_DATABASE,
	  "lost_x 1\nlast_flush_lost 2\nlost_y 3\nepoch 4\nepoch_samples 5\n",
	  "# TYPE cpi_database_epoch gauge\ncpi_database_epoch 4\n"
	  "# TYPE cpi_database_epoch_samples gauge\ncpi_database_epoch_samples 5\n"
	  "# TYPE cpi_database_last_flush_lost gauge\ncpi_database_last_flush_lost 2\n"
	  "# TYPE cpi_database_lost_samples gauge\n"
	  "cpi_database_lost_samples{reason=\"x\"} 1\n"
	  "cpi_database_lost_samples{reason=\"y\"} 3\n" },
	{ STATUS_DAEMON, "flush_sum_s 1.5\nflushes 2\n",
	  "# TYPE cpi_flush_duration_seconds summary\n"
	  "cpi_flush_duration_seconds_count 2\ncpi_flush_duration_seconds_sum 1.5\n" },
	/* no series twice */
	{ STATUS_DAEMON, "lost.x 1\nlost.x 2\ncpus 1\ncpus 1\n",
	  "# TYPE cpi_cpus gauge\ncpi_cpus 2\n"
	  "# TYPE cpi_samples_lost_total counter\ncpi_samples_lost_total{reason=\"x\"} "
	  "3\n" },
	/* labels are escaped */
	{ STATUS_DAEMON, "stored.a\"b\\c{} 1\n",
	  "# TYPE cpi_samples_total counter\n"
	  "cpi_samples_total{stream=\"a\\\"b\\\\c{}\",outcome=\"stored\"} 1\n" },
	/* and cannot steer a terminal, nor become the same unnoticed */
	{ STATUS_DAEMON, "lost.\33[31m 1\nlost.\302\23331m 2\nlost.\t31m 4\n",
	  "# TYPE cpi_samples_lost_total counter\n"
	  "cpi_samples_lost_total{reason=\"?31m\"} 6\n"
	  "cpi_samples_lost_total{reason=\"?[31m\"} 1\n" },
	/* what is no number, or not known, is left out */
	{ STATUS_DAEMON,
	  "state sampling\ncpus two\ncpus nan\ncpus inf\ncpus 0x10 1\ncpus\n", "" },
	{ STATUS_DAEMON, "cpus 1 2\ncpus 1e999\ncpus \n\n\n", "" },
	{ STATUS_DAEMON, "received. 1\nreceived 1\ncpusx 1\ncpu 1\n", "" },
};

static void drop_help(char *text)
{
	char *help;

	while ((help = strstr(text, "# HELP "))) {
		char *end = strchr(help, '\n') + 1;

		memmove(help, end, strlen(end) + 1);
	}
}

START_TEST(a_status_becomes_families)
{
	struct prometheus *p = prometheus_new();
	struct buf out = { 0 };
	char *got;

	ck_assert_ptr_nonnull(p);
	prometheus_put(p, &status_parts[texts[_i].part], texts[_i].lines);
	ck_assert_int_eq(prometheus_format(p, &out), 0);
	got = strdup(buf_str(&out));
	drop_help(got);
	ck_assert_str_eq(got, texts[_i].want);
	free(got);
	buf_fini(&out);
	prometheus_free(p);
}
END_TEST

START_TEST(each_family_has_its_help_first)
{
	struct prometheus *p = prometheus_new();
	struct buf out = { 0 };

	prometheus_put(p, &status_parts[STATUS_DAEMON], "lost.b 1\nlost.a 2\n");
	prometheus_put(p, &status_parts[STATUS_DATABASE], "up 1\n");
	ck_assert_int_eq(prometheus_format(p, &out), 0);
	ck_assert_str_eq(buf_str(&out),
			 "# HELP cpi_samples_lost_total Samples that were lost.\n"
			 "# TYPE cpi_samples_lost_total counter\n"
			 "cpi_samples_lost_total{reason=\"a\"} 2\n"
			 "cpi_samples_lost_total{reason=\"b\"} 1\n"
			 "# HELP cpi_database_up Whether the database could be read.\n"
			 "# TYPE cpi_database_up gauge\n"
			 "cpi_database_up 1\n");
	buf_fini(&out);
	prometheus_free(p);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("prometheus");
	TCase *tc = tcase_create("prometheus");

	tcase_add_loop_test(tc, a_status_becomes_families, 0, NR(texts));
	tcase_add_test(tc, each_family_has_its_help_first);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
