/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hwevent.c - events of instruction-sampling hardware
 *
 * A table has the PMUs that sample instructions, with their default terms and what they
 * need.
 */
#include "config.h"

#include "daemon/collect/hwevent.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "daemon/collect/pmu.h"
#include "daemon/os/arch.h"
#include "daemon/os/perfev.h"

#define IBS_PERIOD_STEP 16 /* the lowest four bits of the counter cannot be set */
#define IBS_PERIOD_MIN  0x90
#define SPE_PERIOD_MIN  256 /* the smallest minimum of known hardware */

/* Ops, fetches or cycles per second of a busy CPU if its clock rate is not known. */
#define PER_SECOND 1000000000ULL

static const struct recorder {
	const char *pmu;
	enum event_record record;
	const char *terms; /* default terms */
	const char *where;
} recorders[] = {
	{ "ibs_op", EVENT_RECORDS_IBS_OP, "",
	  "an AMD processor with instruction-based sampling, and in a virtual machine "
	  "a host that hands it on" },
	{ "ibs_fetch", EVENT_RECORDS_IBS_FETCH, "rand_en=1",
	  "an AMD processor with instruction-based sampling, and in a virtual machine "
	  "a host that hands it on" },
	{ "arm_spe", EVENT_RECORDS_SPE, "ts_enable=1,jitter=1",
	  "an Arm processor with the Statistical Profiling Extension, whose firmware "
	  "describes it, and a kernel with CONFIG_ARM_SPE_PMU" },
};

#define NR_RECORDERS (sizeof(recorders) / sizeof(recorders[0]))

/* Finds a recorder by its name, which a number may follow, as in "arm_spe_0". */
static const struct recorder *find_recorder(const char *name)
{
	for (size_t i = 0; i < NR_RECORDERS; i++) {
		size_t length = strlen(recorders[i].pmu);

		if (!strncmp(name, recorders[i].pmu, length) &&
		    (!name[length] || name[length] == '_'))
			return &recorders[i];
	}
	return NULL;
}

void hwevent_explain(const struct event *e, struct buf *out)
{
	for (size_t i = 0; i < NR_RECORDERS; i++) {
		if (recorders[i].record == e->record)
			buf_printf(out, "it takes %s", recorders[i].where);
	}
	if (e->record == EVENT_RECORDS_PEBS)
		buf_puts(out,
			 "precise samples take PEBS of an Intel processor, or cycles "
			 "on an AMD one: without \":p\" it may be there");
}

static bool is_ibs(const struct event *e)
{
	return e->record == EVENT_RECORDS_IBS_OP ||
	       e->record == EVENT_RECORDS_IBS_FETCH;
}

uint64_t hwevent_sample_type(const struct event *e)
{
	const uint64_t branches = e->branches ? PERF_SAMPLE_BRANCH_STACK : 0;

	if (e->record == EVENT_RECORDS_PEBS)
		return PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | e->weight_type |
		       branches;
	return is_ibs(e) ? PERF_SAMPLE_RAW : branches;
}

/* Sets the members that are the same for both kinds of IBS. */
static void complete_ibs(const struct pmu *pmu, struct event *e)
{
	uint64_t filter[PMU_CONFIGS] = { 0 };

	e->period_step = IBS_PERIOD_STEP;
	e->period_min = IBS_PERIOD_MIN;
	if (arch_native.cpu_model)
		arch_native.cpu_model(&e->ibs.family, &e->ibs.model);
	if (!pmu_set_term(pmu, "swfilt", 1, filter))
		e->filter_config2 = filter[2];
}

static void complete(const struct recorder *r, const struct pmu *pmu, uint64_t clock_hz,
		     struct event *e)
{
	e->record = r->record;
	e->landing = LANDING_PRECISE;
	e->per_second = clock_hz ? clock_hz : PER_SECOND;
	if (r->record == EVENT_RECORDS_SPE)
		e->period_min = pmu_cap(pmu, "min_interval", SPE_PERIOD_MIN);
	else
		complete_ibs(pmu, e);
}

/* Splits "PMU/TERMS/" or "PMU" into two strings. Returns 0 or -EINVAL (logged). */
static int split(const char *name, char pmu[EVENT_NAME_SIZE],
		 char terms[EVENT_NAME_SIZE])
{
	const char *slash = strchr(name, '/');
	const size_t length = slash ? strlen(slash + 1) : 0;

	snprintf(pmu, EVENT_NAME_SIZE, "%.*s",
		 (int)(slash ? (size_t)(slash - name) : strlen(name)), name);
	terms[0] = '\0';
	if (!slash)
		return 0;
	if (!length || slash[length] != '/') {
		log_err("event: %s: a PMU's terms end with a slash, as in "
			"ibs_op/cnt_ctl=1/",
			name);
		return -EINVAL;
	}
	snprintf(terms, EVENT_NAME_SIZE, "%.*s", (int)length - 1, slash + 1);
	return 0;
}

static int fail(const char *name, const char *what)
{
	log_err("event: %s: %s: see below %s/bus/event_source/devices", name, what,
		PMU_SYSFS);
	return -EINVAL;
}

static int fail_terms(const char *name, int err)
{
	if (err == -ENOENT)
		return fail(name, "this PMU has no such term or event");
	if (err == -ERANGE)
		return fail(name, "a value has more bits than its term");
	return fail(name, err_str(err));
}

static int fail_missing(const char *name, const struct recorder *r)
{
	log_err("event: %s: this machine does not have it: it needs %s", name,
		r->where);
	return -EINVAL;
}

