import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { MiB } from '../src/kernel/units.ts'
import { createBucket, startObjectStore } from '../test/harness/object-store.ts'
import { makeDurableFile, makeFile, uploadSeconds } from './load.ts'
import { readMetrics } from './metrics.ts'
import { forgetPeak, installed, peakMiB } from './processes.ts'
import { type Bench, startSvc } from './servers.ts'
import type { Setting } from './setting.ts'
import {
  manyAtOnce,
  openSession,
  partDigests,
  type SvcClient,
  sendInParts,
  sendWhole,
  svcClient,
} from './svc-client.ts'
import { median, type Row } from './table.ts'

const partBytes = 8 * MiB
const api = '/api/v1/repositories/releases'

const only = (figure: number): ReadonlyMap<string, number> => new Map([['svc', figure]])

const clientOf = (svc: Bench, credential: string, connections: number): SvcClient =>
  svcClient(new URL(svc.download('any', '').url).origin, credential, connections)

const ourselves = ({ servers }: Setting): { svc: Bench; recoveryKey: string } => {
  const svc = servers.find(({ name }) => name === 'svc')
  if (svc?.recoveryKey === undefined) throw new Error('svc is not among the servers')
  return { svc, recoveryKey: svc.recoveryKey }
}

/** A file in parts beside the same file whole, by the same client; and what completing costs. */
export const parts = async (setting: Setting): Promise<Row[]> => {
  const { scratch, sizes } = setting
  const { svc, recoveryKey } = ourselves(setting)
  const client = clientOf(svc, recoveryKey, 1)
  const speeds = { whole: [] as number[], parts: [] as number[] }
  const completing = { big: [] as number[], small: [] as number[] }
  const big = sizes.bigBytes
  const whole = async (round: number): Promise<void> => {
    const path = join(scratch, `parts-${round}`)
    const sha256 = await makeDurableFile(path, big)
    speeds.whole.push(big / MiB / (await sendWhole(client, `whole-${round}`, path, sha256, big)))
  }
  const inParts = async (round: number, size: number, completeMs: number[]): Promise<number> => {
    const path = join(scratch, `parts-${round}`)
    const sha256 = await makeDurableFile(path, size)
    const digests = await partDigests(path, size, partBytes)
    const sent = await sendInParts(client, `parts-${round}-${size}`, path, sha256, size, digests, partBytes)
    completeMs.push(sent.completeMs)
    return size / MiB / sent.seconds
  }
  // Syncs and fresh memory differ a lot from one to the next: more rounds than elsewhere.
  for (let round = 0; round < 4 * sizes.rounds + 1; round++) {
    // Machines drift: one and the other go first in turn, and each is compared with its neighbour.
    const steps = [() => whole(round), async () => speeds.parts.push(await inParts(round, big, completing.big))]
    for (const step of round % 2 === 0 ? steps : steps.reverse()) await step()
    await inParts(round, Math.max(big / 16, partBytes), completing.small)
  }
  client.close()
  const row = (what: string, unit: string, figure: number, meaning: string): Row => ({
    what,
    unit,
    figures: only(figure),
    better: null,
    meaning,
  })
  const ratios = speeds.parts.map((speed, round) => speed / (speeds.whole[round] ?? Number.NaN))
  return [
    row('upload of a session, whole', 'MiB/s', median(speeds.whole), 'one request, sent by a client in Node.'),
    row(
      'upload of a session, in parts',
      'MiB/s',
      median(speeds.parts),
      'parts of 8 MiB one after the other, each synced, by the same client.',
    ),
    row('  parts to whole', 'ratio', median(ratios), 'the median of the rounds; above 0.85 is the aim.'),
    row('complete, big file', 'ms', median(completing.big), 'of parts that came in order.'),
    row('complete, a sixteenth of it', 'ms', median(completing.small), 'should take as long.'),
  ]
}

