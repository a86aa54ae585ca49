#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Processes of 10 ms in cgroups, which look like containers, and under labels: their
# samples are counted there. The programs are not the same, so one sees who was who.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"

hierarchy=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
[ -n "$hierarchy" ] || skip_all 'cgroup v2 is not mounted'
made=$hierarchy/cpi-t-$$
mkdir "$made" 2>/dev/null || skip_all 'no cgroup can be made here'
id_a=aaaaaaaaaaaa0123456789abcdef0123456789abcdef0123456789abcdef0123
id_b=bbbbbbbbbbbb0123456789abcdef0123456789abcdef0123456789abcdef0123
mkdir "$made/docker-$id_a.scope" "$made/libpod-$id_b.scope"

cgroups_end()
{
	tap_end
	rmdir "$made"/*.scope "$made"
}
trap cgroups_end EXIT
plan $((nr_stored_tests + 33))

# wrapper NAME LINE...: a program that becomes burn_x, as its argument says
wrapper()
{
	printf '#!/bin/sh\n%s\n' "$2" >"$1"
	chmod +x "$1"
}

cpi=$builddir/tools/cpi
real=$(realpath "$programs")
wrapper in_a "echo \$\$ >$made/docker-$id_a.scope/cgroup.procs && exec $programs/burn_a \$1"
wrapper in_b "echo \$\$ >$made/libpod-$id_b.scope/cgroup.procs && exec $programs/burn_b \$1"
wrapper made "$programs/into $made/libpod-$id_b.scope $programs/burn_c \$1"
wrapper same_a "echo \$\$ >$made/docker-$id_a.scope/cgroup.procs && exec $programs/burn_c \$1"
wrapper same_b "echo \$\$ >$made/libpod-$id_b.scope/cgroup.procs && exec $programs/burn_c \$1"
wrapper reuse_a "exec $cpi label reuse-a $programs/burn_a \$1"
wrapper reuse_b "exec $cpi label reuse-b $programs/burn_b \$1"
wrapper labelled "exec $cpi label outer -- $tmp/nested \$1"
wrapper nested "$programs/burn_b \$1; $cpi label inner $programs/burn_c \$1; exec $programs/burn_b \$1"

# in_context PROGRAM [CONTEXT]: its samples there, or all of them
in_context()
{
	sql "SELECT total(p.total) FROM profile p JOIN image i ON i.id = p.image
		JOIN context c ON c.id = p.context
		WHERE p.kind = 0 AND i.name GLOB '$real/$1' AND c.name GLOB '${2:-}'" |
		sed 's/\.0$//'
}

# belongs PROGRAM CONTEXT NAME: 99.5 % of its samples do
belongs()
{
	belongs_all=$(in_context "$1")
	bound "$belongs_all" '>' 200 "$1 has samples"
	bound $((1000 * $(in_context "$1" "$2"))) '>=' $((995 * belongs_all)) "$3"
}

# image_samples PROGRAM [OPTION...]: its samples in the last epoch
image_samples()
{
	image_samples_of=$1
	shift
	cpi prof --db $db --by image --image "$real/$image_samples_of" "$@" --format=csv |
		sed -n 's/^\([0-9]*\),.*/\1/p'
}

collect_start -F 1000 --sweep 2s --by cgroup,label,process,comm
try 'programs run in two cgroups' "$programs/spawn" 150 2 10 ./in_a ./in_b ./made
cpid_ask flush >/dev/null
belongs burn_a "cgroup=*/docker-$id_a.scope" 'one is in its cgroup'
belongs burn_b "cgroup=*/libpod-$id_b.scope" 'so is the other'
if grep -q perf_event /proc/self/cgroup; then
	skip 2 'the kernel tells of cgroups in v1 only'
else
	belongs burn_c "cgroup=*/libpod-$id_b.scope" 'so is one that was made there'
fi
is "$(in_context burn_? 'label=*')" 0 'none has a label'
rows=$(cpi prof --db $db --by container --format=csv | cut -d, -f5-7)
like "$rows" '^aaaaaaaaaaaa,docker,' 'containers have short ids'
like "$rows" '^bbbbbbbbbbbb,podman,' 'and runtimes'
like "$(cpi prof --db $db --by unit --format=csv)" "docker-$id_a.scope" 'units have names'

