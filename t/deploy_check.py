#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks deploy/kubernetes: prints what is wrong, one line each.

usage: deploy_check.py DEPLOY UNIT

Fields are compared with those that Kubernetes' API has for each object that is used
here, since an unknown field is a spelling mistake. Capabilities are those of the unit."""
import os
import re
import sys

import yaml

FIELDS = {
    'DaemonSet': 'apiVersion kind metadata spec',
    'DaemonSet.spec': 'minReadySeconds revisionHistoryLimit selector template updateStrategy',
    'pod': 'affinity automountServiceAccountToken containers dnsPolicy hostIPC hostNetwork '
           'hostPID imagePullSecrets initContainers nodeSelector priorityClassName '
           'securityContext serviceAccountName terminationGracePeriodSeconds tolerations '
           'volumes',
    'container': 'args command env image imagePullPolicy lifecycle livenessProbe name ports '
                 'readinessProbe resources securityContext startupProbe volumeMounts',
    'context': 'allowPrivilegeEscalation capabilities privileged procMount '
               'readOnlyRootFilesystem runAsGroup runAsNonRoot runAsUser seccompProfile',
    'podcontext': 'fsGroup runAsGroup runAsNonRoot runAsUser seccompProfile '
                  'supplementalGroups sysctls',
    'mount': 'mountPath mountPropagation name readOnly subPath',
    'volume': 'configMap emptyDir hostPath name secret',
}


def unknown(kind, where, has):
    for field in sorted(set(has) - set(FIELDS[kind].split())):
        yield '%s: Kubernetes has no field %s there' % (where, field)


def load(path):
    with open(path) as f:
        return yaml.safe_load(f)


def check_container(c, volumes, where):
    yield from unknown('container', where, c)
    context = c.get('securityContext', {})
    yield from unknown('context', where + ' securityContext', context)
    if context.get('privileged'):
        yield where + ': is privileged'
    if context.get('capabilities', {}).get('drop') != ['ALL']:
        yield where + ': does not drop all capabilities'
    if not context.get('readOnlyRootFilesystem'):
        yield where + ': can write to its root file system'
    if 'memory' not in c.get('resources', {}).get('limits', {}):
        yield where + ': has no memory limit'
    for mount in c.get('volumeMounts', []):
        yield from unknown('mount', where, mount)
        if mount['name'] not in volumes:
            yield '%s: mounts %s, which is no volume' % (where, mount['name'])


def check_daemonset(d, unit, uid):
    yield from unknown('DaemonSet', 'DaemonSet', d)
    yield from unknown('DaemonSet.spec', 'DaemonSet spec', d['spec'])
    template = d['spec']['template']
    pod = template['spec']
    yield from unknown('pod', 'pod', pod)
    yield from unknown('podcontext', 'pod securityContext', pod.get('securityContext', {}))
    if d['spec']['selector']['matchLabels'] != template['metadata']['labels']:
        yield 'selector and labels differ'
    if not pod.get('hostPID'):
        yield 'pod: does not see the processes of the host'
    if pod.get('hostNetwork') or pod.get('hostIPC'):
        yield 'pod: has more of the host than its processes'
    for volume in pod['volumes']:
        yield from unknown('volume', 'volume', volume)
    volumes = {v['name'] for v in pod['volumes']}
    for c in pod.get('initContainers', []) + pod['containers']:
        yield from check_container(c, volumes, c['name'])
    main = pod['containers'][0]['securityContext']
    wanted = sorted(re.search(r'^CapabilityBoundingSet=(.*)$', unit, re.M).group(1).split())
    if sorted('CAP_' + c for c in main['capabilities'].get('add', [])) != wanted:
        yield 'cpid: the capabilities are not those of the unit'
    if not main.get('runAsNonRoot') or main.get('runAsUser') != uid:
        yield 'cpid: does not run as the user of the image'


def check_component(folder, daemonset):
    """What is added to the pod, which runs without any capability."""
    component = load(os.path.join(folder, 'kustomization.yaml'))
    for name in [p['path'] for p in component['patches']]:
        patch = load(os.path.join(folder, name))
        if patch['metadata']['name'] != daemonset['metadata']['name']:
            yield '%s: there is no such DaemonSet' % name
        added = patch['spec']['template']['spec']
        pod = daemonset['spec']['template']['spec']
        volumes = {v['name'] for v in pod['volumes'] + added['volumes']}
        for c in added['containers']:
            yield from check_container(c, volumes, c['name'])
            context = c['securityContext']
            if 'add' in context['capabilities'] or context['allowPrivilegeEscalation']:
                yield '%s: may get more rights' % c['name']


def check(deploy, unit):
    folder = os.path.join(deploy, 'kubernetes')
    with open(os.path.join(deploy, 'image', 'build')) as f:
        uid = int(re.search(r'^uid=(\d+)', f.read(), re.M).group(1))
    kustomization = load(os.path.join(folder, 'kustomization.yaml'))
    files = sorted(f for f in os.listdir(folder)
                   if f.endswith('.yaml') and f != 'kustomization.yaml')
    if sorted(kustomization['resources']) != files:
        yield 'kustomization: does not name the files of its folder'
    objects = {}
    for name in files:
        o = load(os.path.join(folder, name))
        objects[o['kind']] = o
    daemonset = objects['DaemonSet']
    pod = daemonset['spec']['template']['spec']
    yield from check_daemonset(daemonset, unit, uid)
    for name in 'names', 'ship':
        yield from check_component(os.path.join(folder, name), daemonset)
    if pod['serviceAccountName'] != objects['ServiceAccount']['metadata']['name']:
        yield 'pod: there is no such service account'
    if kustomization['namespace'] != objects['Namespace']['metadata']['name']:
        yield 'kustomization: there is no such namespace'
    images = {i['name'] for i in kustomization['images']}
    for c in pod['initContainers'] + pod['containers']:
        if c['image'] not in images:
            yield '%s: the kustomization does not name its image' % c['name']


def main():
    with open(sys.argv[2]) as f:
        unit = f.read()
    for line in check(sys.argv[1], unit):
        print(line)


main()
