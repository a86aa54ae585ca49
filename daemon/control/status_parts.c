/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/control/status_parts.h"

#define PERCENT 1e-2
#define NS      1e-9

/* clang-format off */
static const struct prometheus_rule daemon_rules[] = {
	{ "up", "up", NULL, NULL, GAUGE, 0, "Whether cpid has answered." },
	{ "uptime_s", "uptime_seconds", NULL, NULL, GAUGE, 0, "Time since cpid started." },
	{ "main_waits_s", "main_waits_seconds", NULL, NULL, GAUGE, 0, "Age of these numbers, where cpid's main thread did not answer." },
	{ "main_activity_s", "main_activity_seconds", NULL, NULL, GAUGE, 0, "For how long it has done what it does." },
	{ "cpus", "cpus", NULL, NULL, GAUGE, 0, "CPUs that are sampled." },
	{ "rate_hz", "rate_hertz", NULL, NULL, GAUGE, 0, "Samples per second and CPU." },
	{ "rate_fixed", "rate_fixed", NULL, NULL, GAUGE, 0, "Whether the rate was chosen by hand, and the budget does not change it." },
	{ "rate_changes", "rate_changes_total", NULL, NULL, COUNTER, 0, "How often the rate was changed to keep the budget." },
	{ "budget_percent", "budget_ratio", NULL, NULL, GAUGE, PERCENT, "What sampling may cost, of a CPU's time." },
	{ "budget_checks", "budget_checks_total", NULL, NULL, COUNTER, 0, "How often sampling's cost was compared with the budget." },
	{ "budget_exceeded", "budget_exceeded_total", NULL, NULL, COUNTER, 0, "How many of these checks found it above the budget." },
	{ "cost_samples_percent", "cost_ratio", "part", "samples", GAUGE, PERCENT, "What sampling costs, of a CPU's time." },
	{ "cost_daemon_percent", "cost_ratio", "part", "daemon", GAUGE, PERCENT, "What sampling costs, of a CPU's time." },
	{ "interrupt_cost_ns", "sample_cost_seconds", "part", "interrupt", GAUGE, NS, "What a sample costs." },
	{ "daemon_cost_ns", "sample_cost_seconds", "part", "daemon", GAUGE, NS, "What a sample costs." },
	{ "period.", "period", "event", NULL, GAUGE, 0, "Mean period, in the event's own unit." },
	{ "received.", "received_total", "event", NULL, COUNTER, 0, "Samples that were taken." },
	{ "stored.", "stored_total", "event", NULL, COUNTER, 0, "Samples in the database." },
	{ "idle.", "idle_total", "event", NULL, COUNTER, 0, "Samples that found their CPU idle." },
	{ "not_delivered.", "not_delivered", "event", NULL, GAUGE, 0, "Samples that the event's count promised and that never came." },
	{ "throttled.", "throttled_total", "event", NULL, COUNTER, 0, "How often the kernel throttled it, as far as it tells." },
	{ "throttled_s.", "throttled_seconds_total", "event", NULL, COUNTER, 0, "For how long." },
	{ "handler_runs.", "handler_runs_total", "event", NULL, COUNTER, 0, "Runs of the BPF program that the kernel has timed." },
	{ "handler_ns.", "handler_seconds", "event", NULL, GAUGE, NS, "What one of them took on average." },
	{ "unknown.", "unknown_total", "reason", NULL, COUNTER, 0, "Samples whose image is not known." },
	{ "lost.", "lost_total", "reason", NULL, COUNTER, 0, "Samples that were lost." },
	{ "pending_samples", "pending_samples", NULL, NULL, GAUGE, 0, "Samples in memory, not stored yet." },
	{ "outcome_unreadable", "outcome_unreadable_total", NULL, NULL, COUNTER, 0, "Samples on code that could not be read." },
	{ "mapping_records_lost", "mapping_records_lost_total", NULL, NULL, COUNTER, 0, "Records of mappings that the kernel could not deliver." },
	{ "announcements", "announcements_total", NULL, NULL, COUNTER, 0, "Datagrams of the loader hook." },
	{ "stated.", "stated_total", "fate", NULL, COUNTER, 0, "Mappings that programs stated, and that hold." },
	{ "refused.", "refused_total", "reason", NULL, COUNTER, 0, "Statements of programs that were refused." },
	{ "processes", "processes", NULL, NULL, GAUGE, 0, "Processes whose mappings are known." },
	{ "mappings", "mappings", NULL, NULL, GAUGE, 0, "Mappings of these processes." },
	{ "images", "images", NULL, NULL, GAUGE, 0, "Images that are known." },
	{ "memory_bytes", "memory_bytes", NULL, NULL, GAUGE, 0, "Memory for counts." },
	{ "memory_limit_bytes", "memory_limit_bytes", NULL, NULL, GAUGE, 0, "Limit of the memory for counts." },
	{ "rss_bytes", "resident_memory_bytes", NULL, NULL, GAUGE, 0, "Resident memory of cpid." },
	{ "cpu_s", "cpu_seconds_total", NULL, NULL, COUNTER, 0, "CPU time of cpid." },
	{ "wakeups", "wakeups_total", NULL, NULL, COUNTER, 0, "How often cpid has waited for something to do." },
	{ "flushes", "flush_seconds", NULL, "_count", SUMMARY, 0, "How long flushes to the database took." },
	{ "flush_sum_s", "flush_seconds", NULL, "_sum", SUMMARY, 0, "How long flushes to the database took." },
	{ "flush_last_s", "flush_last_seconds", NULL, NULL, GAUGE, 0, "Time that the last flush took." },
	{ "flush_max_s", "flush_max_seconds", NULL, NULL, GAUGE, 0, "Time that the longest flush took." },
	{ "last_flush_unix_s", "last_flush_timestamp_seconds", NULL, NULL, GAUGE, 0, "When counts were stored last." },
	{ "next_flush_s", "next_flush_seconds", NULL, NULL, GAUGE, 0, "Until counts are stored next, at the latest." },
	{ "db_bytes", "db_bytes", NULL, NULL, GAUGE, 0, "Size of the database, its write-ahead log included." },
	{ "db_mended", "db_mended_total", NULL, NULL, COUNTER, 0, "How often the database was found deleted or replaced." },
	{ "db_lost", "db_lost", NULL, NULL, GAUGE, 0, "Whether what was stored is lost with a database that was deleted." },
	{ "retain_bytes_limit", "retain_limit_bytes", NULL, NULL, GAUGE, 0, "Limit of the size of the database." },
	{ "retain_hours_rolled_up", "retain_hours_rolled_up_total", NULL, NULL, COUNTER, 0, "Hours that minutes were rolled up to." },
	{ "retain_days_rolled_up", "retain_days_rolled_up_total", NULL, NULL, COUNTER, 0, "Days that hours were rolled up to." },
	{ "retain_epochs_removed", "retain_epochs_removed_total", NULL, NULL, COUNTER, 0, "Epochs that were removed." },
	{ "retain_slice_max_s", "retain_slice_max_seconds", NULL, NULL, GAUGE, 0, "The longest write transaction of retention." },
	{ "retain_clock_wait_s", "retain_clock_wait_seconds", NULL, NULL, GAUGE, 0, "Until the clock is believed, which is ahead of what was stored." },
};

