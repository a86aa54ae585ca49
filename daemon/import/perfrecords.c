/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfrecords.c - reads the hardware's records of the samples of a recording
 *
 * IBS has its record in the sample's raw data. Other precise samples have it in the
 * fields of the sample. SPE's records are in the AUX area (perfaux.c).
 */
#include "config.h"

#include "daemon/import/perfrecords.h"

#include <stdio.h>
#include <string.h>

#include "decode/ibs.h"
#include "decode/perffields.h"

#define FIELDS (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC)

static bool find_ibs(const struct perfdata *pd, int event, enum ibs_kind *kind)
{
	const char *pmu = perfdata_pmu_name(pd, event);

	*kind = !strcmp(pmu, "ibs_fetch") ? IBS_FETCH : IBS_OP;
	return *kind == IBS_FETCH || !strcmp(pmu, "ibs_op");
}

bool perfrecords_is_ibs(const struct perfdata *pd, int event)
{
	enum ibs_kind kind;

	return find_ibs(pd, event, &kind);
}

static bool read_ibs(const struct perfdata *pd, enum ibs_kind kind,
		     const struct perf_sample *s, struct hw_record *out)
{
	const char *cpuid = perfdata_info(pd)->cpuid;
	struct ibs_machine machine = { 0 };

	if (cpuid &&
	    sscanf(cpuid, "AuthenticAMD,%u,%u", &machine.family, &machine.model) != 2)
		machine.family = machine.model = 0;
	return s->raw && !ibs_read_record(kind, s->raw, s->raw_size, &machine, out);
}

bool perfrecords_read(const struct perfdata *pd, const struct perf_record *r,
		      struct hw_record *out)
{
	const struct perfdata_event *e = &perfdata_info(pd)->event[r->event];
	const struct perf_sample *s = &r->sample;
	const struct perf_fields fields = {
		.has = e->sample_type,
		.ip = s->ip,
		.addr = s->addr,
		.phys_addr = s->phys_addr,
		.weight = s->weight,
		.data_src = s->data_source,
		.exact_ip = r->misc & PERF_RECORD_MISC_EXACT_IP,
	};
	enum ibs_kind kind;

	if (find_ibs(pd, r->event, &kind))
		return read_ibs(pd, kind, s, out);
	if (!fields.exact_ip || !(e->sample_type & FIELDS))
		return false;
	perf_fields_record(&fields, out);
	return true;
}
