import assert from 'node:assert/strict'
import { partBytesMin } from '../../src/kernel/limits/transfers.ts'
import { ask, type Told } from '../harness/client.ts'
import { createRepository } from '../harness/people.ts'
import { randomOf } from '../harness/random.ts'
import type { Answering } from '../harness/service.ts'
import { activeKey, binding, createServiceAccount } from '../harness/service-keys.ts'
import type { Ledger } from './ledger.ts'
import {
  answerOrNone,
  bytesOf,
  fileOf,
  inParts,
  openSession,
  rawPlace,
  type Target,
  throughSession,
  withChecksum,
} from './uploads.ts'

/** Clients that do everything that moves bytes, all at once, until there is no answer or they are told to stop. */

const actions = [
  ...(['artifact.read', 'artifact.list', 'artifact.delete', 'artifact.promote', 'content.read'] as const),
  ...([
    'upload.create',
    'upload.write',
    'upload.read',
    'upload.complete',
    'asset.read',
    'asset.write',
    'annotation.read',
  ] as const),
] as const

const [source, target] = ['releases', 'promoted'] as const
const contentPlace = (repository: string, id: string): string =>
  `/api/v1/repositories/${repository}/artifacts/${id}/content`

/** A key for what the clients do, in `releases` and in the repository that files are promoted to. */
export const makeStormKey = async (service: Answering): Promise<string> => {
  await createRepository(service, target)
  const bindings = [source, target].map((repository) => binding(repository, ...actions))
  const account = await createServiceAccount(service, bindings)
  return (await activeKey(service, account.id, { bindings })).secret
}

/** Refusals for a moment, and failures of what is beneath: what became of the request is not known. */
const answered = async (sending: Promise<Told>): Promise<Told | null> => {
  const told = await answerOrNone(sending)
  if (told === null || told.status >= 500 || told.status === 429) return null
  assert.ok(told.status < 300, `${told.status} ${told.text}`)
  return told
}

export interface Storm {
  readonly to: Target
  readonly ledger: Ledger
  readonly seed: string
  /** Paths that are its own, among several at once. */
  readonly folder: string
  /** How much was acknowledged. */
  acknowledged: number
  isOver: boolean
}

type Client = (storm: Storm, name: string, random: () => number) => Promise<void>

/** Contents that everybody stores, deletes and stores again. */
const shared = [1, 2, 3].map((number) => bytesOf(`shared ${number}`, 40_000 * number))
const anyShared = (random: () => number): Buffer => shared[Math.floor(random() * shared.length)] ?? Buffer.alloc(0)

/** Replaces what a few paths hold. */
const replacing: Client = async ({ to, ledger, seed, folder }, name, random) => {
  const bytes = random() < 0.5 ? anyShared(random) : bytesOf(`${seed} ${name}`, Math.floor(150_000 * random() ** 3))
  const file = fileOf(`${folder}/${name.replace(/-\d+$/, '')}-${Math.floor(random() * 3)}`, bytes)
  await ledger.change(rawPlace(file), bytes, () => answered(withChecksum.send(to, file)))
}

const remove = ({ to, ledger }: Storm, repository: string, id: string): Promise<Told | null> =>
  ledger.change(contentPlace(repository, id), null, () =>
    answered(
      ask(to.url, {
        method: 'DELETE',
        path: `/api/v1/repositories/${repository}/artifacts/${id}`,
        credential: to.credential,
        json: { expectedAnnotationRevision: 0 },
      }),
    ),
  )

/** Stores by a session, promotes a copy now and then, and deletes both, so that their bytes are reclaimed. */
const publishing: Client = async (storm, name, random) => {
  const { to, ledger, seed } = storm
  const large = random() < 0.1
  const bytes = large
    ? Buffer.concat([Buffer.alloc(partBytesMin, `${seed} ${name}`), bytesOf(name, 1 + Math.floor(random() * 50_000))])
    : anyShared(random)
  const file = fileOf(`${seed}/${name}`, bytes)
  const session = await answered(openSession(to, file))
  if (session === null) return
  const { id } = session.json
  const stored = () => answered((large ? inParts : throughSession).send(to, file))
  if ((await ledger.change(contentPlace(source, id), bytes, stored)) === null) return
  if (random() < 0.3) await promote(storm, id, bytes)
  if (random() < 0.8) await remove(storm, source, id)
}

const promote = async (storm: Storm, id: string, bytes: Buffer): Promise<void> => {
  const { to, ledger } = storm
  const path = `/api/v1/repositories/${source}/artifacts/${id}/promote`
  const told = await answered(ask(to.url, { path, credential: to.credential, json: { mode: 'copy', target } }))
  if (told === null) return
  const copy = String(told.json.artifactId)
  await ledger.change(contentPlace(target, copy), bytes, async () => told)
  await remove(storm, target, copy)
}

const clients: readonly Client[] = [replacing, replacing, publishing, publishing, publishing]

/** Begins all clients; resolves when the last one has ended. A client whose service is gone ends with it. */
export const blow = async (storm: Storm): Promise<void> => {
  const work = async (client: Client, index: number): Promise<void> => {
    const random = randomOf(`${storm.seed} ${index}`)
    for (let count = 0; !storm.isOver; count++) {
      await client(storm, `c${index}-${count}`, random)
      storm.acknowledged += 1
    }
  }
  await Promise.all(clients.map(work))
}
