/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor_web.c - does cpi-web use its newest certificate?
 */
#include "config.h"

#include "tools/doctor/doctor.h"

/* In the unit's RuntimeDirectory=; web/refusal.h */
#define REFUSED "/run/cpi-web/certificate-refused"

void doctor_check_web(struct doctor *d)
{
	if (doctor_exists(d, REFUSED))
		doctor_add(d, "certificate", DOCTOR_PROBLEM,
			   "cpi-web cannot use its new certificate",
			   "The former one stays in use. Browsers refuse it after its "
			   "last day.",
			   doctor_by_systemd(d, "journalctl -u cpi-web -n 20",
					     "read the messages of cpi-web"));
	else
		doctor_ok(d, "certificate", "cpi-web has refused none");
}
