import type { Queries } from '../../../database/database.ts'
import type { Access, RepositoryAction } from '../../../kernel/actions.ts'
import type { Caller } from '../../../kernel/caller.ts'
import { accessThroughGroups } from '../groups/groups.ts'
import { usableKeys } from '../service-accounts/usable-keys.ts'
import { heldActions } from './access.ts'
import { callerOfFileKey } from './file-keys.ts'
import type { Subject } from './subjects.ts'

/** What gives somebody something in a repository. */
export interface Through {
  readonly kind: 'group' | 'policy' | 'key' | 'keys-file' | 'role'
  /** Null for a role. */
  readonly id: string | null
  readonly name: string
  /** What a grant says; null where single actions are listed. */
  readonly access: Access | null
}

/** One way in which a subject may call, and what that may do in the repository that was asked about. */
export interface Standing {
  readonly caller: Caller
  readonly actions: ReadonlySet<RepositoryAction>
  readonly through: readonly Through[]
}

/**
 * The ways in which a subject may call at this moment: as a person who is signed in, with each key of a service account
 * that works, or with a key of the keys file. Who is disabled has none. What each may do says {@link heldActions}, as
 * it does of whoever really calls.
 */
export const standingsOf = async (
  q: Queries,
  subject: Subject,
  repository: string,
  nowMs: number,
): Promise<Standing[]> => {
  if (subject.kind === 'key') {
    const caller = callerOfFileKey(subject.key)
    const permissions = subject.key.repositories.get(repository)
    const access = permissions?.has('write') === true ? 'write' : 'read'
    const through = { kind: 'keys-file', id: subject.id, name: subject.name, access } as const
    const named = permissions === undefined ? [] : [through]
    return [{ caller, actions: await heldActions(q, caller, repository), through: named }]
  }
  if (!subject.enabled) return []
  if (subject.kind === 'account') {
    const caller: Caller = {
      kind: 'account',
      credential: 'session',
      id: subject.id,
      name: subject.name,
      administrator: subject.administrator,
      scope: 'read-write',
      credentialId: '',
    }
    const groups = await accessThroughGroups(q, subject.id, repository)
    const through = groups.map(({ id, name, access }) => ({ kind: 'group' as const, id, name, access }))
    return [{ caller, actions: await heldActions(q, caller, repository), through }]
  }
  const policy = { kind: 'policy', id: subject.id, name: subject.name, access: null } as const
  const standings: Standing[] = []
  for (const { name, caller } of await usableKeys(q, subject.id, nowMs)) {
    const key = { kind: 'key', id: caller.keyId, name, access: null } as const
    const actions = await heldActions(q, caller, repository)
    standings.push({ caller, actions, through: [policy, key] })
  }
  return standings
}
