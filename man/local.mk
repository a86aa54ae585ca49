# SPDX-License-Identifier: GPL-2.0-or-later
dist_man_MANS += man/cpid.8 man/cpi-capture.8 man/cpi-containers.8 man/cpi-ship.8 man/cpi-translate.8 man/cpi-unwind.8 man/cpi-web.8
dist_man_MANS += man/cpi-kmod.4
dist_man_MANS += man/cpi-db.5 man/cpi.1

# A page of a command has its options from the command itself: see man/page.awk.
COMMAND_PAGES = \
	man/cpi-calc.1 man/cpi-callees.1 man/cpi-callers.1 man/cpi-cat.1 \
	man/cpi-cfg.1 man/cpi-config.1 man/cpi-diff.1 man/cpi-doctor.1 man/cpi-epoch.1 man/cpi-export.1 man/cpi-flame.1 \
	man/cpi-fleet.1 man/cpi-flush.1 man/cpi-help.1 man/cpi-hot.1 man/cpi-import.1 man/cpi-label.1 \
	man/cpi-list.1 man/cpi-mark.1 man/cpi-pairs.1 man/cpi-paths.1 man/cpi-prof.1 man/cpi-rate.1 \
	man/cpi-record.1 man/cpi-records.1 man/cpi-register.1 man/cpi-stalls.1 \
	man/cpi-stats.1 man/cpi-status.1 man/cpi-sum.1 man/cpi-tip.1 man/cpi-top.1 \
	man/cpi-tree.1 man/cpi-values.1 man/cpi-web.1
EXTRA_DIST += $(COMMAND_PAGES:=.in) man/options man/page.awk
if !CROSS
man_MANS = $(COMMAND_PAGES)
endif
CLEANFILES += $(COMMAND_PAGES)
SUFFIXES = .1.in .1
$(COMMAND_PAGES): tools/cpi man/options man/page.awk
.1.in.1:
	$(AM_V_GEN)$(MKDIR_P) man && command=$(@F:cpi-%.1=%) && \
	$(EMULATOR) tools/cpi $$command --help | \
		$(AWK) -v options='$(srcdir)/man/options' -f '$(srcdir)/man/page.awk' - \
			$< >$@.tmp && mv $@.tmp $@
