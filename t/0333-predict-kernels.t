#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Expected mispredictions of known branches, beside those of a published predictor that
# follows every instruction. The margins are wide; t/accuracy/predict has larger programs.
. "$srcdir/t/tap.sh"
need valgrind
kernels=$builddir/t/accuracy/branch_kernels
measure=$builddir/t/accuracy/predict_measure
[ "$(uname -m)" = x86_64 ] || skip_all 'predict_measure decodes x86-64 only'
if grep -q __asan_init "$kernels"; then
	skip_all 'valgrind does not run a program with sanitizers'
fi
plan 5

timeout 300 "$measure" trace 4000000 800 trace.txt "$kernels" all 12000 >traced.txt
sed 's/^/# /' traced.txt
bound "$(awk '{ print $3 }' traced.txt)" '>=' 200 'a trace has windows'
"$measure" estimate 800 trace.txt >estimate.csv
"$measure" estimate 800 trace.txt | cmp -s - estimate.csv
ok $? 'the same windows give the same estimate'

# Of branches that ran 1000 times or more: true, low, likely and high share.
awk -F, 'NR > 1 && $4 >= 1000 { print $6 / $4, $9, $10, $11 }' estimate.csv >branches.txt
bound "$(awk '$1 >= $2 && $1 <= $4 { n++ } END { print int(100 * n / NR) }' branches.txt)" '>=' 75 \
	'most intervals hold the truth'
is "$(awk '$1 > 0.4 { all++; found += $3 > 0.15 && $4 > 0.35 } END { print (all >= 3 && found == all) }' \
	branches.txt)" 1 'branches at random are expected to be mispredicted'
is "$(awk '$1 < 0.002 && $4 > 0.05' branches.txt)" '' 'branches that are predicted are known to be'
