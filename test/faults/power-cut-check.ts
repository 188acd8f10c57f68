import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { Writable } from 'node:stream'
import { sql } from 'kysely'
import pino from 'pino'
import { makeDataDir, openEngines, realEnvironment } from '../../src/main/engines.ts'
import { everyCheck } from '../../src/main/every-check.ts'
import { openKeys } from '../../src/main/keys-file.ts'
import { startGateway } from '../../src/main/roles/api.ts'
import { readSettings } from '../../src/main/settings/rules.ts'
import { ask, type Told } from '../harness/client.ts'
import { settingsFor } from '../harness/processes.ts'
import type { Promised } from './mixed-load.ts'
import type { KnownBlobs } from './modelled-disk.ts'
import { sha256Of, storedParts } from './uploads.ts'

/** What is to be found now: by what is promised of each place, the last word. */
export type Promises = ReadonlyMap<string, Promised>

/** Who reads: by path, and everything else. */
export interface Readers {
  readonly recoveryKey: string
  readonly key: string
}

interface Reading extends Readers {
  readonly url: string
  readonly agent: Agent
  readonly known: KnownBlobs
}

const silent = pino({ level: 'fatal' }, new Writable({ write: (_chunk, _encoding, done) => done() }))

/**
 * Starts the service on what a power cut has left, in this process and without upkeep; the database is whole, the
 * doctor finds no damage, and a reader finds everything that was promised. Of files that are `known` from their first
 * byte to their last, the end is read.
 */
export const holdsItsPromises = async (
  dataDir: string,
  promises: Promises,
  readers: Readers,
  known: KnownBlobs = new Map(),
): Promise<void> => {
  const settings = readSettings(settingsFor({ dataDir }))
  const stack = new AsyncDisposableStack()
  try {
    const keys = await openKeys(settings, { readOnly: false })
    await makeDataDir(settings)
    const engines = await openEngines(settings, silent, realEnvironment, stack)
    const whole = await sql`pragma integrity_check`.execute(engines.database.reader)
    assert.deepEqual(whole.rows, [{ integrity_check: 'ok' }])
    const damage = (await Array.fromAsync(everyCheck(engines))).filter(({ kind }) => kind === 'damage')
    assert.deepEqual(
      damage.map(({ text }) => text),
      [],
    )
    const gateway = await startGateway(engines, keys, 'api')
    stack.defer(() => gateway.close())
    const agent = new Agent({ keepAlive: true, maxSockets: 4 })
    stack.defer(() => agent.destroy())
    const reading = { ...readers, url: gateway.address, agent, known }
    await Promise.all([...promises.values()].map((promised) => isKept(promised, reading)))
  } finally {
    await stack.disposeAsync()
  }
}

const isKept = async (promised: Promised, reading: Reading): Promise<void> => {
  const { place } = promised
  if (promised.is === 'open') return
  if (promised.is === 'part') {
    const [upload = '', index] = place.split(' ')
    const stored = await storedParts({ url: reading.url, credential: reading.recoveryKey }, upload)
    assert.equal(stored.get(Number(index)), promised.sha256, `part ${place}`)
    return
  }
  const known = promised.is === 'there' ? reading.known.get(promised.sha256) : undefined
  if (known !== undefined) return endsAs(known, place, reading)
  const told = await read(place, promised.is === 'gone' ? 404 : 200, reading)
  if (promised.is === 'there') assert.equal(sha256Of(told.bytes), promised.sha256, place)
  if (promised.is === 'labelled') assert.deepEqual(told.json.labels, [promised.label], place)
}

const endsAs = async (bytes: Buffer, place: string, reading: Reading): Promise<void> => {
  const from = bytes.length - 1_000
  const told = await read(place, 206, reading, { range: 'bytes=-1000' })
  assert.equal(told.headers['content-range'], `bytes ${from}-${bytes.length - 1}/${bytes.length}`)
  assert.ok(told.bytes.equals(bytes.subarray(from)), place)
}

const read = async (path: string, status: number, reading: Reading, headers = {}): Promise<Told> => {
  const credential = path.includes('/raw/') ? reading.recoveryKey : reading.key
  const told = await ask(reading.url, { path, credential, headers }, reading.agent)
  if (told.status !== status) assert.fail(`${path}: ${told.status} instead of ${status}: ${told.text.slice(0, 300)}`)
  return told
}
