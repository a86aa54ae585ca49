/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_doctor.c - can this machine be profiled well, and what would help?
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "daemon/collect/calibrate.h"
#include "db/core/db.h"
#include "report/select/client.h"
#include "tools/commands.h"
#include "tools/ctl.h"
#include "tools/doctor/doctor.h"
#include "tools/ui/json.h"
#include "tools/ui/out.h"
#include "tools/ui/term.h"
#include "tools/write/status_summary.h"

#define BUDGET      0.005 /* cpid's defaults */
#define LIMIT_BYTES (2ULL << 30)
#define INDENT      25 /* columns in front of texts */
#define TO_DO       "to do:  "
#define LEAST_WIDTH 60
#define WIDTH       80 /* where there is no terminal */
#define MOST_WIDTH  110

struct options {
	struct out_options out;
	const char *db;
	const char *socket;
};

static const char *const verdicts[] = {
	[DOCTOR_OK] = "ok",
	[DOCTOR_NOTE] = "note",
	[DOCTOR_PROBLEM] = "problem",
	[DOCTOR_FATAL] = "fatal",
};

static const char *const colors[] = {
	[DOCTOR_OK] = "",
	[DOCTOR_NOTE] = TERM_BLUE,
	[DOCTOR_PROBLEM] = TERM_YELLOW,
	[DOCTOR_FATAL] = TERM_RED,
};

static const char *how_to_start(const struct doctor *d)
{
	const bool has_unit = doctor_has_unit(d, "cpid.service");

	if (!has_unit && !doctor_exists(d, "/usr/sbin/cpid") &&
	    !doctor_exists(d, "/usr/local/sbin/cpid"))
		return "install the package cpid";
	return has_unit && doctor_has_systemd(d) ? "systemctl enable --now cpid"
						 : "as root: cpid &";
}

/* Takes the options of a running cpid from its status. */
static void take_option(void *ctx, const char *name, const char *value)
{
	struct doctor *d = ctx;
	const double number = strtod(value, NULL);

	if (!strcmp(name, "budget_percent") && number > 0)
		d->budget = number / 100;
	else if (!strcmp(name, "retain_bytes_limit") && number >= 1 && number < 0x1p63)
		d->limit_bytes = (uint64_t)number;
}

/* err and reply are client_call()'s. */
static void check_daemon(struct doctor *d, int err, const struct buf *reply)
{
	struct buf advice = { 0 };

	if (!err && status_summary_advise(reply->data, CALIBRATE_MIN_HZ, &advice))
		doctor_add(d, "cpid", DOCTOR_PROBLEM, "it costs more than its budget",
			   "'cpi status' shows the cost and its parts.",
			   buf_str(&advice));
	else if (!err)
		doctor_ok(d, "cpid", "it runs; 'cpi status' tells how it is");
	else if (client_is_absent(err))
		doctor_add(d, "cpid", DOCTOR_NOTE, "no cpid runs",
			   "Nothing is sampled. 'cpi record COMMAND' needs no cpid.",
			   how_to_start(d));
	else if (err == -EACCES || err == -EPERM)
		doctor_add(d, "cpid", DOCTOR_NOTE, "this user may not ask it",
			   "Whether it runs, and within its budget, is not known.",
			   geteuid() ? "run 'cpi doctor' as root"
				     : doctor_gain_rights());
	else
		doctor_add(d, "cpid", DOCTOR_PROBLEM, "it does not answer",
			   "It may hang.", "run 'cpi status' as root");
	buf_fini(&advice);
}

static size_t count(const struct doctor *d, enum doctor_verdict verdict)
{
	size_t n = 0;

	for (size_t i = 0; i < d->nr; i++)
		n += d->findings[i].verdict == verdict;
	return n;
}

/* Begins where texts stand, and breaks lines at spaces so that the terminal has room.
 */
static void print_wrapped(const char *text)
{
	size_t width = term_width(), used = 0, len;

	width = width < LEAST_WIDTH ? WIDTH : width;
	width = (width > MOST_WIDTH ? MOST_WIDTH : width) - INDENT;
	for (; *text; text += len + (text[len] == ' ')) {
		len = strcspn(text, " ");
		if (used && used + 1 + len > width) {
			printf("\n%*s", INDENT, "");
			used = 0;
		}
		printf("%s%.*s", used ? " " : "", (int)len, text);
		used += len + (used ? 1 : 0);
	}
	printf("\n");
}

