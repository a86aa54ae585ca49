/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * status_parts.c - the names of a status as metrics
 *
 * Each rule maps a name of the status to a metric, with its type, factor and help.
 */
#include "config.h"

#include "daemon/control/status_parts.h"

#define PERCENT 1e-2
#define NS      1e-9
#define SAMPLES "Samples by stream: received = stored + unknown + lost + in memory."

/* clang-format off */
static const struct prometheus_rule daemon_rules[] = {
	{ "up", "up", NULL, NULL, GAUGE, 0, "Whether cpid has answered.", NULL },
	{ "file_unix_s", "file_timestamp_seconds", NULL, NULL, GAUGE, 0, "When cpid wrote this file.", NULL },
	{ "version", "build_info", "version", NULL, INFO, 0, "The version of cpid, as a label.", NULL },
	{ "uptime_s", "uptime_seconds", NULL, NULL, GAUGE, 0, "Time since cpid started.", NULL },
	{ "main_waits_s", "main_waits_seconds", NULL, NULL, GAUGE, 0, "Age of these numbers, where cpid's main thread did not answer.", NULL },
	{ "main_activity_s", "main_activity_seconds", NULL, NULL, GAUGE, 0, "For how long it has done what it does.", NULL },
	{ "cpus", "cpus", NULL, NULL, GAUGE, 0, "CPUs that are sampled.", NULL },
	{ "rate_hz", "rate_hertz", NULL, NULL, GAUGE, 0, "Samples per second and CPU.", NULL },
	{ "rate_fixed", "rate_fixed", NULL, NULL, GAUGE, 0, "Whether the rate was chosen by hand, and the budget does not change it.", NULL },
	{ "rate_changes", "rate_changes_total", NULL, NULL, COUNTER, 0, "How often the rate was changed to keep the budget.", NULL },
	{ "budget_percent", "budget_ratio", NULL, NULL, GAUGE, PERCENT, "What sampling may cost, of a CPU's time.", NULL },
	{ "budget_checks", "budget_checks_total", NULL, NULL, COUNTER, 0, "How often sampling's cost was compared with the budget.", NULL },
	{ "budget_exceeded", "budget_exceeded_total", NULL, NULL, COUNTER, 0, "How many of these checks found it above the budget.", NULL },
	{ "cost_samples_percent", "cost_ratio", "part", "samples", GAUGE, PERCENT, "What sampling costs, of a CPU's time.", NULL },
	{ "cost_daemon_percent", "cost_ratio", "part", "daemon", GAUGE, PERCENT, "What sampling costs, of a CPU's time.", NULL },
	{ "cost_windows_percent", "cost_windows_ratio", NULL, NULL, GAUGE, PERCENT, "The part of this cost that windows take.", NULL },
	{ "windows_rate_hz", "windows_rate_hertz", NULL, NULL, GAUGE, 0, "Windows per second and CPU.", NULL },
	{ "windows_rate_full_hz", "windows_rate_full_hertz", NULL, NULL, GAUGE, 0, "Windows per second and CPU where nothing lowers them.", NULL },
	{ "windows_rate_changes", "windows_rate_changes_total", NULL, NULL, COUNTER, 0, "How often the budget changed the rate of windows.", NULL },
	{ "windows_lowered", "windows_lowered_info", "reason", NULL, INFO, 0, "Why the rate of windows is below the full one, as a label.", NULL },
	{ "interrupt_cost_ns", "sample_cost_seconds", "part", "interrupt", GAUGE, NS, "What a sample costs.", NULL },
	{ "daemon_cost_ns", "sample_cost_seconds", "part", "daemon", GAUGE, NS, "What a sample costs.", NULL },
	{ "period.", "period", "stream", NULL, GAUGE, 0, "Mean period, in the event's own unit.", NULL },
	{ "received.", "samples_total", "stream", NULL, COUNTER, 0, SAMPLES, "outcome=\"received\"" },
	{ "stored.", "samples_total", "stream", NULL, COUNTER, 0, SAMPLES, "outcome=\"stored\"" },
	{ "idle.", "samples_idle_total", "stream", NULL, COUNTER, 0, "Samples that found their CPU idle.", NULL },
	{ "not_delivered.", "samples_not_delivered", "stream", NULL, GAUGE, 0, "Samples that the event's count promised and that never came.", NULL },
	{ "throttled.", "throttled_total", "stream", NULL, COUNTER, 0, "How often the kernel throttled it, as far as it tells.", NULL },
	{ "throttled_s.", "throttled_seconds_total", "stream", NULL, COUNTER, 0, "For how long.", NULL },
	{ "handler_runs.", "handler_runs_total", "stream", NULL, COUNTER, 0, "Runs of the BPF program that the kernel has timed.", NULL },
	{ "handler_ns.", "handler_seconds", "stream", NULL, GAUGE, NS, "What one of them took on average.", NULL },
	{ "unknown.", "samples_unknown_total", "reason", NULL, COUNTER, 0, "Samples whose image is not known.", NULL },
	{ "lost.", "samples_lost_total", "reason", NULL, COUNTER, 0, "Samples that were lost.", NULL },
	{ "pending_samples", "samples_pending", NULL, NULL, GAUGE, 0, "Samples in memory, not stored yet.", NULL },
	{ "outcome_unreadable", "outcome_unreadable_total", NULL, NULL, COUNTER, 0, "Samples on code that could not be read.", NULL },
	{ "mapping_records_lost", "mapping_records_lost_total", NULL, NULL, COUNTER, 0, "Records of mappings that the kernel could not deliver.", NULL },
	{ "announcements", "announcements_total", NULL, NULL, COUNTER, 0, "Datagrams of the loader hook.", NULL },
	{ "stated.", "stated_total", "fate", NULL, COUNTER, 0, "Mappings that programs stated, and that hold.", NULL },
	{ "refused.", "refused_total", "reason", NULL, COUNTER, 0, "Statements of programs that were refused.", NULL },
	{ "processes", "processes", NULL, NULL, GAUGE, 0, "Processes whose mappings are known.", NULL },
	{ "mappings", "mappings", NULL, NULL, GAUGE, 0, "Mappings of these processes.", NULL },
	{ "images", "images", NULL, NULL, GAUGE, 0, "Images that are known.", NULL },
	{ "memory_bytes", "memory_bytes", NULL, NULL, GAUGE, 0, "Memory for counts.", NULL },
	{ "memory_limit_bytes", "memory_limit_bytes", NULL, NULL, GAUGE, 0, "Limit of the memory for counts.", NULL },
	{ "rss_bytes", "resident_memory_bytes", NULL, NULL, GAUGE, 0, "Resident memory of cpid.", NULL },
	{ "cpu_s", "cpu_seconds_total", NULL, NULL, COUNTER, 0, "CPU time of cpid.", NULL },
	{ "wakeups", "wakeups_total", NULL, NULL, COUNTER, 0, "How often cpid has waited for something to do.", NULL },
	{ "flushes", "flush_duration_seconds", NULL, "_count", SUMMARY, 0, "How long flushes to the database took.", NULL },
	{ "flush_sum_s", "flush_duration_seconds", NULL, "_sum", SUMMARY, 0, "How long flushes to the database took.", NULL },
	{ "flush_last_s", "flush_last_duration_seconds", NULL, NULL, GAUGE, 0, "Time that the last flush took.", NULL },
	{ "flush_max_s", "flush_max_duration_seconds", NULL, NULL, GAUGE, 0, "Time that the longest flush took.", NULL },
	{ "last_flush_unix_s", "last_flush_timestamp_seconds", NULL, NULL, GAUGE, 0, "When counts were stored last.", NULL },
	{ "last_gap_unix_s", "last_gap_timestamp_seconds", NULL, NULL, GAUGE, 0, "When cpid last found an interval without samples: at its start after a crash, or at a flush after the clock was set back.", NULL },
	{ "next_flush_s", "next_flush_seconds", NULL, NULL, GAUGE, 0, "Until counts are stored next, at the latest.", NULL },
	{ "store_failing", "store_failing", NULL, NULL, GAUGE, 0, "Whether the last attempt to store counts has failed.", NULL },
	{ "db_bytes", "db_bytes", NULL, NULL, GAUGE, 0, "Size of the database, its write-ahead log included.", NULL },
	{ "db_mended", "db_mended_total", NULL, NULL, COUNTER, 0, "How often the database was found deleted or replaced.", NULL },
	{ "db_lost", "db_lost", NULL, NULL, GAUGE, 0, "Whether what was stored is lost with a database that was deleted.", NULL },
	{ "retain_bytes_limit", "retain_limit_bytes", NULL, NULL, GAUGE, 0, "Limit of the size of the database.", NULL },
	{ "retain_hours_rolled_up", "retain_hours_rolled_up_total", NULL, NULL, COUNTER, 0, "Hours that minutes were rolled up to.", NULL },
	{ "retain_days_rolled_up", "retain_days_rolled_up_total", NULL, NULL, COUNTER, 0, "Days that hours were rolled up to.", NULL },
	{ "retain_epochs_removed", "retain_epochs_removed_total", NULL, NULL, COUNTER, 0, "Epochs that were removed.", NULL },
	{ "retain_slice_max_s", "retain_slice_max_seconds", NULL, NULL, GAUGE, 0, "The longest write transaction of retention.", NULL },
	{ "retain_clock_wait_s", "retain_clock_wait_seconds", NULL, NULL, GAUGE, 0, "Until the clock is believed, which is ahead of what was stored.", NULL },
};