static const struct prometheus_rule database_rules[] = {
	{ "up", "up", NULL, NULL, GAUGE, 0, "Whether the database could be read." },
	{ "file_bytes", "file_bytes", NULL, NULL, GAUGE, 0, "Size of the database's file." },
	{ "wal_bytes", "wal_bytes", NULL, NULL, GAUGE, 0, "Size of its write-ahead log." },
	{ "epoch", "epoch", NULL, NULL, GAUGE, 0, "Number of the newest epoch." },
	{ "epoch_samples", "epoch_samples", NULL, NULL, GAUGE, 0, "Samples in that epoch." },
	{ "last_flush_received", "last_flush_received", NULL, NULL, GAUGE, 0, "Samples that were taken up to the last flush, since the one before." },
	{ "last_flush_stored", "last_flush_stored", NULL, NULL, GAUGE, 0, "Samples that it stored." },
	{ "last_flush_lost", "last_flush_lost", NULL, NULL, GAUGE, 0, "Samples that were lost since the flush before, at most." },
	{ "last_flush_unknown", "last_flush_unknown", NULL, NULL, GAUGE, 0, "Samples that were stored without an image, at least." },
	{ "unknown_", "unknown_samples", "reason", NULL, GAUGE, 0, "Samples of the selected epochs whose image is not known." },
	{ "lost_", "lost_samples", "reason", NULL, GAUGE, 0, "Samples of the selected epochs that were lost." },
	{ "gaps", "gaps", NULL, NULL, GAUGE, 0, "Intervals of which everything was lost." },
};
/* clang-format on */

#define PART(name, rules)                                     \
	{                                                     \
		name, rules, sizeof(rules) / sizeof(rules[0]) \
	}

const struct prometheus_part status_parts[STATUS_NR_PARTS] = {
	[STATUS_DAEMON] = PART("daemon", daemon_rules),
	[STATUS_DATABASE] = PART("database", database_rules),
};
