/** What may be done, in the words of the specification, and what a grant of read or write carries. */

export const repositoryActions = [
  'repository.read',
  'storage.read',
  'storage.manage',
  'diagnostics.read',
  'artifact.read',
  'artifact.list',
  'artifact.delete',
  'artifact.promote',
  'content.read',
  'upload.create',
  'upload.read',
  'upload.write',
  'upload.complete',
  'upload.cancel',
  'job.read',
  'package.read',
  'package.publish',
  'asset.read',
  'asset.write',
  'asset.restore',
  'annotation.read',
  'annotation.write',
  'reference.write',
  'audit.read',
] as const
export type RepositoryAction = (typeof repositoryActions)[number]

const knownActions: ReadonlySet<unknown> = new Set(repositoryActions)

export const isRepositoryAction = (text: unknown): text is RepositoryAction => knownActions.has(text)

export const administrationActions = [
  'service-account.read',
  'service-account.manage',
  'policy.read',
  'policy.manage',
  'credential.read',
  'credential.manage',
  'service-audit.read',
] as const
export type AdministrationAction = (typeof administrationActions)[number]

export const isAdministrationAction = (text: unknown): text is AdministrationAction =>
  administrationActions.some((action) => action === text)

export const systemActions = ['backup.read', 'backup.manage'] as const
export type SystemAction = (typeof systemActions)[number]

export type Action = RepositoryAction | AdministrationAction | SystemAction

/**
 * What a person's group or a file key is given on a repository. A group's write includes read; a file key names both.
 */
export type Access = 'read' | 'write'

const read: readonly RepositoryAction[] = [
  'repository.read',
  'artifact.read',
  'artifact.list',
  'content.read',
  'package.read',
  'asset.read',
  'annotation.read',
  'audit.read',
]

/** What write adds. */
const added: readonly RepositoryAction[] = [
  'upload.create',
  'upload.read',
  'upload.write',
  'upload.complete',
  'upload.cancel',
  'job.read',
  'package.publish',
  'asset.write',
  'asset.restore',
  'annotation.write',
  'reference.write',
  'artifact.promote',
]

const write: readonly RepositoryAction[] = [...read, ...added]

/** What changes nothing, whoever holds it. */
const lookingActions: ReadonlySet<RepositoryAction> = new Set([
  ...read,
  'storage.read',
  'diagnostics.read',
  'upload.read',
  'job.read',
])

const readActions: ReadonlySet<RepositoryAction> = new Set(read)
const writeActions: ReadonlySet<RepositoryAction> = new Set(write)
const addedActions: ReadonlySet<RepositoryAction> = new Set(added)
const noActions: ReadonlySet<RepositoryAction> = new Set()

/**
 * The actions that a grant carries. artifact.delete, storage.read, storage.manage and diagnostics.read are never among
 * them: they exist for service keys alone (specification, Action vocabulary).
 */
export const actionsOf = (access: Access | null): ReadonlySet<RepositoryAction> =>
  access === 'write' ? writeActions : access === 'read' ? readActions : noActions

/**
 * The actions that the permissions of a file key carry: each what it says, so that write alone reads and lists nothing.
 */
export const actionsOfFileKey = (permissions: ReadonlySet<Access>): ReadonlySet<RepositoryAction> =>
  permissions.has('read')
    ? actionsOf(permissions.has('write') ? 'write' : 'read')
    : permissions.has('write')
      ? addedActions
      : noActions

/** What is left of the actions for a credential that may only look. */
export const lookingOnly = (held: ReadonlySet<RepositoryAction>): ReadonlySet<RepositoryAction> =>
  held.intersection(lookingActions)

/** The actions in the order of the vocabulary, for answers. */
export const inOrder = (held: ReadonlySet<RepositoryAction>): RepositoryAction[] =>
  repositoryActions.filter((action) => held.has(action))
