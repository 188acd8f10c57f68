import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { until } from './until.ts'

/*
 * A real object store for tests: Ceph with one monitor, one storage daemon and its S3 gateway, from Debian's packages
 * ceph-mon, ceph-osd, radosgw and ceph-common. It ends with this process, however that ends.
 */

export interface ObjectStore {
  /** Address of the store, with the credentials as user and password. */
  readonly url: string
  stop(): Promise<void>
}

const region = 'us-east-1'
const startAttempts = 3
const programMs = 30_000

/**
 * Waits until its input ends, when we say so or are gone, then stops the daemons in the order in which they can: a
 * storage daemon without its monitor does not end. A process counts as ours only while it has a file of the folder
 * open.
 */
const guard = `folder=$1; trap '' INT TERM HUP; read -r word
ours() { ls -l "/proc/$1/fd" 2>/dev/null | grep -qF "$folder/"; }
for each in client.rgw:5 osd.0:20 mon.a:30; do
  pid=$(cat "$folder/out/\${each%:*}.pid" 2>/dev/null) || continue
  ours "$pid" || continue
  kill "$pid" 2>/dev/null; tenths=\${each#*:}
  while [ "$tenths" -gt 0 ] && ours "$pid"; do sleep 0.1; tenths=$((tenths - 1)); done
  ours "$pid" && kill -9 "$pid" 2>/dev/null
done; rm -rf "$folder"`

export const startObjectStore = async (): Promise<ObjectStore> => {
  for (let attempt = 1; ; attempt++) {
    const folder = await mkdtemp(join(tmpdir(), 'svc-s3-'))
    const stop = guarded(folder)
    try {
      return { url: await start(folder), stop }
    } catch (error) {
      const log = await readFile(join(folder, 'out', 'client.rgw.log'), 'utf8').catch(() => '')
      await stop()
      // Somebody else may have taken a port meanwhile; try others.
      if (attempt === startAttempts) throw new Error(`Ceph does not start:\n${log.slice(-2_000)}`, { cause: error })
    }
  }
}

