# SPDX-License-Identifier: GPL-2.0-or-later
dist_man_MANS += man/cpid.8
dist_man_MANS += man/cpi-db.5
