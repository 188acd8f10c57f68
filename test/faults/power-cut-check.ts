import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import pino from 'pino'
import { everyCheck } from '../../src/main/every-check.ts'
import { openKeys } from '../../src/main/keys-file.ts'
import { makeDataDir, openParts, realStage } from '../../src/main/parts.ts'
import { startGateway } from '../../src/main/roles/api.ts'
import { readSettings } from '../../src/main/settings/rules.ts'
import { ask } from '../harness/client.ts'
import { settingsFor } from '../harness/processes.ts'
import type { Promised } from './mixed-load.ts'
import { sha256Of, storedParts } from './uploads.ts'

/** What is to be found now: by what is promised of each place, the last word. */
export type Promises = ReadonlyMap<string, Promised>

/** Who reads: by path, and everything else. */
export interface Readers {
  readonly recoveryKey: () => string
  readonly key: () => string
}

const silent = pino({ level: 'fatal' }, new Writable({ write: (_chunk, _encoding, done) => done() }))

/**
 * Starts the service on what a power cut has left, in this process and without upkeep; the doctor finds no damage, and a
 * reader finds everything that was promised.
 */
export const holdsItsPromises = async (dataDir: string, promises: Promises, readers: Readers): Promise<void> => {
  const settings = readSettings(settingsFor({ dataDir }))
  const stack = new AsyncDisposableStack()
  try {
    const keys = await openKeys(settings, { readOnly: false })
    await makeDataDir(settings)
    const parts = await openParts(settings, silent, realStage, stack)
    const damage = (await Array.fromAsync(everyCheck(parts))).filter(({ kind }) => kind === 'damage')
    assert.deepEqual(
      damage.map(({ text }) => text),
      [],
    )
    const gateway = await startGateway(parts, keys, 'api')
    stack.defer(() => gateway.close())
    const url = gateway.address
    await Promise.all([...promises.values()].map((promised) => isKept(url, promised, readers)))
  } finally {
    await stack.disposeAsync()
  }
}

const isKept = async (url: string, promised: Promised, readers: Readers): Promise<void> => {
  const { place } = promised
  if (promised.is === 'open') return
  if (promised.is === 'part') {
    const [upload = '', index] = place.split(' ')
    const stored = await storedParts({ url, credential: readers.recoveryKey() }, upload)
    assert.equal(stored.get(Number(index)), promised.sha256, `part ${place}`)
    return
  }
  const credential = place.includes('/raw/') ? readers.recoveryKey() : readers.key()
  const told = await ask(url, { path: place, credential })
  assert.equal(told.status, promised.is === 'gone' ? 404 : 200, `${place}: ${told.text.slice(0, 300)}`)
  if (promised.is === 'there') assert.equal(sha256Of(told.bytes), promised.sha256, place)
  if (promised.is === 'labelled') assert.deepEqual(told.json.labels, [promised.label], place)
}
