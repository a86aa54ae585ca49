#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi sum, stalls and hot on a database whose every count is known (t/mkdb.c).
. "$srcdir/t/tap.sh"
. "$srcdir/t/known.sh"
need_decoder

plan 32

# Everything: 1000 samples that are not idle, 900 of them in known code.
cpi sum --epoch full >text 2>err
is "$?" 0 "cpi sum summarises an epoch"
is "$(cat err)" "" "cpi sum writes no warnings"
is "$(sed -n '/Total tallied/,$p' text)" "$(cat <<'END'
*** Total tallied                           100.0%
*** (900 samples, 90.0% of all 1000)
***   Kernel (not analysed)            60    6.0% of all
***   Outside any procedure             8    0.8% of all
***   Image not available              27    2.7% of all
***   Unknown image                     5    0.5% of all
Lost: 4 samples, ring_lost
END
)" "all samples of the epoch are accounted for"
like "$(cat text)" "^2 procedures with [0-9.]* kB of code" \
	"the text says how much code was analysed"
like "$(cat text)" '^\*\*\* D-cache miss  *[0-9.]*% to  *[0-9.]*%' "each reason has a range"
is "$(awk '/Subtotal|Execution|sampling/ { sub("%", "", $NF); n += $NF }
	END { printf "%.0f\n", n }' text)" 100 "the subtotals add up to 100 %"

total()
{
	cpi sum --format=csv "$@" | awk -F, 'NR > 1 { n += $3 } END { printf "%.1f\n", n }'
}
is "$(total --epoch full)" 1000.0 "the rows of an epoch add up"
is "$(total --epoch full --image target)" 908.0 "the rows of an image add up"
is "$(total --epoch full --image '[kernel]')" 60.0 "the rows of the kernel add up"
is "$(total --epoch full target_hot)" 600.0 "the rows of a procedure add up"
# A sample of the other epochs stands for two of this one's.
is "$(total --epoch all)" 1400.0 "streams with different periods are added as time"
is "$(cpi sum --epoch full --format=csv | sed -n 's/^not_tallied,deferred,\([0-9]*\).*/\1/p')" \
	60 "the kernel's samples are deferred"
cpi sum --epoch full --event page-faults >text 2>err
is "$?" 1 "cpi sum fails if the event measures no time"

# The worst places.
cpi hot --epoch full --format=csv >hot.csv
is "$(head -n 1 hot.csv)" "samples,blamed_samples,percent,cpi,frequency,cpi_low,cpi_high,frequency_low,frequency_high,address,offset,\
procedure,text,image,build_id,file,line,faster_than_best" "cpi hot: the column titles of CSV"
is "$(sed 1d hot.csv | awk -F, '{ n += $2 } END { print n }')" 995 \
	"the hottest instructions have all samples of known images"
like "$(sed -n 2p hot.csv)" "^560\.000,[56].*,target_hot," "the hottest instruction comes first"
like "$(cat hot.csv)" "^50\.000,50\.000,5\.00,,,,,,,0x1010,0x1010,do_syscall_64,,.*,0$" \
	"an instruction without code is listed by its offset"
is "$(cpi hot --epoch full --limit 2 --format=csv | sed 1d | wc -l | tr -d ' ')" 2 \
	"--limit 2 prints two instructions"
is "$(cpi hot --epoch full --image target --format=csv |
	awk -F, 'NR > 1 { n += $2; p += $3 } END { printf "%.0f %.0f\n", n, p }')" "908 100" \
	"shares are shares of the selected image"
like "$(cpi hot --epoch full)" "^ *560  *[0-9]*  *[0-9.]*%.* target_hot " "cpi hot prints text"

cpi stalls --epoch full --format=csv >stalls.csv
is "$(head -n 1 stalls.csv)" "samples,percent,cycles,frequency,cycles_low,cycles_high,frequency_low,frequency_high,kind,reasons,\
culprit_addresses,address,offset,procedure,text,image,build_id,file,line,faster_than_best" \
	"cpi stalls: the column titles of CSV"
like "$(sed -n 2p stalls.csv)" "^[0-9]*\.[0-9]*,[0-9.]*,.*,dynamic,[a-z ]*,.*target_hot" \
	"the worst stall comes first"
is "$(awk -F, 'NR > 2 && $1 > last { print } { last = $1 }' stalls.csv)" "" "stalls are in order"
like "$(cpi stalls --epoch full)" "^ *stalled  *%  *cycles  reason  *culprit" "cpi stalls prints text"

if ! command -v python3 >/dev/null; then
	skip 3 "no python3 to read JSON with"
	exit 0
fi
cat >sum.py <<'END'
import json, sys
r = json.load(sys.stdin)
assert list(r) == ["epochs", "marks", "streams", "procedure", "image", "summary",
                   "cycle_stack", "losses"], list(r)
s = r["summary"]
whole = (sum(x["samples"] for x in s["dynamic"].values()) +
         sum(x["samples"] for x in s["static"].values()) + s["execution"] + s["error"])
for x in [*s["dynamic"].values(), *s["static"].values()]:
    assert x["least"] <= x["most"] + 1e-3, x
print(round(whole, 1), s["tallied"], s["samples"], s["procedures"],
      round(whole + sum(s["not_tallied"].values()), 1))
END
is "$(cpi sum --epoch full --format=json | python3 sum.py)" "900.0 900.0 1000.0 2 1000.0" \
	"cpi sum: the parts in JSON add up"
for c in hot stalls; do
	key=$([ $c = hot ] && echo instructions || echo stalls)
	is "$(cpi $c --epoch full --format=json | python3 -c "
import json, sys
r = json.load(sys.stdin)
print(','.join(r['$key'][0]), len(r['$key']))")" \
		"$(head -n 1 $c.csv) $(grep -c '^[0-9]' $c.csv)" \
			"cpi $c: JSON has the columns and rows of CSV"
done

# Few samples: 30 in target_hot and 15 in target_cold, of 53; then 60 in the first, of 102.
few()
{
	rm -f few.db
	MKDB_DIVIDE=$1 "$builddir/t/mkdb" few.db "$target" || echo "mkdb fails"
	shift
	cpi sum --db few.db --epoch full "$@" 2>/dev/null
}
is "$(few 20 | sed -n '/^$/,$p' | head -n 2)" "
Too few samples (53) to tell reasons: about 90 needed" "no table is made of too few samples"
unlike "$(few 20)" '0 procedures' "an empty table has no line on procedures"
is "$(few 20 --format=json | tr -d ' ' | grep -c '"samples_needed":90,')" 1 "JSON says how many are needed"
like "$(few 10)" '^[*]*   Few samples  *30  *29.4% of all$' "procedures with few samples are one row"
like "$(few 20 target_hot)" '^\*\*\* Total tallied ' "a procedure that is named is analysed with few samples"