int hwevent_find(const char *sysfs, const char *name, uint64_t clock_hz,
		 struct event *e)
{
	char pmu_name[EVENT_NAME_SIZE], terms[EVENT_NAME_SIZE];
	uint64_t config[PMU_CONFIGS] = { 0 };
	const struct recorder *r;
	struct pmu pmu;
	int err = split(name, pmu_name, terms);

	if (err)
		return err;
	r = find_recorder(pmu_name);
	if (!r && !strchr(name, '/'))
		return -ENOENT;
	err = pmu_find(sysfs, pmu_name, &pmu);
	if (err)
		return err == -ENOENT && r ? fail_missing(name, r)
					   : fail(name, "there is no such PMU");
	if (r && r->terms[0])
		pmu_set_terms(&pmu, r->terms, config); /* older kernels lack some */
	if (terms[0])
		err = pmu_set_terms(&pmu, terms, config);
	if (err)
		return fail_terms(name, err);
	e->type = pmu.type;
	e->config = config[0];
	e->config1 = config[1];
	e->config2 = config[2];
	e->unit = EVENT_EVENTS;
	if (r)
		complete(r, &pmu, clock_hz, e);
	return 0;
}

/* ---- modifiers ---- */

/*
 * Returns the terms of ibs_op that the kernel uses for precise samples of e, or NULL.
 */
static const char *ibs_terms(const struct event *e)
{
	if ((e->type == PERF_TYPE_HARDWARE && e->config == PERF_COUNT_HW_CPU_CYCLES) ||
	    (e->type == PERF_TYPE_RAW && e->config == 0x76))
		return "cnt_ctl=0";
	if (e->type == PERF_TYPE_RAW && e->config == 0xc1)
		return "cnt_ctl=1"; /* ops */
	return NULL;
}

static int make_ibs(const struct pmu *pmu, uint64_t clock_hz, struct event *e)
{
	const char *terms = ibs_terms(e);
	uint64_t config[PMU_CONFIGS] = { 0 };

	if (!terms) {
		log_err("event: %s: on this processor only cycles and ops (r0c1) have "
			"precise samples",
			e->name);
		return -EINVAL;
	}
	/* Without the term cnt_ctl the hardware can count only cycles. */
	if (pmu_set_terms(pmu, terms, config) && e->type == PERF_TYPE_RAW)
		return fail(e->name, "ops cannot be counted");
	e->type = pmu->type;
	e->config = config[0];
	e->unit = EVENT_EVENTS;
	e->precise = 0;
	complete(&recorders[0], pmu, clock_hz, e);
	return 0;
}

/* Since Linux 5.12 a sample can have three weights. */
static uint64_t find_weight_type(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_WEIGHT_STRUCT,
		.exclude_kernel = 1,
		.disabled = 1,
	};
	int fd = perfev_open(&attr, 0, -1);

	if (fd < 0)
		return fd == -EINVAL ? PERF_SAMPLE_WEIGHT : PERF_SAMPLE_WEIGHT_STRUCT;
	close(fd);
	return PERF_SAMPLE_WEIGHT_STRUCT;
}

static int make_precise(const char *sysfs, uint64_t clock_hz, struct event *e)
{
	struct pmu pmu;

	if (e->type == PERF_TYPE_SOFTWARE || event_is_ticks(e)) {
		log_err("event: %s: a software event has no precise samples: leave "
			"\"p\" out",
			e->name);
		return -EINVAL;
	}
	if (!pmu_find(sysfs, recorders[0].pmu, &pmu))
		return make_ibs(&pmu, clock_hz, e);
	e->record = EVENT_RECORDS_PEBS;
	e->weight_type = find_weight_type();
	e->landing = LANDING_PRECISE;
	return 0;
}

/*
 * Checks that e is an event of a core that records branches. Returns 0 or -EINVAL
 * (logged).
 */
static int check_branches(const char *sysfs, const struct event *e)
{
	static const char *const cores[] = { "cpu", "cpu_core", "armv8_pmuv3" };
	struct pmu pmu;

	if (e->type == PERF_TYPE_SOFTWARE || event_is_ticks(e) || is_ibs(e) ||
	    e->record == EVENT_RECORDS_SPE) {
		log_err("event: %s: only events of the processor's cores, such as "
			"cycles, come with branches: leave \"+branches\" out",
			e->name);
		return -EINVAL;
	}
	for (size_t i = 0; i < sizeof(cores) / sizeof(cores[0]); i++) {
		if (!pmu_find(sysfs, cores[i], &pmu) && pmu_cap(&pmu, "branches", 0))
			return 0;
	}
	log_err("event: %s: this processor does not record branches (LBR), or the host "
		"of "
		"this virtual machine hides that: there is no caps/branches below "
		"%s/bus/event_source/devices/cpu",
		e->name, sysfs);
	return -EINVAL;
}

int hwevent_apply_modifiers(const char *sysfs, uint64_t clock_hz, struct event *e)
{
	bool excludes = e->exclude_user || e->exclude_kernel || e->exclude_hv;
	int err = 0;

	if (e->record)
		e->precise = 0; /* IBS and SPE are always precise */
	else if (e->precise)
		err = make_precise(sysfs, clock_hz, e);
	if (!err && excludes && is_ibs(e) && !e->filter_config2) {
		log_err("event: %s: this kernel samples all modes by IBS: leave the "
			"modifiers out, or run Linux 6.2 or newer",
			e->name);
		err = -EINVAL;
	}
	return !err && e->branches ? check_branches(sysfs, e) : err;
}