static const struct prometheus_rule database_rules[] = {
	{ "up", "up", NULL, NULL, GAUGE, 0, "Whether the database could be read.", NULL },
	{ "file_bytes", "file_bytes", NULL, NULL, GAUGE, 0, "Size of the database's file.", NULL },
	{ "wal_bytes", "wal_bytes", NULL, NULL, GAUGE, 0, "Size of its write-ahead log.", NULL },
	{ "epoch", "epoch", NULL, NULL, GAUGE, 0, "Number of the newest epoch.", NULL },
	{ "epoch_samples", "epoch_samples", NULL, NULL, GAUGE, 0, "Samples in that epoch.", NULL },
	{ "last_flush_received", "last_flush_received", NULL, NULL, GAUGE, 0, "Samples that were taken up to the last flush, since the one before.", NULL },
	{ "last_flush_stored", "last_flush_stored", NULL, NULL, GAUGE, 0, "Samples that it stored.", NULL },
	{ "last_flush_lost", "last_flush_lost", NULL, NULL, GAUGE, 0, "Samples that were lost since the flush before, at most.", NULL },
	{ "last_flush_unknown", "last_flush_unknown", NULL, NULL, GAUGE, 0, "Samples that were stored without an image, at least.", NULL },
	{ "unknown_", "unknown_samples", "reason", NULL, GAUGE, 0, "Samples of the selected epochs whose image is not known.", NULL },
	{ "lost_", "lost_samples", "reason", NULL, GAUGE, 0, "Samples of the selected epochs that were lost.", NULL },
	{ "gaps", "gaps", NULL, NULL, GAUGE, 0, "Intervals of which everything was lost.", NULL },
};
/* clang-format on */

#define PART(name, rules)                                     \
	{                                                     \
		name, rules, sizeof(rules) / sizeof(rules[0]) \
	}

const struct prometheus_part status_parts[STATUS_NR_PARTS] = {
	[STATUS_DAEMON] = PART("", daemon_rules),
	[STATUS_DATABASE] = PART("database_", database_rules),
};
