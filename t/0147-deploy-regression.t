#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The example for build servers: a program that became slower is noticed.
. "$srcdir/t/tap.sh"
can_sample || skip_all 'sampling the whole system is not permitted here'
plan 4

mix=$builddir/t/programs/mix
printf '#!/bin/sh\nexec %s 120 bytes=65536\n' "$mix" >old
printf '#!/bin/sh\nexec %s 120 bytes=4194304\n' "$mix" >new
chmod +x old new
RUNS=8 "$srcdir/deploy/ci/regression" ./old ./new >out 2>err
is $? 3 'a slower program is noticed'
like "$(cat err)" 'slower > 3 %: mix_chase +' 'the procedure that became slower is named'
like "$(cat report.xml)" 'name="mix_chase"' 'the report for the build server has it'
"$srcdir/deploy/ci/regression" >out 2>err
is $? 2 'without programs it says how it is used'
