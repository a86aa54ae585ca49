#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes and removes pods through containerd's interface for Kubernetes.

usage: containerd.py image FILE NAME PROGRAM    a container image with one static program
       containerd.py run SOCKET CGROUP NAMESPACE POD CONTAINER IMAGE ARGUMENT
                                                 prints the ids of the pod and the container
       containerd.py remove SOCKET POD-ID

Requests are made by hand, as Protocol Buffers over curl's HTTP/2, so that no library has
to agree with cpi-containers."""
import hashlib
import io
import json
import struct
import subprocess
import sys
import tarfile

SERVICE = 'http://localhost/runtime.v1.RuntimeService/'


def varint(n):
    out = b''
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def call(socket, method, message):
    done = subprocess.run(
        ['curl', '-sS', '-m', '120', '--http2-prior-knowledge', '--unix-socket', socket,
         '-H', 'content-type: application/grpc', '-H', 'te: trailers', '--data-binary', '@-',
         '-D', '/dev/stderr', SERVICE + method],
        input=b'\0' + struct.pack('>I', len(message)) + message, capture_output=True)
    if len(done.stdout) < 5:
        sys.exit('%s: %s' % (method, done.stderr.decode()))
    return done.stdout[5:]


def first_text(message):
    assert message[0] == 10 and message[1] < 128
    return message[2:2 + message[1]].decode()


def make_image(path, name, program):
    layer = io.BytesIO()
    with tarfile.open(fileobj=layer, mode='w') as tar, open(program, 'rb') as f:
        data = f.read()
        info = tarfile.TarInfo('program')
        info.size, info.mode = len(data), 0o755
        tar.addfile(info, io.BytesIO(data))
    digest = 'sha256:' + hashlib.sha256(layer.getvalue()).hexdigest()
    machine = {'x86_64': 'amd64', 'aarch64': 'arm64'}[subprocess.run(
        ['uname', '-m'], capture_output=True, text=True).stdout.strip()]
    config = {'architecture': machine, 'os': 'linux', 'config': {'Cmd': ['/program']},
              'rootfs': {'type': 'layers', 'diff_ids': [digest]}}
    manifest = [{'Config': 'config.json', 'RepoTags': [name], 'Layers': ['layer.tar']}]
    with tarfile.open(path, 'w') as tar:
        for file, data in (('config.json', json.dumps(config).encode()),
                           ('layer.tar', layer.getvalue()),
                           ('manifest.json', json.dumps(manifest).encode())):
            info = tarfile.TarInfo(file)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


def run(socket, cgroup, namespace, pod, container, image, argument):
    uid = '0123abcd-0123-0123-0123-0123456789ab'
    node = field(1, 2) + field(3, 2)  # the network and IPC of the node
    config = (field(1, field(1, pod) + field(2, uid) + field(3, namespace)) +
              field(8, field(1, cgroup) + field(2, field(1, node))))
    pod_id = first_text(call(socket, 'RunPodSandbox', field(1, config)))
    wanted = (field(1, field(1, container)) + field(2, field(1, image)) +
              field(3, '/program') + field(4, argument))
    container_id = first_text(call(socket, 'CreateContainer', field(1, pod_id) +
                                   field(2, wanted) + field(3, config)))
    call(socket, 'StartContainer', field(1, container_id))
    print(pod_id, container_id)


def remove(socket, pod_id):
    call(socket, 'StopPodSandbox', field(1, pod_id))
    call(socket, 'RemovePodSandbox', field(1, pod_id))


if __name__ == '__main__':
    {'image': make_image, 'run': run, 'remove': remove}[sys.argv[1]](*sys.argv[2:])
