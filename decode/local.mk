# SPDX-License-Identifier: GPL-2.0-or-later
analysis_libanalysis_a_SOURCES += \
	decode/data_src_fields.h decode/elfid.c decode/elfid.h decode/hwrecord.h \
	decode/ibs.c decode/ibs.h decode/ibs_fields.h decode/perffields.c \
	decode/perffields.h decode/rates.c decode/rates.h decode/spe.c decode/spe.h \
	decode/spe_bits.h decode/spe_record.c
EXTRA_DIST += decode/README.md