const guarded = (folder: string): (() => Promise<void>) => {
  const child: ChildProcess = spawn('/bin/sh', ['-c', guard, 'guard', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // It must not keep our process alive; its input closes with us.
  child.unref()
  if (child.stdin !== null && 'unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref()
  const ended = once(child, 'exit')
  return async () => {
    child.ref()
    child.stdin?.end('stop\n')
    await ended
    await rm(folder, { recursive: true, force: true })
  }
}

const start = async (folder: string): Promise<string> => {
  const [port, monitorPort] = await freePorts(2)
  const accessKey = 'svc-test'
  const secret = randomUUID().replaceAll('-', '')
  const fsid = randomUUID()
  const osd = randomUUID()
  for (const name of ['mon', 'osd', 'rgw', 'out']) await mkdir(join(folder, name))
  await writeFile(join(folder, 'ceph.conf'), configuration(folder, fsid, Number(port), Number(monitorPort)))
  await writeFile(join(folder, 'keyring'), '', { mode: 0o600 })
  const env = {
    ...process.env,
    CEPH_CONF: join(folder, 'ceph.conf'),
    // The C library gives big buffers back to the system.
    MALLOC_MMAP_THRESHOLD_: '262144',
  }
  const call = (command: string, args: readonly string[]): Promise<unknown> =>
    promisify(execFile)(command, [...args], { cwd: folder, env, timeout: programMs })
  for (const [name, ...rights] of keyring) await call('ceph-authtool', ['keyring', '--gen-key', '-n', name, ...rights])
  const monitor = `[v2:127.0.0.1:${monitorPort}]`
  await call('monmaptool', ['--create', '--fsid', fsid, '--addv', 'a', monitor, 'monmap'])
  await call('ceph-mon', ['--mkfs', '-i', 'a', '--monmap', 'monmap', '--keyring', 'keyring'])
  await daemon('ceph-mon', ['-i', 'a'], folder, env)
  await call('ceph', ['osd', 'new', osd])
  await call('ceph-osd', ['-i', '0', '--mkfs', '--osd-uuid', osd])
  await daemon('ceph-osd', ['-i', '0'], folder, env)
  const user = ['--uid', 'svc', '--display-name', 'svc', '--access-key', accessKey, '--secret-key', secret]
  await call('radosgw-admin', ['-n', 'client.rgw', 'user', 'create', ...user])
  await daemon('radosgw', ['-n', 'client.rgw'], folder, env)
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/`).then(
      ({ ok }) => ok,
      () => false,
    )
  await until('the object store answers', answers)
  return `http://${accessKey}:${secret}@127.0.0.1:${port}`
}

/** It puts itself into the background; whatever it inherits must not be a pipe that we wait for. */
const daemon = async (command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<void> => {
  const child = spawn(command, args, { cwd, env, stdio: 'ignore', timeout: programMs })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${command} ended with ${code}`)
}

const everything = (daemonName: string): string[] => ['--cap', daemonName, 'allow *']

const keyring = [
  ['mon.', ...everything('mon')],
  ['client.admin', ...everything('mon'), ...everything('osd')],
  ['osd.0', '--cap', 'mon', 'allow profile osd', ...everything('osd')],
  ['client.rgw', '--cap', 'mon', 'allow rw', '--cap', 'osd', 'allow rwx'],
] as const

/** Small, quick to start, and quick to forget what is deleted. */
const configuration = (folder: string, fsid: string, port: number, monitorPort: number): string => `[global]
fsid = ${fsid}
mon host = [v2:127.0.0.1:${monitorPort}]
public network = 127.0.0.0/8
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
keyring = ${folder}/keyring
run dir = ${folder}/out
admin socket = ${folder}/out/$name.asok
log file = ${folder}/out/$name.log
pid file = ${folder}/out/$name.pid
crash dir = ${folder}/out
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pgp num = 4
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon max pg per osd = 1000
[mon.a]
mon data = ${folder}/mon
paxos propose interval = 0.02
paxos min wait = 0.01
mon data avail warn = 1
mon data avail crit = 0
auth allow insecure global id reclaim = false
[osd.0]
osd data = ${folder}/osd
osd objectstore = bluestore
bluestore block size = 17179869184
bdev aio poll ms = 50
bluestore fsck on mkfs = false
bluestore cache autotune = false
bluestore cache size = 67108864
bluestore rocksdb options = compression=kNoCompression,max_write_buffer_number=4,write_buffer_size=8388608,recycle_log_file_num=2
osd max pg log entries = 100
osd min pg log entries = 50
[client.rgw]
rgw data = ${folder}/rgw
rgw frontends = beast endpoint=127.0.0.1:${port} tcp_nodelay=1
rgw gc obj min wait = 2
rgw gc processor period = 5
rgw gc max objs = 2
`

/** Ports that are free together. */
const freePorts = async (count: number): Promise<number[]> => {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  const ports: number[] = []
  for (const server of servers) {
    if (!server.listening) await once(server, 'listening')
    const address = server.address()
    if (address !== null && typeof address === 'object') ports.push(address.port)
  }
  for (const server of servers) {
    server.close()
    await once(server, 'close')
  }
  return ports
}

export interface TestBucket {
  /** What SVC_BLOB_STORE says. */
  readonly url: string
  readonly place: {
    readonly bucket: string
    readonly prefix: string
    readonly endpoint: string
    readonly region: string
    readonly pathStyle: boolean
  }
  readonly credentials: { readonly AWS_ACCESS_KEY_ID: string; readonly AWS_SECRET_ACCESS_KEY: string }
}

/** A new, empty bucket. It goes with the store. */
export const createBucket = async (
  storeUrl: string,
  { locked = false }: { readonly locked?: boolean } = {},
): Promise<TestBucket> => {
  const { username, password, origin } = new URL(storeUrl)
  const bucket = `test-${randomUUID()}`
  const client = new S3Client({
    endpoint: origin,
    region,
    forcePathStyle: true,
    credentials: { accessKeyId: username, secretAccessKey: password },
  })
  await client.send(new CreateBucketCommand({ Bucket: bucket, ObjectLockEnabledForBucket: locked }))
  client.destroy()
  return {
    url: `s3://${bucket}/files?endpoint=${encodeURIComponent(origin)}&region=${region}&pathStyle=true`,
    place: { bucket, prefix: 'files/', endpoint: origin, region, pathStyle: true },
    credentials: { AWS_ACCESS_KEY_ID: username, AWS_SECRET_ACCESS_KEY: password },
  }
}
