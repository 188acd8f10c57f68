import { type BoundOperation, handle } from '../../../contract/handler.ts'
import { actorOf, type Caller } from '../../../kernel/caller.ts'
import { bodyAs, told } from '../json.ts'
import { createLock, type LockDeps, type LockScope, locksOf, removeLock } from './locks.ts'
import * as operations from './operations.ts'
import { lfsSettingsOf, saveLfsSettings } from './settings.ts'
import { type Lock, LockRequest, UnlockRequest, VerifyLocksRequest } from './vocabulary.ts'

interface Asked {
  readonly path: { readonly repository: string; readonly subPath: string }
  readonly caller: Caller
}

const scopeOf = ({ path, caller }: Asked): LockScope => ({
  repository: path.repository,
  subPath: path.subPath,
  owner: actorOf(caller),
})

const shown = ({ id, path, locked_at, owner }: Lock): Lock => ({ id, path, locked_at, owner })
const leadsOn = (next: string | null) => (next === null ? {} : { next_cursor: next })

/** A limit that is none is one that was not said. */
const limitIn = (text: string | undefined): number | undefined =>
  text !== undefined && /^[1-9][0-9]{0,8}$/.test(text) ? Number(text) : undefined

export const lfsLockHandlers = (deps: LockDeps): BoundOperation[] => {
  const { reader } = deps.database
  return [
    handle(operations.createLfsLock, async (input) => {
      const { path } = bodyAs(LockRequest, input.body)
      const { lock, created } = await createLock(deps, scopeOf(input), path)
      // Clients read both of what is there, and a refusal in the words of the protocol.
      return created
        ? told({ lock }, 201)
        : told({ lock, message: 'already created lock', reason: 'already_exists' }, 409)
    }),
    handle(operations.listLfsLocks, async (input) => {
      const { path, id, cursor, limit } = input.query
      const asked = { path, id, cursor, limit: limitIn(limit) }
      const { locks, next } = await locksOf(reader, scopeOf(input), asked)
      return told({ locks: locks.map(shown), ...leadsOn(next) })
    }),
    handle(operations.verifyLfsLocks, async (input) => {
      const { cursor, limit } = bodyAs(VerifyLocksRequest, input.body)
      const asked = { cursor: cursor === '' ? undefined : (cursor ?? undefined), limit: limit || undefined }
      const { locks, next } = await locksOf(reader, scopeOf(input), asked)
      const ours = locks.filter(({ isOurs }) => isOurs).map(shown)
      const theirs = locks.filter(({ isOurs }) => !isOurs).map(shown)
      return told({ ours, theirs, ...leadsOn(next) })
    }),
    handle(operations.removeLfsLock, async (input) => {
      const { force } = bodyAs(UnlockRequest, input.body)
      return told({ lock: await removeLock(deps, scopeOf(input), input.path.id, force === true) })
    }),
    handle(operations.getLfsSettings, async ({ path }) => ({
      status: 200,
      json: await lfsSettingsOf(reader, path.repository),
    })),
    handle(operations.putLfsSettings, async ({ path, body, caller }) => ({
      status: 200,
      json: await saveLfsSettings(deps, path.repository, body, actorOf(caller)),
    })),
  ]
}