static void print_finding(const struct doctor_finding *f, bool color)
{
	const bool colored = color && *colors[f->verdict];

	printf("%s%-7s%s  %-14s  ", colored ? colors[f->verdict] : "",
	       verdicts[f->verdict], colored ? TERM_RESET : "", f->check);
	print_wrapped(f->what);
	if (f->why) {
		printf("%*s", INDENT, "");
		print_wrapped(f->why);
	}
	if (f->fix) {
		printf("%*s", INDENT, TO_DO);
		print_wrapped(f->fix);
	}
}

static void print_summary(const struct doctor *d)
{
	static const char *const answers[] = {
		[DOCTOR_OK] = "This machine can be profiled well",
		[DOCTOR_NOTE] = "This machine can be profiled well",
		[DOCTOR_PROBLEM] = "This machine can be profiled, but not well",
		[DOCTOR_FATAL] = "This machine cannot be profiled as a whole",
	};
	const size_t problems = count(d, DOCTOR_PROBLEM) + count(d, DOCTOR_FATAL);
	const size_t notes = count(d, DOCTOR_NOTE);

	printf("%s: %zu %s, %zu %s\n\n", answers[doctor_worst(d)], problems,
	       problems == 1 ? "problem" : "problems", notes,
	       notes == 1 ? "note" : "notes");
}

static void print_text(const struct doctor *d, bool color)
{
	print_summary(d);
	for (int v = DOCTOR_FATAL; v > DOCTOR_OK; v--) {
		for (size_t i = 0; i < d->nr; i++) {
			if ((int)d->findings[i].verdict == v)
				print_finding(&d->findings[i], color);
		}
	}
	if (count(d, DOCTOR_OK) < d->nr)
		printf("\n");
	for (size_t i = 0; i < d->nr; i++) {
		if (d->findings[i].verdict == DOCTOR_OK)
			print_finding(&d->findings[i], color);
	}
}

static void print_json(const struct doctor *d)
{
	struct json j = { 0 };

	json_object(&j, NULL);
	json_string(&j, "verdict", verdicts[doctor_worst(d)]);
	json_array(&j, "findings");
	for (size_t i = 0; i < d->nr; i++) {
		const struct doctor_finding *f = &d->findings[i];

		json_object(&j, NULL);
		json_string(&j, "check", f->check);
		json_string(&j, "verdict", verdicts[f->verdict]);
		json_string(&j, "what", f->what);
		json_string(&j, "why", f->why);
		json_string(&j, "fix", f->fix);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}

static int run_doctor(struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	struct utsname system;
	struct doctor d = {
		.root = "",
		.db = o->db ? o->db : db_default_path(),
		.budget = BUDGET,
		.limit_bytes = LIMIT_BYTES,
	};
	struct buf reply = { 0 };
	int err, status = EXIT_FAIL;

	if (uname(&system))
		return cmd_exit_status(ctx->cmd, -errno);
	d.release = system.release;
	err = client_call(o->socket, CPI_CONTROL_STATUS, "", CLIENT_PATIENCE_NS,
			  &reply);
	if (!err)
		client_each_line(buf_str(&reply), take_option, &d);
	doctor_run(&d);
	check_daemon(&d, err, &reply);
	buf_fini(&reply);
	if (d.err) {
		log_err("doctor: out of memory");
	} else {
		if (o->out.format == OUT_JSON)
			print_json(&d);
		else
			print_text(&d, out_use_color(o->out.color));
		status = doctor_worst(&d) >= DOCTOR_PROBLEM ? EXIT_FAIL : EXIT_OK;
	}
	doctor_fini(&d);
	return status;
}

static const struct opt opts[] = {
	OPT("db", 0, "FILE", "the database whose space is looked at", OPT_STRING, db),
	OPT_FORMAT_OF("text|json"),
	OPT_COLOR,
	OPT_SOCKET,
	OPT_END,
};

const struct cmd cmd_doctor = {
	.name = "doctor",
	.args = "",
	.summary = "Can this machine be profiled well, and what would help?",
	.opts = opts,
	.opt_size = sizeof(struct options),
	.run = run_doctor,
};
