# SPDX-License-Identifier: GPL-2.0-or-later
tools_libtools_a_SOURCES += \
	tools/doctor/doctor.c tools/doctor/doctor.h tools/doctor/doctor_data.c \
	tools/doctor/doctor_here.c tools/doctor/doctor_kernel.c tools/doctor/doctor_limits.c tools/doctor/doctor_ship.c \
	tools/doctor/doctor_web.c
EXTRA_DIST += tools/doctor/README.md