cpid_ask epoch same >/dev/null
try 'one program runs in both' "$programs/spawn" 100 2 10 ./same_a ./same_b
cpid_ask flush >/dev/null
a=$(image_samples burn_c --cgroup "*$id_a*")
b=$(image_samples burn_c --cgroup "*$id_b*")
bound $((1000 * (a + b))) '>=' $((995 * $(image_samples burn_c))) 'each is in one of them'
bound $(((a - b) * (a - b))) '<=' $((16 * (a + b))) 'both have the same part, within 4 sigma'

cpid_ask epoch reuse >/dev/null
"$programs/spawn" -p 100 1 10 ./reuse_a ./reuse_b >/dev/null 2>&1
status=$?
cpid_ask flush >/dev/null
if [ $status -eq 77 ] || [ $collector != perf ]; then
	skip 2 'one process id cannot be used again and again, or lives not be told apart'
else
	for x in a b; do
		bound $((1000 * $(image_samples burn_$x --label reuse-$x))) '>=' \
			$((995 * $(image_samples burn_$x))) "at one process id each life has its label: $x"
	done
fi

cpid_ask epoch labels >/dev/null
# The children of one process: its own number tells of no label.
try 'programs run under labels' "$programs/spawn" 50 2 10 ./labelled
cpid_ask flush >/dev/null

all=$(image_samples burn_b)
bound $((1000 * $(image_samples burn_b --label outer))) '>=' $((995 * all)) \
	'the outer label is there, before and behind the inner one'
all=$(image_samples burn_c)
bound $((1000 * $(image_samples burn_c --label inner))) '>=' $((995 * all)) \
	'the inner one is inside'
like "$(cpi list --db $db --label inner --format=csv burn_c)" 'burn_c' 'cpi list has the same selection'

"$programs/burn_a" 300 &
burner=$!
wait $burner
cpid_ask flush >/dev/null
bound "$(cpi prof --db $db --by process --process "burn_a:$burner" --format=csv |
	sed -n 's/^\([0-9]*\),.*/\1/p')" '>' 100 'a process has its own profile'

# By each kind the rows add up to everything.
sum_of()
{
	cpi prof --db $db --idle --epoch all --by "$1" --format=csv 2>/dev/null |
		awk -F, 'NR > 1 { n += $1 } END { print n }'
}
whole=$(sum_of image)
for kind in comm cgroup container unit label process; do
	is "$(sum_of $kind)" "$whole" "samples by $kind are all samples"
done

# Another cpid finds a label again, in the environment, and nothing that is none. Some
# processes do not let theirs be read.
mkfifo ready go go_other
for i in 1 2 3; do
	HIDDEN=$(head -c 65536 /dev/zero | tr '\0' x) "$programs/hidden" >ready &
	tap_pids="$tap_pids $!"
	read -r line <ready
	note "one hides its environment: ${line:-not here}"
done
$cpi label again sh -c 'echo >ready; read -r line <go; exec "$1" 300' sh "$programs/burn_c" &
again=$!
timeout 60 head -n 1 ready >/dev/null
CPI_LABEL='not again' sh -c 'echo >ready; read -r line <go_other; exec "$1" 300' sh \
	"$programs/burn_a" &
other=$!
tap_pids="$tap_pids $again $other"
timeout 60 head -n 1 ready >/dev/null
collect_stop
collect_start -F 1000 --by label
echo >go
echo >go_other
wait $again $other
is "$(cpid_field contexts_other)" 0 'no context was too many'
collect_stop
check_stored
all=$(image_samples burn_c)
bound "$all" '>' 100 'the labelled one has gone on'
bound $((1000 * $(image_samples burn_c --label again))) '>=' $((995 * all)) 'with its label'
is "$(sql "SELECT name FROM context WHERE name GLOB 'label=*' ORDER BY 1" | tr '\n' ' ')" \
	'label=again label=inner label=outer label=reuse-a label=reuse-b ' 'there are no other labels'
