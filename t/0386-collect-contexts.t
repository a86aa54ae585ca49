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
plan $((nr_stored_tests + 26))

# wrapper NAME LINE...: a program that becomes burn_x, as its argument says
wrapper()
{
	printf '#!/bin/sh\n%s\n' "$2" >"$1"
	chmod +x "$1"
}

cpi=$builddir/tools/cpi
wrapper in_a "echo \$\$ >$made/docker-$id_a.scope/cgroup.procs && exec $programs/burn_a \$1"
wrapper in_b "echo \$\$ >$made/libpod-$id_b.scope/cgroup.procs && exec $programs/burn_b \$1"
wrapper labelled "exec $cpi label outer -- $tmp/nested \$1"
wrapper nested "$programs/burn_b \$1; $cpi label inner $programs/burn_c \$1; exec $programs/burn_b \$1"

# in_context PROGRAM [CONTEXT]: its samples there, or all of them
in_context()
{
	sql "SELECT total(p.total) FROM profile p JOIN image i ON i.id = p.image
		JOIN context c ON c.id = p.context
		WHERE p.kind = 0 AND i.name GLOB '*/$1' AND c.name GLOB '${2:-}'" |
		sed 's/\.0$//'
}

# belongs PROGRAM CONTEXT NAME: 99.5 % of its samples do
belongs()
{
	belongs_all=$(in_context "$1")
	bound "$belongs_all" '>' 200 "$1 has samples"
	bound $((1000 * $(in_context "$1" "$2"))) '>=' $((995 * belongs_all)) "$3"
}

collect_start -F 1000 --sweep 2s --by cgroup,label,process,comm
try 'programs run in two cgroups' "$programs/spawn" 200 2 10 ./in_a ./in_b
cpid_ask flush >/dev/null
belongs burn_a "cgroup=*/docker-$id_a.scope" 'one is in its cgroup'
belongs burn_b "cgroup=*/libpod-$id_b.scope" 'so is the other'
is "$(in_context burn_a 'label=*')" 0 'neither has a label'
rows=$(cpi prof --db $db --by container --format=csv | cut -d, -f5-7)
like "$rows" '^aaaaaaaaaaaa,docker,' 'containers have short ids'
like "$rows" '^bbbbbbbbbbbb,podman,' 'and runtimes'
like "$(cpi prof --db $db --by unit --format=csv)" "docker-$id_a.scope" 'units have names'

cpid_ask epoch labels >/dev/null
# The children of one process: its own number tells of no label.
try 'programs run under labels' "$programs/spawn" 50 2 10 ./labelled
cpid_ask flush >/dev/null

# image_samples PROGRAM [OPTION...]: its samples in the last epoch
image_samples()
{
	image_samples_of=$1
	shift
	cpi prof --db $db --by image --image "*/$image_samples_of" "$@" --format=csv |
		sed -n 's/^\([0-9]*\),.*/\1/p'
}

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

# Another cpid finds a label again, in the environment, and nothing that is none.
mkfifo ready go go_other
$cpi label again sh -c 'echo >ready; read -r line <go; exec "$1" 300' sh "$programs/burn_c" &
again=$!
read -r line <ready
CPI_LABEL='not again' sh -c 'echo >ready; read -r line <go_other; exec "$1" 300' sh \
	"$programs/burn_a" &
other=$!
tap_pids="$tap_pids $again $other"
read -r line <ready
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
	'label=again label=inner label=outer ' 'there are no other labels'
