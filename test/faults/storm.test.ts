import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type BlobStoreBehindProxy, blobStoreBehindProxy } from '../harness/behind-proxy.ts'
import { closeConnections } from '../harness/client.ts'
import { type DiskFaults, makeDiskFaults } from '../harness/disk-faults.ts'
import { forEachEngine } from '../harness/engines.ts'
import { errorBody } from '../harness/faulty-proxy.ts'
import { inTheDatabase, inTheStore } from '../harness/kept-inline.ts'
import { endProgramsAfterTests } from '../harness/processes.ts'
import { randomOf } from '../harness/random.ts'
import { stopOwnObjectStore } from '../harness/shared-object-store.ts'
import { until } from '../harness/until.ts'
import { Ledger } from './ledger.ts'
import { Site } from './site.ts'
import { blow, makeStormKey, type Storm } from './storm-clients.ts'
import { tellTried } from './tried.ts'

/**
 * Everything that moves bytes at once, and then the worst at a random moment: sudden death, death behind a disk or an
 * object store that is slow and denies, and a process that stands still until another has taken everything over, and
 * then goes on. After each round all that was acknowledged is read back bit by bit, and the doctor finds nothing.
 *
 * SVC_TEST_ROUNDS says how many rounds of each kind there are on each engine and store; SVC_TEST_SEED makes others.
 */
const rounds = Number(process.env['SVC_TEST_ROUNDS'] ?? 1)
const seed = process.env['SVC_TEST_SEED'] ?? 'storm'

const kinds = [
  'killed',
  'killed behind a bad disk or store',
  'frozen beyond its leases, while another took over',
] as const
type Kind = (typeof kinds)[number]

interface Blowing {
  readonly storm: Storm
  /** Resolves when the last client has ended. */
  readonly ended: Promise<void>
}

endProgramsAfterTests()
after(closeConnections)

forEachEngine((engine) => {
  for (const store of ['directory', 'S3'] as const) {
    describe(`everything at once, with bytes in ${store}`, () => {
      const disk: DiskFaults = makeDiskFaults()
      const ledger = new Ledger()
      let behind: BlobStoreBehindProxy | undefined
      let site: Site
      let credential: string
      const storms: Storm[] = []

      before(async () => {
        behind = store === 'S3' ? await blobStoreBehindProxy() : undefined
        site = new Site(await mkdtemp(join(tmpdir(), 'svc-storm-')), await engine.readyDatabaseUrl(), {
          SVC_CLEANUP_GRACE_HOURS: '0',
          SVC_BLOB_STORE: behind?.blobStoreUrl ?? '',
          ...disk.environment,
        })
        await site.live()
        credential = await makeStormKey(site)
      })
      after(async () => {
        await site.stop()
        disk.close()
        await rm(site.dataDir, { recursive: true, force: true })
        await behind?.[Symbol.asyncDispose]()
        if (engine.name === 'sqlite') await stopOwnObjectStore()
      })

      /** Begins the clients on a service, and waits until they are at it. */
      const begin = async (on: Site, folder: string, name: string, meanwhile = async () => {}): Promise<Blowing> => {
        const to = { url: on.url, credential }
        const storm: Storm = { to, ledger, seed: `${seed}-${name}-${folder}`, folder, acknowledged: 0, isOver: false }
        storms.push(storm)
        const ended = blow(storm)
        ended.catch(() => {})
        const areAtIt = async (): Promise<boolean> => {
          if (storm.acknowledged < 10) await meanwhile()
          return storm.acknowledged >= 10
        }
        await Promise.race([until('they are at it', areAtIt), ended])
        return { storm, ended }
      }

      /** Whoever was frozen within a transaction keeps its locks: it is let on for a moment, to be frozen elsewhere. */
      const nudge = async (): Promise<void> => {
        await pause(500)
        site.thaw()
        await pause(20)
        site.freeze()
      }

      const misbehave = (random: () => number): void => {
        for (const call of ['fdatasync', 'fsync', 'rename', 'unlink', 'pwrite'] as const) {
          const path = store === 'directory' && random() < 0.5 ? '/blobs' : '/staging'
          disk.rule({
            call,
            path: random() < 0.2 ? '' : path,
            action: 'delay',
            ms: Math.floor(80 * random()),
            count: 40,
          })
        }
        disk.rule({ call: 'unlink', path: '/blobs', action: 'hold', count: 1 })
        disk.rule({ call: 'fdatasync', path: '/staging', action: 'fail', error: 'EIO', letBy: 5, count: 1 })
        if (behind === undefined) return
        behind.proxy.fault = () => {
          const chance = random()
          if (chance < 0.1) return { kind: 'delay', ms: Math.floor(400 * random()) }
          if (chance < 0.14) return { kind: 'deny', status: 500, body: errorBody('InternalError') }
          return chance < 0.18 ? { kind: 'lose' } : null
        }
      }
      const behave = (): void => {
        disk.clear()
        if (behind !== undefined) behind.proxy.fault = () => null
      }

      const die = async (on: Site, { storm, ended }: Blowing): Promise<void> => {
        storm.isOver = true
        on.kill()
        await on.died()
        await ended
      }

      /** Every other round keeps small files in the database; then they move, while it is looked what is there. */
      const round = async (kind: Kind, name: string, number: number): Promise<void> => {
        const random = randomOf(`${seed} ${engine.name} ${store} ${name}`)
        const [small, otherwise] = number % 2 === 1 ? [inTheDatabase, inTheStore] : [inTheStore, inTheDatabase]
        await site.live(small)
        if (kind === 'killed behind a bad disk or store') misbehave(random)
        const first = await begin(site, 'first', name)
        await pause(400 * random())
        if (kind.startsWith('frozen')) {
          const heir = site.heir()
          await heir.live(small)
          site.freeze()
          const second = await begin(heir, 'heir', name, nudge)
          await pause(200 * random())
          site.thaw()
          await pause(200 * random())
          first.storm.isOver = true
          await die(heir, second)
        }
        await die(site, first)
        behave()
        await site.live(otherwise)
        await ledger.verify({ url: site.url, credential })
        await site.inOrder()
      }

      for (const kind of kinds) {
        const tally = { rounds: 0, kept: 0, checked: 0 }
        for (let number = 1; number <= rounds; number++)
          it(`${kind}: keeps what was acknowledged (round ${number}, seed ${seed})`, async () => {
            const checkedBefore = ledger.checked
            tally.rounds += 1
            try {
              await round(kind, `${kinds.indexOf(kind)}-${number}`, kinds.indexOf(kind) + number)
              tally.kept += 1
            } finally {
              tally.checked += ledger.checked - checkedBefore
              for (const storm of storms.splice(0)) storm.isOver = true
              behave()
            }
          })
        after(() => {
          const where = `${engine.name === 'sqlite' ? 'SQLite' : 'PostgreSQL'}, ${store}`
          const { rounds: done, kept, checked } = tally
          const lost = done - kept
          const result =
            lost === 0 ? 'everything that was answered is kept, the doctor finds nothing' : `${lost} rounds failed`
          const file = ['storm', engine.name, store, kinds.indexOf(kind), seed].join('-')
          if (done > 0) tellTried(file, [{ what: `everything at once, ${kind}`, where, rounds: done, checked, result }])
        })
      }
    })
  }
})
