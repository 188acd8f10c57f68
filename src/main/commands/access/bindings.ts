import type { Static } from 'typebox'
import type { BindingList } from '../../../features/identity/service-accounts/vocabulary.ts'
import { actionsOf, inOrder, isRepositoryAction, type RepositoryAction } from '../../../kernel/actions.ts'
import { isRepositoryId } from '../../../kernel/names.ts'
import { CommandFailed } from '../../client/command-failed.ts'

export type Bindings = Static<typeof BindingList>

/** `read` and `write` stand for what such a grant carries; everything else is an action itself. */
const actionsIn = (word: string): readonly RepositoryAction[] => {
  if (word === 'read' || word === 'write') return [...actionsOf(word)]
  if (isRepositoryAction(word)) return [word]
  throw new CommandFailed(
    'failed',
    `${JSON.stringify(word)} is no action: say read, write or one such as artifact.delete.`,
  )
}

/** What `--may <repository>=<action>,…` says, such as `builds=write,artifact.delete`. */
export const bindingsIn = (texts: readonly string[]): Bindings =>
  texts.map((text) => {
    const [, id = '', words = ''] = /^([^=]*)=(.+)$/s.exec(text) ?? []
    if (!isRepositoryId(id))
      throw new CommandFailed('failed', `--may ${text}: write it like releases=read or builds=write,artifact.delete`)
    const actions = new Set(words.split(',').flatMap((word) => actionsIn(word.trim())))
    return { resource: { kind: 'repository', id }, actions: inOrder(actions) }
  })

/** All actions of a grant in a word, others one by one. */
export const actionWords = (actions: readonly RepositoryAction[]): string[] => {
  const held = new Set(actions)
  const whole = (['write', 'read'] as const).find((access) => actionsOf(access).isSubsetOf(held))
  const rest = actions.filter((action) => whole === undefined || !actionsOf(whole).has(action))
  return [...(whole === undefined ? [] : [whole]), ...rest]
}

/** Bindings as `--may` takes them. */
export const inWords = (bindings: Bindings): string =>
  bindings.map(({ resource, actions }) => `${resource.id}=${actionWords(actions).join(',')}`).join(' ')
