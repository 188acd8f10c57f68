import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spoolsIn } from '../../src/adapters/files/spool.ts'
import { type AgentDeps, type BackupAgent, createAgent } from '../../src/features/operating/backups/agent.ts'
import type { Room } from '../../src/features/operating/backups/data-files.ts'
import type { Manifest } from '../../src/features/operating/backups/manifest.ts'
import { requestCapture } from '../../src/features/operating/backups/requests.ts'
import type { Restored } from '../../src/features/operating/moving/restore.ts'
import { openBackupRoom } from '../../src/main/backup-vault.ts'
import type { Engines, Environment } from '../../src/main/engines.ts'
import { findPointFor, manifestsOf, restoreFrom } from '../../src/main/restoring.ts'
import { readSettings } from '../../src/main/settings/rules.ts'
import type { OpenSpool } from '../../src/ports/spool.ts'
import type { TestEngine } from './engines.ts'
import { type Place, withPartsOf } from './moving.ts'

/** A vault for the tests of an engine: a folder beside SQLite, a part of a bucket beside PostgreSQL. */
export const freshVault = async (engine: TestEngine): Promise<string> => {
  const prefix = await engine.freshBlobStoreUrl()
  return prefix ?? `file:${await mkdtemp(join(tmpdir(), 'svc-vault-'))}`
}

/** Removes the folder that a vault is. */
export const removeVault = async (url: string): Promise<void> => {
  if (url.startsWith('file:')) await rm(url.slice('file:'.length), { recursive: true, force: true })
}

/** `more`: other settings; with a recipient, it is to be written to. */
export const roomOf = (url: string, more: Readonly<Record<string, string>> = {}): Promise<Room> =>
  openBackupRoom(readSettings({ SVC_BACKUP_VAULT: url, ...more }), { writes: 'SVC_BACKUP_RECIPIENT' in more })

/** Where what is new of a database waits for the vault. */
export const spoolBeside = ({ dataDir }: Pick<Place, 'dataDir'>): OpenSpool => spoolsIn(dataDir)

let agents = 0

/**
 * Runs `work` beside an agent on this vault, which looks only when it is told to. `timers`: by which it tells that it
 * is there.
 */
export const withAgent = <T>(
  place: Place,
  url: string,
  work: (agent: BackupAgent, engines: Engines) => Promise<T>,
  reach?: Environment['reach'],
  room?: Room,
  timers?: AgentDeps['timers'],
): Promise<T> =>
  withPartsOf(
    place,
    async (engines) => {
      const agent = createAgent({
        ...engines,
        timers: timers ?? engines.timers,
        room: room ?? (await roomOf(url)),
        spool: spoolBeside(place),
        holder: `agent ${++agents}`,
        program: 'test',
        pace: async () => {},
      })
      try {
        return await work(agent, engines)
      } finally {
        await agent.stop()
      }
    },
    reach,
  )

/** Takes a point; answers how the job ended. */
export const takePoint = (
  place: Place,
  url: string,
  reach?: Environment['reach'],
  room?: Room,
  timers?: AgentDeps['timers'],
) =>
  withAgent(
    place,
    url,
    async (agent, { database, clock }) => {
      const { id } = await requestCapture({ database, clock }, { by: 'test', key: crypto.randomUUID() })
      await agent.look()
      return await database.reader.selectFrom('backup_jobs').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    },
    reach,
    room,
    timers,
  )

/** The manifests in a vault, newest first. */
export const manifestsIn = (room: Room): Promise<Manifest[]> => Array.fromAsync(manifestsOf(room))

/** Puts a point into an empty place. */
export const restoreTo = (
  place: Place,
  url: string,
  point = 'latest',
  { revokeAll = false } = {},
  reach?: Environment['reach'],
  given?: Room,
): Promise<Restored> =>
  withPartsOf(
    place,
    async (engines) => {
      const room = given ?? (await roomOf(url))
      return await restoreFrom(engines, room, await findPointFor(room, point), { revokeAll }, { tell: () => {} })
    },
    reach,
  )
