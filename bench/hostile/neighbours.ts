import { randomBytes } from 'node:crypto'
import type { DiskFaults } from '../../test/harness/disk-faults.ts'
import { openSession, svcClient } from '../svc-client.ts'
import type { Sessions } from './accounts.ts'
import { type Neighbour, startNeighbour } from './neighbour-process.ts'
import { partBytes, partsPerSession } from './part-senders.ts'

/** Where neighbours go to. */
export interface Place {
  readonly base: string
  /** The process of the service. */
  readonly pid: number
  readonly sessions: Sessions
  readonly small: string
  readonly large: string
  readonly folder: string
  /** How many of them a crowd opens. */
  readonly connections: number
  readonly disk: DiskFaults
  readonly administrator: string
}

const listOf = (items: unknown): readonly { readonly id?: string; readonly owner?: string }[] =>
  Array.isArray(items) ? items : []

const readers = 64
const sendersPerAccount = 64
const slowSyncs = 4
const syncMs = 2_000
const floodConnections = 100

const portOf = ({ base }: Place): number => Number(new URL(base).port)

const crowd = (place: Place): Promise<Neighbour> =>
  startNeighbour({
    kind: 'crowd',
    port: portOf(place),
    from: ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5'],
    count: place.connections,
    paths: [place.small],
    credentials: [place.sessions.crowd],
  })

const slowReaders = (place: Place): Promise<Neighbour> =>
  startNeighbour({
    kind: 'readers',
    port: portOf(place),
    from: ['127.0.0.6'],
    count: readers,
    paths: [place.large],
    credentials: [place.sessions.reader],
  })

const slowSenders = (place: Place): Promise<Neighbour> =>
  startNeighbour({
    kind: 'senders',
    port: portOf(place),
    from: ['127.0.0.7', '127.0.0.8'],
    count: 2 * sendersPerAccount,
    paths: [`${place.folder}/slow`],
    credentials: [place.sessions['sender-one'], place.sessions['sender-two']],
  })

/** The disk takes long for the syncs of these uploads and for no others: what is looked at is who waits for them. */
const slowDisk = async (place: Place): Promise<Neighbour> => {
  const client = svcClient(place.base, place.sessions.syncer, 1)
  const paths: string[] = []
  while (paths.length < slowSyncs) {
    const unknown = randomBytes(32).toString('hex')
    paths.push(await openSession(client, `synced-${paths.length}`, partsPerSession * partBytes, unknown))
  }
  // Only the file of an upload in parts bears the number of the process, while a part is written.
  const path = `.${place.pid}.`
  const rule = place.disk.rule({ call: 'fdatasync', path, thread: 'other', action: 'delay', ms: syncMs })
  const credentials = [place.sessions.syncer]
  const orders = { kind: 'parts', port: portOf(place), from: [], count: 0, paths, credentials } as const
  const neighbour = await startNeighbour(orders)
  await rule.met()
  return {
    ...neighbour,
    async end() {
      const did = await neighbour.end()
      const syncs = rule.hits().length
      rule.end()
      for (const session of paths) await client.ask('DELETE', session)
      client.close()
      return `${did}; ${syncs} syncs took ${syncMs / 1000} s each`
    },
  }
}

const wrongSignIns = (place: Place): Promise<Neighbour> =>
  startNeighbour({
    kind: 'sign-ins',
    port: portOf(place),
    from: ['127.0.0.9'],
    count: floodConnections,
    paths: [],
    credentials: [],
  })

/** Its sessions are cancelled once it is gone: nothing of it may be left. */
const uploadFlood = async (place: Place): Promise<Neighbour> => {
  const path = '/api/v1/repositories/releases/uploads'
  const neighbour = await startNeighbour({
    kind: 'uploads',
    port: portOf(place),
    from: ['127.0.0.10'],
    count: floodConnections,
    paths: [path],
    credentials: [place.sessions.opener],
  })
  return {
    ...neighbour,
    async end() {
      const did = await neighbour.end()
      const client = svcClient(place.base, place.administrator, 1)
      const { items } = await client.ask('GET', '/api/v1/uploads?limit=100')
      const self = svcClient(place.base, place.sessions.opener, 1)
      const { id: account } = await self.ask('GET', '/api/v1/auth/me')
      self.close()
      const open = listOf(items).filter(({ owner }) => owner === `account:${String(account)}`)
      for (const { id } of open) await client.ask('DELETE', `/api/v1/uploads/${id}`)
      client.close()
      return `${did}; ${open.length} were open`
    },
  }
}

type Start = (place: Place) => Promise<Neighbour>

const allOf =
  (starts: readonly Start[]): Start =>
  async (place) => {
    const present: Neighbour[] = []
    for (const start of starts) present.push(await start(place))
    return {
      cpuSeconds: () => present.reduce((sum, each) => sum + each.cpuSeconds(), 0),
      end: async () => (await Promise.all(present.map((each) => each.end()))).join('\n    '),
    }
  }

const alone = {
  connections: crowd,
  'slow readers': slowReaders,
  'slow senders': slowSenders,
  'slow syncs': slowDisk,
  'wrong sign-ins': wrongSignIns,
  'upload sessions': uploadFlood,
} satisfies Record<string, Start>

/** One after another, and all at once. */
export const neighbours: Readonly<Record<string, Start>> = { ...alone, 'all of these': allOf(Object.values(alone)) }
