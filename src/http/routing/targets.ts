import { type Wire, wireAt } from '../../contract/wire.ts'
import { rest } from '../pipeline/rest.ts'
import { pathOf } from '../pipeline/target.ts'
import { requirePlain } from './plain-path.ts'
import { type Fold, foldWildcards } from './wildcards.ts'

/** Request targets of all wires, as the router takes them. Takes targets with plain paths (`plain-path.ts`). */
export interface Targets {
  /** Whose words the target is spoken to in. */
  wireOf(target: string): Wire
  /** The target with its path folded by the templates of its wire; its authority and its query stay as they are. */
  fold(wire: Wire, target: string): string
}

/**
 * Throws when templates of one wire could mean the same path, and for texts of paths that clients could write in two
 * ways.
 */
export const createTargets = (wires: readonly Wire[], templates: readonly string[]): Targets => {
  const wireOf = (target: string): Wire => wireAt(wires, pathOf(target), rest)
  for (const { prefix } of wires) requirePlain(prefix)
  for (const template of templates) requirePlain(template.replaceAll(/\{[a-zA-Z]+[*+]?\}/g, ''))
  const folds = new Map<Wire, Fold>()
  for (const [wire, own] of Map.groupBy(templates, wireOf)) folds.set(wire, foldWildcards(own))
  return {
    wireOf,
    fold(wire, target) {
      const asked = pathOf(target)
      const [path = ''] = asked.split('?', 1)
      const spelled = wire.spelled?.(path) ?? path
      const folded = folds.get(wire)?.(spelled) ?? spelled
      if (folded === path) return target
      return target.slice(0, target.length - asked.length) + folded + asked.slice(path.length)
    },
  }
}