/** Many small files are deleted and their bytes removed, while one is fetched again and again. */
export const reclaim = async (setting: Setting): Promise<Row[]> => {
  const { sizes } = setting
  const { svc, recoveryKey } = ourselves(setting)
  const admin = clientOf(svc, recoveryKey, 32)
  const bindings = [
    {
      resource: { kind: 'repository', id: 'releases' },
      actions: ['artifact.delete', 'storage.read', 'storage.manage', 'content.read'],
    },
  ]
  const account = await admin.ask('POST', '/api/v1/service-accounts', { name: 'bench-keeper', bindings })
  const key = await issueKey(svc, recoveryKey, String(account['id']), bindings)
  const keeper = clientOf(svc, key, 32)
  await keeper.ask('POST', '/api/v1/auth/activate-key')
  const ids: string[] = []
  await manyAtOnce(sizes.reclaimed, 32, async (index) => {
    const body = Buffer.from(`small file ${index} of ${process.pid} `.padEnd(4096, '.'))
    const sha256 = createHash('sha256').update(body).digest('hex')
    const session = await openSession(admin, `small-${index}`, body.byteLength, sha256)
    await admin.send('PUT', `${session}/content`, body, {
      'content-type': 'application/octet-stream',
      'content-length': '4096',
    })
    ids.push(session.slice(session.lastIndexOf('/') + 1))
  })
  const probe = `${api}/artifacts/${ids.pop()}/content`
  const idle = await latencies(keeper, probe, () => false, 400)
  await manyAtOnce(ids.length, 32, (index) =>
    keeper.ask('DELETE', `${api}/artifacts/${ids[index]}`, { expectedAnnotationRevision: 0 }),
  )
  await keeper.ask('PUT', `${api}/cleanup`, { expectedRevision: 0, graceHours: 0 })
  const removed = { blobs: 0, firstAtMs: 0, lastAtMs: 0 }
  const watching = watchRemovals(svc, recoveryKey, ids.length, removed)
  const busy = await latencies(keeper, probe, () => removed.blobs >= ids.length, Number.POSITIVE_INFINITY)
  await watching
  admin.close()
  keeper.close()
  const rate = ids.length / ((removed.lastAtMs - removed.firstAtMs) / 1000)
  const what = `${ids.length} files of 4 KiB, released and removed by the upkeep`
  const row = (name: string, unit: string, figure: number, meaning: string): Row => ({
    what: name,
    unit,
    figures: only(figure),
    better: null,
    meaning,
  })
  return [
    row('reclaim', 'blobs/s', rate, `${what}.`),
    row('4 KiB GET, one by one, idle, p99', 'ms', idle, 'before.'),
    row('  meanwhile, p99', 'ms', busy, 'while the upkeep was at it.'),
  ]
}

const issueKey = async (svc: Bench, credential: string, accountId: string, bindings: unknown): Promise<string> => {
  const base = new URL(svc.download('any', '').url).origin
  const answer = await fetch(`${base}/api/v1/service-accounts/${accountId}/keys`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${credential}`,
      'content-type': 'application/json',
      'idempotency-key': 'bench-keeper',
    },
    body: JSON.stringify({ name: 'bench-keeper', bindings }),
  })
  const told: unknown = await answer.json()
  if (typeof told !== 'object' || told === null || !('secret' in told)) throw new Error(`no key: ${answer.status}`)
  return String(told.secret)
}

/** Milliseconds that 99 of 100 GETs stay under, one after the other until `done` or `most` of them. */
const latencies = async (client: SvcClient, path: string, done: () => boolean, most: number): Promise<number> => {
  const took: number[] = []
  while (!done() && took.length < most) {
    took.push(await client.timed(path))
    await pause(2)
  }
  return took.sort((a, b) => a - b)[Math.floor(took.length * 0.99)] ?? Number.NaN
}

const watchRemovals = async (
  svc: Bench,
  credential: string,
  wanted: number,
  seen: { blobs: number; firstAtMs: number; lastAtMs: number },
): Promise<void> => {
  const base = new URL(svc.download('any', '').url).origin
  const read = async (): Promise<number> => (await readMetrics(base, credential))('svc_reclaim_blobs_total')
  const before = await read()
  const giveUpAtMs = performance.now() + 600_000
  while (seen.blobs < wanted) {
    if (performance.now() > giveUpAtMs) throw new Error(`only ${seen.blobs} of ${wanted} were removed`)
    seen.blobs = (await read()) - before
    if (seen.blobs > 0) seen.firstAtMs ||= performance.now()
    seen.lastAtMs = performance.now()
    await pause(100)
  }
}

/** Memory of the service on an object store, which has to keep parts until they are sent. */
export const memoryOnS3 = async ({ sizes, scratch }: Setting): Promise<Row[]> => {
  if (!installed('radosgw')) {
    console.log('radosgw is not installed: memory on S3 is left out')
    return []
  }
  const store = await startObjectStore()
  try {
    const { url, credentials } = await createBucket(store.url)
    const svc = await startSvc([], { SVC_BLOB_STORE: url, ...credentials })
    const path = join(scratch, 'parallel-s3')
    const sha256 = await makeFile(path, sizes.parallelUploadBytes)
    forgetPeak(svc.process.pid ?? Number.NaN)
    await uploadSeconds(
      svc,
      Array.from({ length: 32 }, (_, index) => ({ name: `parallel-${index}`, sha256, path })),
    )
    const peak = peakMiB(svc.process.pid ?? Number.NaN)
    const meaning = `resident memory while 32 clients store ${sizes.parallelUploadBytes / MiB} MiB each in Ceph.`
    return [{ what: 'peak memory on S3, 32 uploads', unit: 'MiB', figures: only(peak), better: null, meaning }]
  } finally {
    await store.stop()
  }
}
